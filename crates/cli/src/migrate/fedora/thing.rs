//! One resource: its state at the source, whether it is the same in the store, and migrating it.

use cenote_client::Kind as K;
use cenote_client::ldp::{Described, Model};

use super::addresses::Place;
use super::graph::Stated;
use super::{Migration, Phase};
use crate::error::{CliError, Kind, Result};
use crate::migrate::{Outcome, persist};

/// What a graph is without: members are of the resources that the containers name.
const PREFER: &str = "return=representation; omit=\"http://www.w3.org/ns/ldp#PreferMembership\"";
/// The same, without server-managed statements.
const PREFER_OWN: &str = "return=representation; omit=\"http://www.w3.org/ns/ldp#PreferMembership \
    http://fedora.info/definitions/fcrepo#ServerManaged\"";

/// What is known of a resource of the source.
pub(super) struct Thing {
    described: Described,
    /// Its form at the source, and its form in the store.
    whole: Stated,
    own: Stated,
}

/// The outcome for a resource, and its children.
pub(super) struct Visited {
    pub(super) outcome: Result<Outcome>,
    pub(super) is_binary: bool,
    pub(super) bytes: u64,
    pub(super) contained: Vec<String>,
}

impl Visited {
    fn nothing(outcome: Result<Outcome>) -> Self {
        Self { outcome, is_binary: false, bytes: 0, contained: Vec::new() }
    }
}

