//! The maximum depth of paths.
//!
//! Invariant: nothing new is deeper than [`StorePath::MAX_DEPTH`], whether it is created, copied or moved there. What is created below
//! a tree while it is being moved may end up deeper, and moves of earlier programs could create deeper paths: all
//! else takes things as deep as they are.

use cenote_kv::ScanOptions;

use crate::Result;
use crate::access::Chain;
use crate::catalog::{Child, Record, View, keys};
use crate::model::{Kind, StorePath};
use crate::waiting::go_on;

/// Refuses if anything in a subtree would be too deep with its top at this depth. Trees that get no deeper are not refused.
///
/// Cost: the entries of the subtree, where it gets deeper.
pub(crate) fn require_depth(view: &View, top: &Chain, depth: usize) -> Result<()> {
    StorePath::check_depth(depth)?;
    let mut left = vec![(top.id(), depth)];
    if top.resource().kind != Kind::Collection {
        return Ok(());
    }
    while let Some((id, depth)) = left.pop() {
        for row in view.snapshot.scan(&keys::children(id), ScanOptions::default()) {
            go_on()?;
            let child = Child::from_value(&row?.1)?;
            StorePath::check_depth(depth + 1)?;
            if child.kind == Kind::Collection {
                left.push((child.id, depth + 1));
            }
        }
    }
    Ok(())
}
