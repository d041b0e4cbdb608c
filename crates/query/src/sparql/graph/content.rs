//! What is stated of the bytes of an object: size, media type and digests, but for bytes that are elsewhere.

use cenote_store::{
    Algorithm, ContentHead, Fact, Kind, Node as FactNode, ResourceId, VisibleResource,
};

use super::Graph;
use super::managed::{literal, node, typed};
use super::node::Node;
use super::property::Property;
use crate::Result;
use crate::sparql::words::Words;

/// The media type of bytes of which nothing is known.
const OCTETS: &str = "application/octet-stream";

impl Graph<'_> {
    /// What is said of the content of an object: nothing of what has none, whose record is not read for that.
    pub(super) fn of_content(
        &self,
        seen: &VisibleResource,
        property: Property,
    ) -> Result<Vec<Node>> {
        if seen.kind != Kind::Object {
            return Ok(Vec::new());
        }
        let Some(content) = &seen.record()?.content else { return Ok(Vec::new()) };
        Ok(match property {
            Property::MediaType => vec![media_type(content)],
            _ if content.size == 0 && self.is_external(seen.id)? => Vec::new(),
            Property::Size => vec![size(content.size)],
            _ => digests(content),
        })
    }

    /// Whether the bytes of an empty object are elsewhere, as its description says then, and may be changed there at any time. Such an object is
    /// always empty here: no description of another is read for that.
    fn is_external(&self, id: ResourceId) -> Result<bool> {
        if !self.data.is_described(id)? {
            return Ok(false);
        }
        for predicate in addresses(self.words) {
            let own = FactNode::Resource { id, part: String::new() };
            let is_address = |fact: &Fact| fact.subject == own && is_iri(&fact.object);
            if self.data.facts(id, Some(&predicate))?.iter().any(is_address) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The predicates of the address at which external content is.
fn addresses(words: &dyn Words) -> [String; 2] {
    ["proxyFor", "redirectsTo"].map(|name| format!("{}{name}", words.fedora()))
}

/// Whether a predicate is one of these.
pub(super) fn is_address(predicate: &Node, words: &dyn Words) -> bool {
    addresses(words).into_iter().any(|address| *predicate == node(address))
}

fn is_iri(node: &FactNode) -> bool {
    matches!(node, FactNode::Iri(_) | FactNode::Resource { .. })
}

pub(super) fn size(bytes: u64) -> Node {
    typed(bytes.to_string(), "long")
}

pub(super) fn media_type(content: &ContentHead) -> Node {
    literal(content.media_type.as_deref().unwrap_or(OCTETS))
}

fn digests(content: &ContentHead) -> Vec<Node> {
    let others = [("sha1", Algorithm::Sha1), ("blake2b", Algorithm::Blake2b)];
    let sha256 = content.digests.sha256.as_ref().map(|digest| ("sha-256", &digest[..]));
    let others = others.into_iter().filter_map(|(name, algorithm)| {
        content.digests.get(algorithm).map(|digest| (name, digest))
    });
    let urn = |(name, digest)| node(format!("urn:{name}:{}", hex::encode(digest)));
    sha256.into_iter().chain(others).map(urn).collect()
}
