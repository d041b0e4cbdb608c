//! Tokens determine the outcome of a commit.

use super::{Subject, put};
use crate::{Batch, Engine, Token, Version};

fn commit_with(engine: &dyn Engine, token: Token) -> Version {
    let mut batch = Batch { token: Some(token), ..Batch::default() };
    batch.put("a", token.to_vec());
    engine.commit(batch).unwrap()
}

/// A committed token answers its version, any other none, also after opening again.
pub fn tokens_determine_the_outcome(subject: &dyn Subject) {
    let engine = subject.open();
    assert_eq!(engine.outcome(&[9; 16]).unwrap(), None);
    let first = commit_with(&*engine, [1; 16]);
    put(&*engine, "without", "");
    let second = commit_with(&*engine, [2; 16]);
    drop(engine);
    let engine = subject.open();
    assert_eq!(engine.outcome(&[1; 16]).unwrap(), Some(first));
    assert_eq!(engine.outcome(&[2; 16]).unwrap(), Some(second));
    assert_eq!(engine.outcome(&[3; 16]).unwrap(), None);
}
