//! Making one resource in the store: its states in their order, each kept as a version with its time, and at the end the current one.

use cenote_client::transfer::LocalFile;
use cenote_client::{
    At, Attributes, Kind as K, NewResource, PutOptions, ResourceKind, VersionChange,
};
use cenote_ocfl::{Checked, Object};

use super::super::Written;
use super::Import;
use super::current::{Current, Wanted};
use super::read::{Found, State};
use crate::archive::{units, wrong};
use crate::error::{CliError, Kind, Result};
use crate::migrate::Outcome;

impl Import<'_> {
    /// Imports the missing states of a resource, or reports that they are missing.
    pub(super) async fn bring(
        &self,
        object: &Object,
        checked: &Checked,
        found: Found,
        written: &mut Written,
    ) -> Result<Outcome> {
        let Some(newest) = found.states.last() else {
            return Ok(Outcome::Skipped("it has no state".to_owned()));
        };
        let work = Work { import: self, object, checked, found: &found };
        let here = Current::find(self.client, &self.names, &found).await?;
        let wanted = work.wanted(newest)?;
        let is_current = here.as_ref().is_some_and(|here| here.is(&wanted, &found));
        let Differences { missing, unlabelled } = work.differences(here.as_ref());
        if is_current && missing.is_empty() && unlabelled.is_empty() {
            return Ok(Outcome::Unchanged);
        }
        if self.check {
            let what = match (is_current, missing.len()) {
                (false, _) => "it differs in the store".to_owned(),
                (true, 0) => {
                    format!("{} of its versions have another label in the store", unlabelled.len())
                }
                (true, missing) => format!("the store does not have {missing} of its versions"),
            };
            return Err(CliError::new(Kind::Mismatch, what));
        }
        let labelled = work.label(&unlabelled).await?;
        work.bring(&missing, is_current, written).await?;
        match is_current && missing.is_empty() && !labelled {
            true => Ok(Outcome::Unchanged),
            false => Ok(Outcome::Brought),
        }
    }
}

/// What the store lacks of the versions of a resource.
#[derive(Default)]
struct Differences<'a> {
    missing: Vec<&'a State>,
    /// Versions by number, with the labels of their states.
    unlabelled: Vec<(u64, &'a str)>,
}

/// One resource, and its source.
struct Work<'a> {
    import: &'a Import<'a>,
    object: &'a Object,
    checked: &'a Checked,
    found: &'a Found,
}

impl<'a> Work<'a> {
    fn path(&self) -> String {
        self.import.names.path(&self.found.place)
    }

    fn at(&self) -> At {
        At::Path(self.path())
    }

