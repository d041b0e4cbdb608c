//! The behaviour of dxfuse, the mount of DNAnexus: names and states of objects are those of the DNAnexus opening, which
//! are requested whenever a folder is listed.
//!
//! Invariant: a directory is listed here as a whole, together with its numbered directories, never name by name.

mod names;
mod xattrs;

use cenote_client::dnanexus::Platform;
use serde_json::{Value, json};

pub(crate) use self::names::{Facts, Names};
use crate::cache::{Ino, Origin};
use crate::error::{Fault, Result};
use crate::layout::Folder;
use crate::ops::FileSystem;

/// How often a folder is listed in which something changes meanwhile, before a listing counts that may be of two moments.
const ATTEMPTS: u32 = 5;

impl FileSystem {
    /// Calls a method of the DNAnexus opening.
    pub(crate) async fn call(&self, resource: &str, method: &str, input: &Value) -> Result<Value> {
        let source = &self.0.source;
        let platform = Platform::of_store(source.client.clone());
        source.insist(|| source.within(platform.call(resource, method, input))).await
    }

    /// Learns all names in a directory, unless they are known.
    pub(crate) async fn list_whole(&self, dir: Ino) -> Result<()> {
        let listed = {
            let cache = self.lock();
            if cache.node(dir)?.origin == Origin::Mount {
                return Ok(());
            }
            cache.listed_with(dir)
        };
        if self.is_followed() && self.lock().is_listed(listed) {
            self.lock().use_directory(listed);
            return Ok(());
        }
        self.evict();
        for _ in 0..ATTEMPTS {
            if self.list_once(listed).await? {
                break;
            }
        }
        Ok(())
    }

    /// Whether nothing changed meanwhile.
    async fn list_once(&self, dir: Ino) -> Result<bool> {
        let ((place, generation), folder) = (self.directory(dir)?, self.lock().folder(dir)?);
        let found = self.0.source.list(&place).await?;
        let names = match &folder {
            Some(folder) => self.names_in(folder).await?,
            None => Names::default(),
        };
        Ok(self.lock().fill_numbered((dir, generation), &found, &names))
    }

    async fn names_in(&self, folder: &Folder) -> Result<Names> {
        let fields = json!({ "name": true, "state": true, "archivalState": true, "created": true, "resource": true });
        let describe = json!({ "fields": fields });
        let input = json!({ "folder": folder.path, "only": "all", "describe": describe });
        Names::read(&self.call(&folder.project, "listFolder", &input).await?)
    }

    /// Refuses to open an object that is not a file, is not closed, or is archived.
    pub(crate) async fn require_readable(&self, ino: Ino) -> Result<()> {
        let Some(facts) = self.lock().node(ino)?.facts.clone() else { return Ok(()) };
        if !facts.is_file() {
            return Err(Fault::new(libc::ENOSYS, "only files have contents"));
        }
        if facts.is_readable() {
            return Ok(());
        }
        // Its state may have changed.
        let fields = json!({ "fields": { "state": true, "archivalState": true } });
        let now = self.call(&facts.id, "describe", &fields).await?;
        match names::is_readable(&now) {
            true => Ok(()),
            false => Err(Fault::new(libc::EACCES, "the file is not closed, or not live")),
        }
    }

    /// The id of an object, and the project that it is in here.
    async fn object(&self, ino: Ino) -> Result<Option<(String, String)>> {
        if self.lock().node(ino)?.facts.is_none() {
            self.learn_facts(ino).await?;
        }
        let cache = self.lock();
        let id = cache.node(ino)?.facts.as_ref().map(|facts| facts.id.clone());
        Ok(id.zip(cache.folder(ino)?).map(|(id, folder)| (id, folder.project)))
    }

    /// Requests the properties of a file that was created here, or placed.
    async fn learn_facts(&self, ino: Ino) -> Result<()> {
        let (resource, folder) = {
            let cache = self.lock();
            let node = cache.node(ino)?;
            let dir = if cache.is_top(ino) { ino } else { cache.listed_with(node.parent) };
            (node.id, cache.folder(dir)?)
        };
        let (Some(resource), Some(folder)) = (resource, folder) else { return Ok(()) };
        let mut names = self.names_in(&folder).await?;
        self.lock().node_mut(ino)?.facts = names.take(resource).map(Box::new);
        Ok(())
    }
}
