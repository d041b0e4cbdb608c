//! Contents against the model: parts, digests, ranges and replicas.

use super::*;

impl Pair {
    pub(super) fn upload(&mut self, to: &StorePath, parts: &Parts, seed: u64) {
        let run = |n: usize| noise(parts[n].1, seed * 100 + n as u64);
        let begun = begin(&self.world, &to.to_string(), UploadOptions::default());
        let expected = match self.model.nodes.get(to) {
            Some(node) if node.kind != Kind::Object => Err(ErrorKind::WrongKind),
            Some(_) => Ok(()),
            None => self.model.missing_above(to, false).map(drop),
        };
        assert_eq!(begun.as_ref().map(drop).map_err(Error::kind), expected);
        let Ok(upload) = begun else { return };
        for (n, (offset, _)) in parts.iter().enumerate() {
            part(&self.world, upload.id, *offset, &run(n)).unwrap();
        }
        complete(&self.world, upload.id, None).unwrap();
        let mut order: Vec<usize> = (0..parts.len()).collect();
        // Of overlapping parts, the one that starts later takes effect.
        order.sort_by_key(|n| parts[*n].0);
        let mut bytes = Vec::new();
        for n in order {
            let (offset, length) = parts[n];
            bytes.resize(bytes.len().max(offset + length), 0);
            bytes[offset..offset + length].copy_from_slice(&run(n));
        }
        match self.model.nodes.contains_key(to) {
            true => self.model.change_bytes(to, bytes),
            false => self.learn(to, Kind::Object, bytes, None),
        }
    }

    pub(super) fn digest(&self, what: &StorePath) {
        let Some(node) = self.model.nodes.get(what).filter(|node| node.kind == Kind::Object) else {
            return;
        };
        run(self.world.store.compute_digest(ResourceId(node.id))).unwrap();
        assert!(self.compare_content(what, 1), "{what} has no digest");
    }

    /// Compares an object's bytes, completely and in ranges, and its digests; returns whether its SHA-256
    /// is known.
    pub(super) fn compare_content(&self, what: &StorePath, seed: u64) -> bool {
        let Some(node) = self.model.nodes.get(what).filter(|node| node.kind == Kind::Object) else {
            return false;
        };
        let (world, bytes) = (&self.world, &node.bytes);
        for range in ranges(bytes.len(), seed) {
            let read = world.read_range(&what.to_string(), range.start as u64..range.end as u64);
            assert!(read == bytes[range.clone()], "{what}, {range:?} of {}", bytes.len());
        }
        let head = world.stat(&what.to_string()).unwrap().resource.content.unwrap();
        let known = head.digests;
        known.crc64nvme.inspect(|crc| assert_eq!(*crc, crc64nvme(bytes), "{what}"));
        known.sha256.inspect(|sha256| assert_eq!(sha256[..], Sha256::digest(bytes)[..], "{what}"));
        known.sha256.is_some()
    }

    pub(super) fn trim(&self, what: &StorePath, nth: usize) {
        if self.model.object(what).is_err() {
            return;
        }
        let replicas = || self.world.store.replicas(&self.world.admin, &what.into()).unwrap();
        let before = replicas();
        let Some(replica) = before.get(nth) else { return };
        let last = replica.good && before.iter().filter(|replica| replica.good).count() == 1;
        let trimmed = kind_of(self.world.trim(&what.to_string(), replica.number));
        match last || before.len() == 1 {
            true => assert_eq!(trimmed, Err(ErrorKind::Precondition)),
            false => assert_eq!(trimmed, Ok(vec![replica.number])),
        }
        let gone = usize::from(trimmed.is_ok());
        assert_eq!(replicas().len() + gone, before.len());
    }

    pub(super) fn drain(&self, from: &str, to: &str) {
        if from == to {
            return;
        }
        let ids = (self.world.place(from), self.world.place(to));
        if self.world.status_of(from).default {
            self.make_default(to);
        }
        let job = self.world.store.drain_place(&self.world.admin, ids.0, Some(ids.1)).unwrap();
        run(self.world.store.run_moves()).unwrap();
        let job = self.world.store.job(&self.world.admin, job.id).unwrap();
        assert!(job.finished && job.failed == 0, "{job:?}");
        assert_eq!(self.world.blobs_in(from), 0);
        let status = self.world.status_of(from);
        assert_eq!((status.copies, status.replicas), (0, 0), "{from}");
        self.world.set_state(from, PlaceState::Up);
    }

    pub(super) fn make_default(&self, place: &str) {
        self.world.store.set_default_place(&self.world.admin, self.world.place(place)).unwrap();
    }

    /// A good replica has the current content, a stale one the same as before.
    pub(super) fn compare_replicas(&mut self) {
        let mut seen = BTreeMap::new();
        for (path, node) in self.model.nodes.iter().filter(|(_, node)| node.kind == Kind::Object) {
            let replicas = self.world.store.replicas(&self.world.admin, &path.into()).unwrap();
            assert!(replicas.iter().any(|replica| replica.good), "{path}");
            let places: BTreeSet<_> = replicas.iter().map(|replica| replica.place).collect();
            assert_eq!(places.len(), replicas.len(), "{path}");
            for replica in replicas {
                let bytes = self.world.read_replica(&path.to_string(), replica.number).unwrap();
                let key = (node.id, replica.number);
                let expected = match replica.good {
                    true => &node.bytes,
                    false => &self.replicas[&key],
                };
                assert!(bytes == *expected, "{path} {replica:?}");
                assert!(seen.insert(key, bytes).is_none());
            }
        }
        // Resources in the trash are restored.
        self.replicas.extend(seen);
    }
}

/// The whole content, and ranges with arbitrary ends and ends at the boundaries of the chunks in which
/// files are read.
fn ranges(size: usize, seed: u64) -> Vec<Range<usize>> {
    let dice: Vec<usize> = noise(6 * 8, seed)
        .chunks(8)
        .map(|word| word.iter().fold(0, |n, byte| n * 251 + *byte as usize))
        .collect();
    let edges = [1 << 19, 1 << 20, 3 << 19].map(|edge: usize| edge.min(size));
    let ends: Vec<usize> = dice.iter().map(|n| n % (size + 1)).chain(edges).collect();
    let pairs = ends.windows(2).map(|ends| ends[0].min(ends[1])..ends[0].max(ends[1]));
    std::iter::once(0..size).chain(pairs).collect()
}