impl Migration<'_> {
    /// Migrates a resource that is missing or different in the store, or reports that. Without the root nothing is
    /// migrated.
    pub(super) async fn visit(&self, place: &Place, phase: Phase) -> Result<Visited> {
        let thing = match self.look(place).await {
            Ok(Some(thing)) => thing,
            Ok(None) => {
                let why = "it was removed there".to_owned();
                return Ok(Visited::nothing(Ok(Outcome::Skipped(why))));
            }
            Err(error) if place.is_root() => return Err(error),
            Err(error) => return Ok(Visited::nothing(Err(error))),
        };
        Ok(Visited {
            outcome: self.settle(place, &thing, phase).await,
            is_binary: thing.described.model == Model::Binary,
            bytes: thing
                .described
                .length
                .filter(|_| thing.described.model == Model::Binary)
                .unwrap_or(0),
            contained: thing.whole.contained().map(str::to_owned).collect(),
        })
    }

    async fn settle(&self, place: &Place, thing: &Thing, phase: Phase) -> Result<Outcome> {
        let (has_bytes, has_graph) =
            (self.has_bytes(place, thing).await?, self.has_graph(place, thing).await?);
        match phase {
            _ if has_bytes && has_graph => return Ok(Outcome::Unchanged),
            Phase::Verify => {
                let what = if has_bytes { "what is stated of it" } else { "its content" };
                return Err(CliError::new(Kind::Mismatch, format!("{what} differs in the store")));
            }
            Phase::Bring => {}
        }
        // A resource with bytes may have statements, such as a name.
        let is_stated = match has_bytes {
            true => has_graph,
            false => {
                persist(|| self.bring_bytes(place, thing)).await?;
                self.has_graph(place, thing).await?
            }
        };
        if !is_stated {
            let target = self.described_at(place, thing);
            self.target.put_graph(&target, thing.described.model, thing.own.text()).await?;
        }
        Ok(Outcome::Brought)
    }

    /// What a resource is at the source; none if it is not there any more.
    async fn look(&self, place: &Place) -> Result<Option<Thing>> {
        let path = self.from.path_of(place);
        // Some servers accept the root only with a trailing slash.
        let path = if place.is_root() { self.root_path.clone() } else { path };
        let mut described = match self.source.head(&path, None).await {
            Ok(described) => described,
            Err(error) if !place.is_root() && matches!(error.kind(), K::NotFound | K::Expired) => {
                return Ok(None);
            }
            Err(error) => return Err(of_source(error, place)),
        };
        let at = match described.model {
            Model::Binary => self.description(&path, &described)?,
            _ => path.clone(),
        };
        let graph = self.source.graph(&at, PREFER).await;
        let (media_type, text) = graph.map_err(|error| of_source(error, place))?;
        let whole = Stated::read(&media_type, &text, &self.from_origin)?;
        for (name, digest) in whole.digests() {
            described.digests.entry(name).or_insert(digest);
        }
        if described.model == Model::Binary && described.digests.is_empty() {
            // A server that computes no digests refuses the request, or returns none.
            if let Ok(head) = self.source.head(&path, Some("sha256")).await {
                described.digests = head.digests;
            }
        }
        let whole = whole.moved(&self.from, &self.to);
        let own = Stated::read("application/n-triples", &whole.text(), &self.from_origin)?;
        let own = match described.model {
            Model::Binary => own.without_media_type(),
            _ => own,
        };
        Ok(Some(Thing { described, own: own.without(&self.managed), whole }))
    }

    /// Where the description of bytes is.
    fn description(&self, path: &str, described: &Described) -> Result<String> {
        match &described.described_by {
            None => Ok(format!("{path}/fcr:metadata")),
            Some(address) => self.from.sent(address).map(str::to_owned).ok_or_else(|| {
                CliError::new(Kind::Failed, format!("its description is elsewhere: {address}"))
            }),
        }
    }

    /// Where a resource is described in the store.
    fn described_at(&self, place: &Place, thing: &Thing) -> String {
        let path = self.to.path_of(place);
        match thing.described.model {
            Model::Binary => path + "/fcr:metadata",
            _ => path,
        }
    }

    /// Whether the store has the bytes of a binary; of anything else there are none.
    async fn has_bytes(&self, place: &Place, thing: &Thing) -> Result<bool> {
        if thing.described.model != Model::Binary {
            return Ok(true);
        }
        match self.target.head(&self.to.path_of(place), best(&thing.described)).await {
            Ok(here) => Ok(here.model == Model::Binary && is_same(&thing.described, &here)),
            Err(error) if error.kind() == K::NotFound => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether the store states the same: each statement of the source, and of its own no other.
    async fn has_graph(&self, place: &Place, thing: &Thing) -> Result<bool> {
        let Some(here) = self.stated_here(place, thing, PREFER).await? else { return Ok(false) };
        if !thing.own.is_within(&here) {
            return Ok(false);
        }
        let own = self.stated_here(place, thing, PREFER_OWN).await?.unwrap_or_default();
        Ok(own.without(&self.managed).is_within(&thing.whole))
    }

    /// What the store states, if it has the resource.
    async fn stated_here(
        &self,
        place: &Place,
        thing: &Thing,
        prefer: &str,
    ) -> Result<Option<Stated>> {
        let path = self.described_at(place, thing);
        match self.target.graph(&path, prefer).await {
            Ok((media_type, text)) => {
                let stated = Stated::read(&media_type, &text, &self.from_origin)?;
                Ok(Some(stated.moved(&self.to, &self.to)))
            }
            Err(error) if error.kind() == K::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Forwards bytes; the store compares them with the digests reported by the source.
    async fn bring_bytes(&self, place: &Place, thing: &Thing) -> Result<()> {
        let read = self.source.read(&self.from.path_of(place)).await;
        let (mut described, bytes) = read.map_err(|error| of_source(error, place))?;
        for (name, digest) in &thing.described.digests {
            described.digests.entry(name.clone()).or_insert_with(|| digest.clone());
        }
        Ok(self.target.put_bytes(&self.to.path_of(place), &described, bytes).await?)
    }
}

/// A failure of the source. What it refuses below its root is refused for that alone.
fn of_source(error: cenote_client::Error, place: &Place) -> CliError {
    let message = format!("at the source: {error}");
    match error.kind() {
        K::Unauthenticated if !place.is_root() => CliError::new(Kind::Denied, message),
        _ => CliError::from(error).with_message(message),
    }
}

/// The best digest reported by the source.
fn best(described: &Described) -> Option<&'static str> {
    ["sha256", "sha512", "blake2b", "sha1", "md5"]
        .into_iter()
        .find(|name| described.digests.contains_key(*name))
}

/// Whether bytes are the same, as far as the source describes them.
fn is_same(there: &Described, here: &Described) -> bool {
    let is_digest_same =
        best(there).is_none_or(|name| there.digests.get(name) == here.digests.get(name));
    there.length == here.length && is_digest_same
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(length: u64, digests: &[(&str, u8)]) -> Described {
        let digests = digests.iter().map(|(name, digest)| ((*name).to_owned(), vec![*digest]));
        Described {
            model: Model::Binary,
            described_by: None,
            media_type: None,
            length: Some(length),
            disposition: None,
            digests: digests.collect(),
        }
    }

    #[test]
    fn bytes_are_the_same_if_length_and_digest_are() {
        let there = described(3, &[("sha1", 1), ("md5", 9)]);
        assert!(is_same(&there, &described(3, &[("sha1", 1)])));
        for other in [
            described(3, &[("sha1", 2)]),
            described(3, &[("md5", 9)]),
            described(4, &[("sha1", 1)]),
        ] {
            assert!(!is_same(&there, &other));
        }
        assert!(!is_same(&described(3, &[("blake2b", 1)]), &described(3, &[("blake2b", 2)])));
        assert!(is_same(&described(3, &[]), &described(3, &[("sha1", 1)])));
    }
}
