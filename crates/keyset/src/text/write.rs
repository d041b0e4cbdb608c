//! Converts key sets to trees of values.

use super::literal::{Spelling, full, literal};
use super::tree::{Tree, element, escape};
use crate::format::{Format, WriteError};
use crate::key::KeyRef;
use crate::keyset::KeySet;
use crate::name::KeyName;

/// Maximum number of parts in a name: readers of JSON support 128 levels, those of TOML 80, three of which are used
/// by a key with metadata.
pub(super) fn max_parts(format: Format) -> usize {
    if format == Format::Toml { 75 } else { 100 }
}

/// The tree of the keys below `parent`.
pub(super) fn tree(keys: &KeySet, parent: &KeyName, format: Format) -> Result<Tree, WriteError> {
    let mut root = Node::default();
    for key in keys {
        let refuse = |reason| refusal(format, key, reason);
        let mut node = &mut root;
        for part in parts(key, parent, format)? {
            node = node.child(part);
        }
        let leaf = match literal(key, format, Spelling::Exact) {
            Some(plain) => Leaf::Plain(plain, full(key)),
            None => Leaf::Full(full(key).ok_or_else(|| refuse("metadata is not UTF-8"))?),
        };
        node.key = Some(leaf);
    }
    // The root of TOML is always a table.
    let is_plain_array = format == Format::Json && root.key.is_none();
    Ok(if is_plain_array && root.is_array() { root.into_value() } else { root.into_table() })
}

/// The parts of a key's name below `parent`.
pub(super) fn parts(
    key: KeyRef<'_>,
    parent: &KeyName,
    format: Format,
) -> Result<Vec<String>, WriteError> {
    let name = key.name().to_name();
    if !name.is_below_or_same(parent) || name.namespace() != parent.namespace() {
        return Err(WriteError::OutsideParent(name.to_string()));
    }
    let parts = name.parts().skip(parent.parts().count()).map(String::from_utf8);
    let parts = parts.collect::<Result<Vec<_>, _>>();
    let parts = parts.map_err(|_| refusal(format, key, "the name is not UTF-8"))?;
    if parts.len() > max_parts(format) {
        return Err(refusal(format, key, "the name has more parts than the format is read with"));
    }
    Ok(parts)
}

/// The error that a key cannot be represented in a format.
pub(super) fn refusal(format: Format, key: KeyRef<'_>, reason: &'static str) -> WriteError {
    WriteError::NotExpressible { format: format.name(), name: key.name().to_string(), reason }
}

#[derive(Default)]
struct Node {
    key: Option<Leaf>,
    nodes: Vec<(String, Node)>,
}

/// A key: as a value that other programs understand, and as a member `@`.
enum Leaf {
    Plain(Tree, Option<Tree>),
    Full(Tree),
}

impl Node {
    /// The child of this name; in key order it is the last, or new.
    fn child(&mut self, part: String) -> &mut Self {
        if self.nodes.last().is_none_or(|(last, _)| *last != part) {
            self.nodes.push((part, Self::default()));
        }
        &mut self.nodes.last_mut().expect("one was just pushed").1
    }

    fn into_value(mut self) -> Tree {
        match self.key.take() {
            None if self.is_array() => {
                Tree::List(self.nodes.into_iter().map(|(_, node)| node.into_value()).collect())
            }
            Some(Leaf::Plain(plain, _)) if self.nodes.is_empty() => plain,
            key => Self { key, ..self }.into_table(),
        }
    }

    fn into_table(self) -> Tree {
        let own = self.key.and_then(|key| match key {
            Leaf::Plain(_, full) => full,
            Leaf::Full(full) => Some(full),
        });
        let own = own.map(|full| (super::tree::KEY.to_owned(), full));
        let members = self.nodes.into_iter().map(|(part, node)| (escape(&part), node.into_value()));
        Tree::Table(own.into_iter().chain(members).collect())
    }

    fn is_array(&self) -> bool {
        let parts = self.nodes.iter().map(|(part, _)| part);
        !self.nodes.is_empty() && parts.enumerate().all(|(index, part)| *part == element(index))
    }
}
