//! A JSON or TOML document as a tree of values, each with its position in the text.
//!
//! Invariant: the span of a bracketed value or of a scalar is exactly its text.

use std::collections::HashSet;
use std::ops::Range;

use super::tree::{KEY, element_index, own_name};

/// A value in a document.
pub(super) struct Node {
    /// Its text; for a table without brackets, its header (the root has none: `0..0`).
    pub(super) span: Range<usize>,
    pub(super) value: Value,
}

/// What a value is.
pub(super) enum Value {
    Null,
    Text(String),
    Bool(bool),
    /// A number in the syntax of JSON.
    Number(String),
    /// A scalar that a key cannot distinguish from text: a TOML date or time, `inf` and `nan`.
    Other(String),
    List(Vec<Node>),
    Table(Vec<Member>, Body),
}

/// How the members of a table are written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Body {
    /// In braces.
    Braces,
    /// On lines below a header, or at the top of a TOML document.
    Lines,
    /// By dotted names in the enclosing table.
    Dotted,
    /// Only mentioned in the headers of tables below it.
    Implied,
}

/// A named value in a table.
pub(super) struct Member {
    /// The name in the document, without quotes and escapes.
    pub(super) name: String,
    /// Where the name starts.
    pub(super) start: usize,
    pub(super) node: Node,
}

impl Node {
    /// The members of a table; of duplicates, the last.
    pub(super) fn members(&self) -> Vec<&Member> {
        let Value::Table(members, _) = &self.value else { return Vec::new() };
        let mut seen = HashSet::new();
        let last = members.iter().rev().filter(|member| seen.insert(own_name(&member.name)));
        let mut members: Vec<_> = last.collect();
        members.reverse();
        members
    }

    /// The value for one step of a path.
    pub(super) fn child(&self, step: &str) -> Option<&Self> {
        match &self.value {
            Value::Table(members, _) => {
                let mut members = members.iter().rev();
                members.find(|member| own_name(&member.name) == step).map(|member| &member.node)
            }
            Value::List(items) => items.get(element_index(step)?),
            _ => None,
        }
    }

    /// The member `@`, which contains the key of the table itself.
    pub(super) fn own_key(&self) -> Option<&Self> {
        matches!(self.value, Value::Table(..)).then(|| self.child(KEY)).flatten()
    }

    /// The values along a path, starting with this one, as far as they exist.
    pub(super) fn walk<'a>(&'a self, path: &[String]) -> Vec<&'a Self> {
        let mut nodes = vec![self];
        for step in path {
            let Some(child) = nodes.last().and_then(|node| node.child(step)) else { break };
            nodes.push(child);
        }
        nodes
    }

    pub(super) fn body(&self) -> Option<Body> {
        match self.value {
            Value::Table(_, body) => Some(body),
            _ => None,
        }
    }

    /// Whether this is an array of tables with headers (`[[name]]`).
    pub(super) fn is_list_of_blocks(&self) -> bool {
        let Value::List(items) = &self.value else { return false };
        items.iter().any(|item| item.body() == Some(Body::Lines))
    }

    /// Whether its text is contiguous: a scalar, or in brackets.
    pub(super) fn is_one_piece(&self) -> bool {
        self.body().is_none_or(|body| body == Body::Braces) && !self.is_list_of_blocks()
    }

    /// The text of each item or member in brackets.
    pub(super) fn pieces(&self) -> Vec<Range<usize>> {
        match &self.value {
            Value::List(items) => items.iter().map(|item| item.span.clone()).collect(),
            Value::Table(members, _) => members.iter().map(Member::piece).collect(),
            _ => Vec::new(),
        }
    }

    /// Where the text of the values on lines of this table ends, excluding those below its headers.
    pub(super) fn end_of_lines(&self) -> Option<usize> {
        let Value::Table(members, Body::Lines | Body::Dotted) = &self.value else { return None };
        let ends = members.iter().filter_map(|member| match member.node.is_one_piece() {
            true => Some(member.node.span.end),
            false => {
                member.node.end_of_lines().filter(|_| member.node.body() == Some(Body::Dotted))
            }
        });
        ends.max()
    }
}

impl Member {
    /// From the name to the end of the value.
    fn piece(&self) -> Range<usize> {
        self.start..self.end()
    }

    fn end(&self) -> usize {
        match &self.node.value {
            Value::Table(members, Body::Dotted) => {
                members.iter().map(Self::end).max().unwrap_or(self.node.span.end)
            }
            _ => self.node.span.end,
        }
    }
}