    fn wanted(&self, state: &State) -> Result<Wanted<'a>> {
        Wanted::of(self.object, self.checked, &self.import.names, &self.found.place, state)
    }

    /// The states that are to be versions, and are none, or have other labels.
    fn differences(&self, here: Option<&Current>) -> Differences<'a> {
        let mut differences = Differences::default();
        if !self.import.keeps || !self.found.has_history() {
            return differences;
        }
        let states: Vec<&State> = self.found.states.iter().collect();
        let Some(here) = here else { return Differences { missing: states, ..differences } };
        for (state, version) in here.matched(&states, self.checked) {
            match (version, &state.label) {
                (None, _) => differences.missing.push(state),
                (Some(version), Some(label)) if version.label.as_ref() != Some(label) => {
                    differences.unlabelled.push((version.version, label));
                }
                (Some(_), _) => {}
            }
        }
        differences
    }

    /// Labels versions, unless others have the labels; returns whether one was changed.
    async fn label(&self, versions: &[(u64, &str)]) -> Result<bool> {
        let mut is_changed = false;
        for (version, label) in versions {
            let change =
                VersionChange::Label { version: *version, label: Some((*label).to_owned()) };
            match self.import.client.change_versions(&self.at(), &change).await {
                Ok(_) => is_changed = true,
                Err(error) if error.kind() == K::Exists => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(is_changed)
    }

    /// Makes versions of the missing states, one after the other, and then the newest one the current state.
    async fn bring(
        &self,
        missing: &[&State],
        mut is_current: bool,
        written: &mut Written,
    ) -> Result<()> {
        let Some(newest) = self.found.states.last() else { return Ok(()) };
        let is_newest = |state: &State| std::ptr::eq(state, newest);
        let is_brought_last = missing.last().is_some_and(|state| is_newest(state));
        // What the current state is, if that is a version already: the next one of the same is another.
        let mut kept = (is_current && !is_brought_last).then_some(newest);
        for state in missing {
            let another = kept.is_some_and(|kept| kept.is_same(state));
            match another {
                false => self.put(state, is_newest(state), written).await?,
                true if is_newest(state) => self.complete().await?,
                true => {}
            }
            is_current = is_newest(state) || (another && is_current);
            self.keep(state, another).await?;
            written.versions += 1;
            kept = Some(state);
        }
        if !is_current {
            self.put(newest, true, written).await?;
            written.versions += 1;
        }
        Ok(())
    }

    /// Makes a state the current one.
    async fn put(&self, state: &State, is_newest: bool, written: &mut Written) -> Result<()> {
        let wanted = self.wanted(state)?;
        match &state.content {
            Some(digest) => self.put_bytes(digest, &wanted, is_newest, written).await?,
            None => self.create(is_newest).await?,
        }
        let here = Current::find(self.import.client, &self.import.names, self.found).await?;
        let here = here.ok_or_else(|| wrong("it was removed meanwhile"))?;
        if !here.stated.is_same(&wanted.stated) {
            let text = wanted.stated.for_store(&self.import.names, &self.found.place);
            self.import.client.set_graph(&self.at(), text.into()).await?;
        }
        match is_newest {
            true => units::add(self.import.client, &self.at(), &self.found.extra.units).await,
            false => Ok(()),
        }
    }

    /// Has the current state, with the bytes and statements of the newest one, say what else is said of that.
    async fn complete(&self) -> Result<()> {
        self.set_attributes().await?;
        units::add(self.import.client, &self.at(), &self.found.extra.units).await
    }

    async fn set_attributes(&self) -> Result<()> {
        let extra = &self.found.extra;
        let has_attributes = extra.mode.is_some() || extra.mtime.is_some();
        if has_attributes && self.found.kind != ResourceKind::Link {
            let attributes =
                Attributes { mode: extra.mode, mtime: extra.mtime, ..Attributes::default() };
            self.import.client.set_attributes(&self.at(), &attributes).await?;
        }
        Ok(())
    }

    async fn put_bytes(
        &self,
        digest: &str,
        wanted: &Wanted<'_>,
        is_newest: bool,
        written: &mut Written,
    ) -> Result<()> {
        let file = self.object.file(digest).map_err(wrong)?;
        let file = LocalFile::new(&file)?;
        let options = PutOptions {
            media_type: self.found.media_type.clone(),
            parents: true,
            mode: self.found.extra.mode.filter(|_| is_newest),
            mtime: self.found.extra.mtime.filter(|_| is_newest),
            ..PutOptions::default()
        };
        let put = self.import.transfer.put_file(&file, &self.path(), &options).await?;
        written.bytes += file.size;
        match put.sha256.as_deref() == wanted.sha256 {
            true => Ok(()),
            false => Err(CliError::new(Kind::Mismatch, "the file has changed meanwhile")
                .hint("do not change a storage root while it is imported")),
        }
    }

    async fn create(&self, is_newest: bool) -> Result<()> {
        let (extra, client) = (&self.found.extra, self.import.client);
        let new = NewResource {
            to: self.path().into(),
            kind: self.found.kind,
            target: extra.target.clone(),
            parents: true,
            exist_ok: true,
            mode: None,
            mtime: None,
        };
        client.create(&new).await?;
        if is_newest { self.set_attributes().await } else { Ok(()) }
    }

    /// Keeps the current state as a version, with its label unless another version has that; as another one, if it is one already.
    async fn keep(&self, state: &State, another: bool) -> Result<()> {
        let (client, time) = (self.import.client, Some(state.created));
        let keep = |label| VersionChange::Keep { label, time, another };
        let kept = client.change_versions(&self.at(), &keep(state.label.clone())).await;
        match kept {
            Err(error) if error.kind() == K::Exists && state.label.is_some() => {
                Ok(client.change_versions(&self.at(), &keep(None)).await?)
            }
            kept => Ok(kept?),
        }
    }
}
