//! The units of statements, which triples do not have.

use cenote_client::{At, Avu, Client, MetaOperation};

use crate::error::Result;

/// Gives statements their units, in one change; one that is missing is added.
pub(super) async fn add(client: &Client, at: &At, units: &[Avu]) -> Result<()> {
    let there = client.meta(at).await?;
    let mut operations = Vec::new();
    for avu in units.iter().filter(|avu| !there.contains(avu)) {
        let bare = Avu { unit: None, ..avu.clone() };
        if there.contains(&bare) {
            operations.push(MetaOperation::Remove(bare));
        }
        operations.push(MetaOperation::Add(avu.clone()));
    }
    match operations.is_empty() {
        true => Ok(()),
        false => Ok(client.change_meta(at, &operations).await?),
    }
}
