//! Translates changes of keys into changes of a nested document: values set and removed.

use crate::format::{Format, WriteError};
use crate::key::KeyRef;
use crate::name::KeyName;
use crate::text::document::{Body, Node, Value};
use crate::text::literal::{Spelling, full, has_plain_type, literal};
use crate::text::tree::{KEY, Tree, element_index, escape};
use crate::text::{read, write};

/// One change of a document, at the path of members and elements.
pub(super) enum Step {
    Set(Vec<String>, Tree),
    Remove(Vec<String>),
}

/// The path of a key, in terms of member names.
pub(super) fn path(
    key: KeyRef<'_>,
    parent: &KeyName,
    format: Format,
) -> Result<Vec<String>, WriteError> {
    let parts = write::parts(key, parent, format)?;
    Ok(parts.iter().map(|part| escape(part)).collect())
}

/// The changes that set a key at `path`.
pub(super) fn to_set(
    root: &Node,
    key: KeyRef<'_>,
    path: &[String],
    format: Format,
) -> Result<Vec<Step>, &'static str> {
    let nodes = root.walk(path);
    let (last, depth) = (nodes[nodes.len() - 1], nodes.len() - 1);
    let leaf = || leaf(key, format);
    if depth < path.len() {
        return missing(last, leaf()?, path, depth);
    }
    let set = |tree| vec![Step::Set(path.to_vec(), tree)];
    match &last.value {
        Value::List(items) if items.is_empty() => Ok(set(leaf()?)),
        Value::List(_) => Err("it is an array, which has no value of its own"),
        Value::Table(members, Body::Braces) if members.is_empty() => Ok(set(leaf()?)),
        Value::Table(..) => match last.own_key() {
            Some(own) => own_changes(own, key, path),
            None => Ok(vec![Step::Set(own_path(path), own_tree(key)?)]),
        },
        _ if literal(key, format, Spelling::Free).is_none() && has_plain_type(key) => {
            Err("the document has a number or a boolean there, and the value is none: \
                 remove its metakey `type` first, or the key")
        }
        _ => Ok(set(leaf()?)),
    }
}

/// The changes for a key whose path exists in the document only up to `depth`.
fn missing(
    last: &Node,
    leaf: Tree,
    path: &[String],
    depth: usize,
) -> Result<Vec<Step>, &'static str> {
    match &last.value {
        Value::Other(_) => Err("a date, or a number that is none, would become a text above it"),
        Value::List(items) if element_index(&path[depth]) != Some(items.len()) => {
            Err("an array takes only the element after its last one")
        }
        Value::List(_) | Value::Table(..) => Ok(vec![Step::Set(path.to_vec(), leaf)]),
        // If keys are added below a value, the value becomes a member `@` next to them.
        _ => {
            let above = read::plain_key(last, KeyName::root(crate::Namespace::User));
            let above = above.ok().and_then(|above| full(above.borrow()));
            let own = above.ok_or("the value above it cannot be kept")?;
            let below = Tree::nested(&path[depth + 1..], leaf);
            let both = vec![(KEY.to_owned(), own), (path[depth].clone(), below)];
            Ok(vec![Step::Set(path[..depth].to_vec(), Tree::Table(both))])
        }
    }
}

/// The changes of an existing member `@`.
fn own_changes(own: &Node, key: KeyRef<'_>, path: &[String]) -> Result<Vec<Step>, &'static str> {
    let Tree::Table(wanted) = own_tree(key)? else { return Err("metadata is not UTF-8") };
    let own_path = own_path(path);
    let mut steps = Vec::new();
    for kind in ["value", "bytes", "binary"] {
        let wanted = wanted.iter().find(|(name, _)| name == kind).map(|(_, tree)| tree);
        steps.extend(step(own.child(kind), wanted, &own_path, kind));
    }
    let metas = match wanted.into_iter().find(|(name, _)| name == "meta") {
        Some((_, Tree::Table(metas))) => metas,
        _ => Vec::new(),
    };
    let meta_path = [&own_path[..], &["meta".to_owned()]].concat();
    let old = own.child("meta").map(Node::members).unwrap_or_default();
    for member in old.iter().filter(|member| metas.iter().all(|(name, _)| *name != member.name)) {
        steps.push(Step::Remove([&meta_path[..], std::slice::from_ref(&member.name)].concat()));
    }
    for (name, tree) in &metas {
        let old = own.child("meta").and_then(|metas| metas.child(name));
        steps.extend(step(old, Some(tree), &meta_path, name));
    }
    Ok(steps)
}

/// The change from one text to another, if there is one.
fn step(old: Option<&Node>, wanted: Option<&Tree>, path: &[String], name: &str) -> Option<Step> {
    let path = [path, &[name.to_owned()]].concat();
    match (old.map(|node| &node.value), wanted) {
        (Some(Value::Text(old)), Some(Tree::Text(wanted))) if old == wanted => None,
        (_, Some(wanted)) => Some(Step::Set(path, wanted.clone())),
        (Some(_), None) => Some(Step::Remove(path)),
        (None, None) => None,
    }
}

/// The change that removes the key at `path`, but not those below it.
pub(super) fn to_remove(root: &Node, path: Vec<String>) -> Step {
    let nodes = root.walk(&path);
    let is_whole = nodes.len() == path.len() + 1;
    match nodes[nodes.len() - 1] {
        node if is_whole && node.own_key().is_some() && node.members().len() > 1 => {
            Step::Remove(own_path(&path))
        }
        _ if path.is_empty() => Step::Remove(own_path(&path)),
        _ => Step::Remove(path),
    }
}

/// The key as a member's value.
fn leaf(key: KeyRef<'_>, format: Format) -> Result<Tree, &'static str> {
    match literal(key, format, Spelling::Free) {
        Some(plain) => Ok(plain),
        None => own_tree(key).map(Tree::own),
    }
}

fn own_tree(key: KeyRef<'_>) -> Result<Tree, &'static str> {
    full(key).ok_or("metadata is not UTF-8")
}

fn own_path(path: &[String]) -> Vec<String> {
    [path, &[KEY.to_owned()]].concat()
}
