//! Direct access to the data of a store, to damage it.

use bytes::Bytes;
use cenote_blob::BlobId;
use cenote_kv::Batch;

use crate::world::{World, run};

impl World {
    fn commit(&self, change: impl FnOnce(&mut Batch)) {
        let mut batch = Batch::default();
        change(&mut batch);
        self.parts.engine.commit(batch).unwrap();
    }

    pub(crate) fn value(&self, key: &[u8]) -> Bytes {
        self.parts.engine.snapshot().unwrap().get(key).unwrap().unwrap()
    }

    pub(crate) fn raw_put(&self, key: Vec<u8>, value: Bytes) {
        self.commit(|batch| _ = batch.put(key, value));
    }

    pub(crate) fn raw_delete(&self, key: &[u8]) {
        self.commit(|batch| _ = batch.delete(key.to_vec()));
    }

    pub(crate) fn id(&self, path: &str) -> u64 {
        self.stat(path).unwrap().id.0
    }

    pub(crate) fn content(&self, path: &str) -> u64 {
        self.stat(path).unwrap().resource.content.unwrap().id.0
    }

    /// Flips a bit of the last byte of a value.
    pub(crate) fn damage(&self, key: &[u8]) {
        let mut value = self.value(key).to_vec();
        *value.last_mut().unwrap() ^= 1;
        self.raw_put(key.to_vec(), value.into());
    }

    pub(crate) fn first(&self, table: u8) -> Bytes {
        self.table(table)[0].clone()
    }
}

pub(crate) fn key(table: u8, ids: &[u64]) -> Vec<u8> {
    let ids = ids.iter().flat_map(|id| id.to_be_bytes());
    [table].into_iter().chain(ids).collect()
}

pub(crate) fn named(table: u8, ids: &[u64], name: &[u8]) -> Vec<u8> {
    [key(table, ids), name.to_vec()].concat()
}

/// Overwrites a blob in the main place.
pub(crate) fn overwrite(world: &World, blob: BlobId, bytes: Vec<u8>) {
    run(async {
        let mut writer = world.parts.main.writer(blob, []);
        writer.write(bytes.into()).await.unwrap();
        writer.finish().await.unwrap()
    });
}

/// The bytes of all files below a directory.
pub(crate) fn file_bytes(dir: &std::path::Path) -> u64 {
    let bytes = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(found) if found.is_dir() => file_bytes(&entry.path()),
        // It may be deleted meanwhile.
        found => found.map_or(0, |found| found.len()),
    };
    std::fs::read_dir(dir).unwrap().flatten().map(bytes).sum()
}
