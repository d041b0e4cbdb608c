//! Stages against the model: a stage is a separate vector of bytes, which becomes that of the object when it is
//! published.

use cenote_store::{Completion, Expected, StageFrom, UploadId};

use super::*;
use crate::world::once;

/// A stage in progress.
pub(super) struct Stage {
    id: UploadId,
    path: StorePath,
    bytes: Vec<u8>,
    /// The tag of the object from which it was created, if any.
    tag: Option<String>,
}

/// A change of a stage.
#[derive(Debug, Clone)]
pub(super) enum Edit {
    Write(usize, usize),
    Append(usize),
    Truncate(usize),
}

pub(super) fn edit(scale: &Scale) -> impl Strategy<Value = Edit> + use<> {
    let (sizes, runs) = (scale.sizes.clone(), scale.runs.clone());
    prop_oneof![
        3 => (sizes.clone(), runs.clone()).prop_map(|(at, n)| Edit::Write(at, n)),
        1 => runs.prop_map(Edit::Append),
        1 => sizes.prop_map(Edit::Truncate),
    ]
}

impl Pair {
    pub(super) fn stage(&mut self, of: &StorePath, from_object: bool) {
        let from = if from_object { StageFrom::Object } else { StageFrom::Nothing };
        let options = UploadOptions { stage: Some(from), ..UploadOptions::default() };
        let begun = begin(&self.world, &of.to_string(), options);
        let expected = match self.model.nodes.get(of) {
            Some(_) => self.model.object(of).map(drop),
            None => {
                self.may_make(of).and(if from_object { Err(ErrorKind::NotFound) } else { Ok(()) })
            }
        };
        assert_eq!(begun.as_ref().map(drop).map_err(Error::kind), expected);
        let Ok(upload) = begun else { return };
        let bytes = match from_object {
            true => self.model.nodes[of].bytes.clone(),
            false => Vec::new(),
        };
        assert_eq!(upload.staged, Some(bytes.len() as u64));
        let tag = from_object.then(|| self.tag(of).unwrap());
        self.stages.push(Stage { id: upload.id, path: of.clone(), bytes, tag });
    }

    pub(super) fn edit_stage(&mut self, nth: usize, edit: &Edit, seed: u64) {
        let Some(stage) = self.stages.get(nth) else { return };
        let (store, admin, id) = (&self.world.store, &self.world.admin, stage.id);
        let expected = match self.model.nodes.contains_key(&stage.path) {
            true => Ok(()),
            false => self.may_make(&stage.path),
        };
        let write = |position, length| {
            let run_of = noise(length, seed);
            run(store.write_stage(admin, id, position, once(&run_of), &Expected::default()))
        };
        let done = match *edit {
            Edit::Write(at, length) => write(Where::Offset(at as u64), length),
            Edit::Append(length) => write(Where::Append, length),
            Edit::Truncate(size) => run(store.truncate_stage(admin, id, size as u64)),
        };
        let done = kind_of(done);
        assert_eq!(done.map(drop), expected);
        let Ok(size) = done else { return };
        let bytes = &mut self.stages[nth].bytes;
        match *edit {
            Edit::Write(at, length) => {
                bytes.resize(bytes.len().max(at + length), 0);
                bytes[at..at + length].copy_from_slice(&noise(length, seed));
            }
            Edit::Append(length) => bytes.extend(noise(length, seed)),
            Edit::Truncate(size) => bytes.resize(size, 0),
        }
        assert_eq!(size, bytes.len() as u64);
    }

    pub(super) fn publish(&mut self, nth: usize, force: bool) {
        let Some(stage) = self.stages.get(nth) else { return };
        let (path, tag) = (stage.path.clone(), self.tag(&stage.path));
        let sha256 = Some(Sha256::digest(&stage.bytes).into()).filter(|_| nth == 0);
        let how = Completion { sha256, force, ..Completion::default() };
        let done = run(self.world.store.complete_upload(&self.world.admin, stage.id, how));
        let is_there = match self.model.nodes.get(&path) {
            Some(_) => self.model.object(&path).map(drop),
            None => self.may_make(&path),
        };
        let changed = stage.tag.is_some() && stage.tag != tag && !force;
        let expected = is_there.and(if changed { Err(ErrorKind::Precondition) } else { Ok(()) });
        assert_eq!(kind_of(done).map(drop), expected);
        if expected.is_ok() {
            let bytes = self.stages.remove(nth).bytes;
            match self.model.nodes.contains_key(&path) {
                true => self.model.change_bytes(&path, bytes),
                false => self.learn(&path, Kind::Object, bytes, None),
            }
            self.compare_content(&path, 1);
        }
    }

    pub(super) fn give_up(&mut self, nth: usize) {
        if nth < self.stages.len() {
            let stage = self.stages.remove(nth);
            self.world.store.abandon_upload(&self.world.admin, stage.id).unwrap();
        }
    }

    pub(super) fn give_all_up(&mut self) {
        while !self.stages.is_empty() {
            self.give_up(0);
        }
    }

    /// The contents of the stages, if readable.
    pub(super) fn compare_stages(&self) {
        use futures_util::TryStreamExt;
        for stage in &self.stages {
            let there = self.model.nodes.contains_key(&stage.path);
            let opened = self.world.store.open_stage(&self.world.admin, stage.id);
            if !there && let Err(refused) = self.may_make(&stage.path) {
                assert_eq!(opened.map(drop).map_err(|error| error.kind()), Err(refused));
                continue;
            }
            let opened = opened.unwrap();
            let size = opened.size();
            let read = async { opened.bytes(0..size).unwrap().try_collect::<Vec<_>>().await };
            assert!(run(read).unwrap().concat() == stage.bytes, "a stage of {}", stage.path);
        }
    }

    fn tag(&self, of: &StorePath) -> Option<String> {
        let stat = self.world.store.stat(&self.world.admin, &of.into()).ok()?;
        stat.resource.content.map(|content| content.tag())
    }

    fn may_make(&self, at: &StorePath) -> Answer {
        self.model.missing_above(at, false).map(drop)
    }
}
