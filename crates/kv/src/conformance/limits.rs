//! Sizes and keys that an engine refuses.

use bytes::Bytes;

use super::{Subject, commit, put};
use crate::{Batch, CommitError, Engine};

fn refused(engine: &dyn Engine, change: impl FnOnce(&mut Batch) -> &mut Batch) -> bool {
    let mut batch = Batch::default();
    change(&mut batch);
    matches!(engine.commit(batch), Err(CommitError::TooLarge(_)))
}

/// What fits is taken, one byte more is refused, and nothing of it is applied.
pub fn limits_are_kept(subject: &dyn Subject) {
    let engine = subject.open();
    let limits = engine.limits();
    let bytes = |size: usize| Bytes::from(vec![b'k'; size]);
    put(&*engine, bytes(limits.key), "");
    commit(&*engine, |batch| batch.append(bytes(limits.key - 12), ""));
    assert!(refused(&*engine, |batch| batch.put(bytes(limits.key + 1), "")));
    assert!(refused(&*engine, |batch| batch.delete(bytes(limits.key + 1))));
    assert!(refused(&*engine, |batch| batch.append(bytes(limits.key - 11), "")));
    assert!(refused(&*engine, |batch| batch.put("a", bytes(limits.value + 1))));
    let value = bytes(limits.value);
    assert!(refused(&*engine, |batch| {
        for at in 0..=limits.batch / limits.value {
            batch.put(format!("{at}"), value.clone());
        }
        batch
    }));
    assert_eq!(engine.snapshot().unwrap().version(), 2);
}

/// Empty keys and those of the engine itself cannot be written.
pub fn reserved_keys_are_refused(subject: &dyn Subject) {
    let engine = subject.open();
    for key in [b"".as_slice(), b"\xff", b"\xffv"] {
        let key = Bytes::copy_from_slice(key);
        assert!(refused(&*engine, |batch| batch.put(key.clone(), "")));
        assert!(refused(&*engine, |batch| batch.delete(key.clone())));
        assert!(refused(&*engine, |batch| batch.add(key.clone(), 1)));
        assert!(refused(&*engine, |batch| batch.append(key.clone(), "")));
    }
    assert_eq!(engine.snapshot().unwrap().version(), 0);
}
