//! The positions in the text where values are set or removed.

use std::ops::Range;

use super::change::Step;
use super::splice::{Splice, append_lines, insert_lines, line_end, line_start, top};
use crate::format::Format;
use crate::text::document::{Body, Member, Node, Value};
use crate::text::tree::{Tree, own_name};
use crate::text::{json, toml};

/// A document and its text.
pub(super) struct Place<'a> {
    pub(super) text: &'a [u8],
    pub(super) root: &'a Node,
    pub(super) format: Format,
}

type Splices = Result<Vec<Splice>, &'static str>;

impl Place<'_> {
    /// The changes of the text for a step.
    pub(super) fn splices(&self, step: &Step) -> Splices {
        match step {
            Step::Set(path, tree) => self.set(path, tree),
            Step::Remove(path) => self.remove(path),
        }
    }

    fn set(&self, path: &[String], tree: &Tree) -> Splices {
        let nodes = self.root.walk(path);
        let (last, rest) = (nodes[nodes.len() - 1], &path[nodes.len() - 1..]);
        let Some((first, below)) = rest.split_first() else {
            return match last.is_one_piece() {
                true => Ok(vec![Splice::replace(last.span.clone(), self.inline(tree))]),
                false => Err("it is written as tables of their own"),
            };
        };
        match &last.value {
            Value::List(_) if last.is_list_of_blocks() => {
                Err("an element of an array of tables is to be added by hand")
            }
            Value::List(_) => {
                let value = self.inline(&Tree::nested(below, tree.clone()));
                Ok(vec![self.insert_piece(last, value)])
            }
            Value::Table(_, Body::Braces) => {
                let value = Tree::nested(below, tree.clone());
                Ok(vec![self.insert_piece(last, self.member(first, &value))])
            }
            Value::Table(..) => self.insert_line(&nodes, path, tree),
            _ => Err("a value is where it should go"),
        }
    }

    fn inline(&self, tree: &Tree) -> String {
        if self.format == Format::Toml { toml::inline(tree) } else { json::inline(tree) }
    }

    fn member(&self, name: &str, tree: &Tree) -> String {
        match self.format {
            Format::Toml => toml::member(&[name.to_owned()], tree),
            _ => json::member(name, tree),
        }
    }

    /// Inserts a piece after the last one in brackets, with the same separator.
    fn insert_piece(&self, around: &Node, piece: String) -> Splice {
        let pieces = around.pieces();
        let Some(last) = pieces.last() else {
            return Splice::insert(around.span.start + 1, piece);
        };
        let before = match pieces.len() {
            1 => around.span.start + 1..last.start,
            len => pieces[len - 2].end..last.start,
        };
        let gap: Vec<u8> = self.text[before].iter().copied().filter(|byte| *byte != b',').collect();
        let is_blank = gap.iter().all(u8::is_ascii_whitespace);
        let keeps = is_blank && (pieces.len() > 1 || gap.contains(&b'\n'));
        let gap = if keeps { gap } else { b" ".to_vec() };
        Splice::insert(last.end, [b",", &gap[..], piece.as_bytes()].concat())
    }

    /// Inserts a line into the enclosing table, or into a new table at the end of the document.
    fn insert_line(&self, nodes: &[&Node], path: &[String], tree: &Tree) -> Splices {
        let depth = nodes.len() - 1;
        let Some(around) = nodes.iter().rposition(|node| node.body() != Some(Body::Dotted)) else {
            return Err("its table has no place in the document");
        };
        let in_list = nodes.iter().any(|node| matches!(node.value, Value::List(_)));
        let is_new_table = around == depth && path.len() > depth + 1;
        match nodes[around].body() {
            Some(Body::Implied) if in_list => {
                Err("its table is only named within an array of tables")
            }
            Some(Body::Implied | Body::Lines)
                if !in_list && (is_new_table || nodes[around].body() == Some(Body::Implied)) =>
            {
                let (name, above) = path.split_last().ok_or("the root has no name")?;
                let line = toml::member(std::slice::from_ref(name), tree).into_bytes();
                Ok(vec![append_lines(self.text, vec![toml::header(above).into_bytes(), line])])
            }
            Some(Body::Lines) => {
                let line = toml::member(&path[around..], tree);
                Ok(vec![self.line_in(nodes[around], line)])
            }
            Some(Body::Braces) => {
                let member = toml::member(&path[around..], tree);
                Ok(vec![self.insert_piece(nodes[around], member)])
            }
            _ => Err("its table has no place in the document"),
        }
    }

    /// A line at the end of a table's own lines, indented like the last of them.
    fn line_in(&self, table: &Node, line: String) -> Splice {
        if let Some(end) = table.end_of_lines() {
            let last = self.last_line(table).unwrap_or(end);
            let start = line_start(self.text, last);
            let indent =
                self.text[start..last].iter().take_while(|byte| byte.is_ascii_whitespace());
            let line = indent.copied().chain(line.into_bytes()).collect();
            return insert_lines(self.text, line_end(self.text, end), &[line]);
        }
        let at = match table.span.end {
            0 => top(self.text, self.first_header()),
            header => line_end(self.text, header),
        };
        insert_lines(self.text, at, &[line.into_bytes()])
    }

    /// Where the name of the last of a table's own lines starts.
    fn last_line(&self, table: &Node) -> Option<usize> {
        let Value::Table(members, _) = &table.value else { return None };
        let lines = members.iter().filter(|member| member.node.is_one_piece());
        lines.map(|member| member.start).max()
    }

    /// Where the line of the first header starts.
    fn first_header(&self) -> usize {
        let first = first_header(self.root).unwrap_or(self.text.len());
        line_start(self.text, first)
    }

    fn remove(&self, path: &[String]) -> Splices {
        let Some((step, above)) = path.split_last() else {
            return Err("a document has a value");
        };
        let nodes = self.root.walk(above);
        let last = nodes[nodes.len() - 1];
        if nodes.len() != above.len() + 1 || last.child(step).is_none() {
            return Err("the document has it elsewhere");
        }
        match &last.value {
            Value::List(_) if last.is_list_of_blocks() => {
                Err("an element of an array of tables is to be removed by hand")
            }
            Value::List(items) => match items.len() - 1 {
                index if last.child(step).map(|node| &node.span) == Some(&items[index].span) => {
                    Ok(self.remove_piece(last, index))
                }
                _ => Err("the elements of the array after it would get other names"),
            },
            Value::Table(members, body) => {
                let is_of_name = |member: &Member| own_name(&member.name) == *step;
                let mut of_name =
                    members.iter().enumerate().filter(|(_, member)| is_of_name(member));
                let (Some((index, member)), None) = (of_name.next(), of_name.next()) else {
                    return Err("the document has it twice: remove one by hand");
                };
                let in_braces = nodes.iter().any(|node| node.body() == Some(Body::Braces));
                match body {
                    Body::Braces => Ok(self.remove_piece(last, index)),
                    Body::Dotted if in_braces => {
                        Err("it is written as a dotted name within braces")
                    }
                    _ => Ok(self.lines_of(member).into_iter().map(Splice::remove).collect()),
                }
            }
            _ => Err("the document has it elsewhere"),
        }
    }

    /// Removes a piece in brackets, and the comma that separates it.
    fn remove_piece(&self, around: &Node, index: usize) -> Vec<Splice> {
        let pieces = around.pieces();
        let piece = pieces[index].clone();
        let is_gap = |gap: Range<usize>| {
            self.text[gap].iter().all(|byte| byte.is_ascii_whitespace() || *byte == b',')
        };
        let before = index.checked_sub(1).map(|before| pieces[before].end..piece.start);
        if let Some(gap) = before.filter(|gap| is_gap(gap.clone())) {
            return vec![Splice::remove(gap.start..piece.end)];
        }
        let after = pieces.get(index + 1).map(|after| piece.end..after.start);
        if let Some(gap) = after.filter(|gap| is_gap(gap.clone())) {
            return vec![Splice::remove(piece.start..gap.end)];
        }
        let blanks = self.text[piece.end..].iter().take_while(|byte| byte.is_ascii_whitespace());
        let comma = piece.end + blanks.count();
        let end = if self.text.get(comma) == Some(&b',') { comma + 1 } else { piece.end };
        vec![Splice::remove(piece.start..end)]
    }

    /// The lines of a table's member, including its headers.
    fn lines_of(&self, member: &Member) -> Vec<Range<usize>> {
        let whole = |from, to| line_start(self.text, from)..line_end(self.text, to);
        match &member.node.value {
            _ if member.node.is_one_piece() => vec![whole(member.start, member.node.span.end)],
            Value::List(items) => items.iter().flat_map(|item| self.lines_of_table(item)).collect(),
            _ => self.lines_of_table(&member.node),
        }
    }

    fn lines_of_table(&self, table: &Node) -> Vec<Range<usize>> {
        let Value::Table(members, body) = &table.value else { return Vec::new() };
        let header = line_start(self.text, table.span.start)..line_end(self.text, table.span.end);
        let header = (*body == Body::Lines).then_some(header);
        header.into_iter().chain(members.iter().flat_map(|member| self.lines_of(member))).collect()
    }
}

/// Where the first header of a document is.
fn first_header(node: &Node) -> Option<usize> {
    let own = (node.body() == Some(Body::Lines) && node.span.end > 0).then_some(node.span.start);
    let below: Vec<&Node> = match &node.value {
        Value::Table(members, _) => members.iter().map(|member| &member.node).collect(),
        Value::List(items) => items.iter().collect(),
        _ => Vec::new(),
    };
    own.into_iter().chain(below.into_iter().filter_map(first_header)).min()
}
