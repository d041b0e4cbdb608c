//! What is stated of a resource, at the source and in the store, and whether that is the same.

use std::collections::{BTreeMap, HashSet};

use bytes::Bytes;
use cenote_client::ldp::digest_of_urn;
use cenote_rdf::{
    Graph, Limits, NamedNode, NamedOrBlankNode, Syntax, Term, Triple, canonical, read_any_iris,
    write,
};
use serde::Deserialize;

use super::addresses::Root;
use crate::error::{CliError, Kind, Result};

/// What is read of one resource: the children of a container are triples, too.
const LIMITS: Limits = Limits { triples: 10_000_000, term: 1 << 20 };
const CONTAINS: &str = "http://www.w3.org/ns/ldp#contains";
const RDF_TYPE: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
const HAS_DIGEST: &str = "http://www.loc.gov/premis/rdf/v1#hasMessageDigest";
const HAS_MIME_TYPE: &str = "http://www.ebu.ch/metadata/ontologies/ebucore/ebucore#hasMimeType";

/// The terms used in server-managed statements, as documented by the store.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Managed {
    srv_mgd_predicates: HashSet<String>,
    srv_mgd_types: HashSet<String>,
}

impl Managed {
    fn states(&self, triple: &Triple) -> bool {
        let is_type = match &triple.object {
            Term::NamedNode(class) => self.srv_mgd_types.contains(class.as_str()),
            _ => false,
        };
        let predicate = triple.predicate.as_str();
        self.srv_mgd_predicates.contains(predicate) || (predicate == RDF_TYPE && is_type)
    }
}

/// The graph of a resource.
#[derive(Debug, Default)]
pub(super) struct Stated(Vec<Triple>);

impl Stated {
    /// Reads an answer.
    pub(super) fn read(media_type: &str, text: &Bytes, base: &str) -> Result<Self> {
        let wrong = |what: String| CliError::new(Kind::Failed, format!("not a graph: {what}"));
        let syntax = Syntax::from_media_type(media_type)
            .ok_or_else(|| wrong(format!("the answer is {media_type:?}")))?;
        // LAKEsuperior decodes the names in addresses, so that `100%25` is `100%` in its graphs.
        let triples = read_any_iris(text, syntax, base, LIMITS);
        let triples = triples.map_err(|error| wrong(error.to_string()))?;
        Ok(Self(triples))
    }

    /// The address of a resource, as its graph names it: of all subjects the shortest that is no blank node.
    pub(super) fn address(&self) -> Option<&str> {
        let named = self.0.iter().filter_map(|triple| match &triple.subject {
            NamedOrBlankNode::NamedNode(node) => Some(node.as_str()),
            NamedOrBlankNode::BlankNode(_) => None,
        });
        named.min_by_key(|address| address.len())
    }

    /// The addresses of the resources that it contains.
    pub(super) fn contained(&self) -> impl Iterator<Item = &str> {
        self.objects(CONTAINS)
    }

    /// The digests that a description of bytes states.
    pub(super) fn digests(&self) -> BTreeMap<String, Vec<u8>> {
        self.objects(HAS_DIGEST).filter_map(digest_of_urn).collect()
    }

    fn objects(&self, predicate: &'static str) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(move |triple| match &triple.object {
            Term::NamedNode(node) if triple.predicate.as_str() == predicate => Some(node.as_str()),
            _ => None,
        })
    }

    /// The same with links below one root that lead below another one.
    pub(super) fn moved(&self, from: &Root, to: &Root) -> Self {
        let node = |node: &NamedNode| NamedNode::new_unchecked(from.moved(node.as_str(), to));
        let moved = self.0.iter().map(|triple| Triple {
            subject: match &triple.subject {
                NamedOrBlankNode::NamedNode(subject) => node(subject).into(),
                blank => blank.clone(),
            },
            predicate: node(&triple.predicate),
            object: match &triple.object {
                Term::NamedNode(object) => node(object).into(),
                other => other.clone(),
            },
        });
        Self(moved.collect())
    }

    /// Without server-managed statements.
    pub(super) fn without(self, managed: &Managed) -> Self {
        Self(self.0.into_iter().filter(|triple| !managed.states(triple)).collect())
    }

    /// Of a description of bytes, without their media type: they have the one with which the source sends them, which may have parameters
    /// that its graph does not have, and the store states that.
    pub(super) fn without_media_type(mut self) -> Self {
        let own = self.address().map(NamedNode::new_unchecked).map(NamedOrBlankNode::from);
        self.0.retain(|triple| {
            triple.predicate.as_str() != HAS_MIME_TYPE || Some(&triple.subject) != own.as_ref()
        });
        self
    }

    /// Whether each statement is one of another graph, whatever the names of their blank nodes.
    pub(super) fn is_within(&self, other: &Self) -> bool {
        let (own, other) = (self.canonical(), other.canonical());
        own.iter().all(|triple| other.contains(triple))
    }

    /// With labels of blank nodes determined by their statements.
    fn canonical(&self) -> Graph {
        canonical(&self.0)
    }

    /// The text of the graph.
    pub(super) fn text(&self) -> Bytes {
        write(&self.0, Syntax::NTriples).expect("N-Triples express every triple").into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stated(text: &str) -> Stated {
        let text = Bytes::copy_from_slice(text.as_bytes());
        Stated::read("text/turtle", &text, "http://h/rest/a").unwrap()
    }

    #[test]
    fn blank_nodes_are_the_same_whatever_their_names() {
        let one = stated("<> <a:p> [ <a:q> 1 ] .");
        assert!(one.is_within(&stated("<> <a:p> [ <a:q> 1 ] ; <a:r> 2 .")));
        assert!(!one.is_within(&stated("<> <a:p> [ <a:q> 2 ] .")));
    }

    #[test]
    fn the_media_type_of_bytes_is_not_one_of_their_statements() {
        let graph =
            format!("<> <{HAS_MIME_TYPE}> \"a/b\" ; <a:p> 1 . <#x> <{HAS_MIME_TYPE}> \"c/d\" .");
        let left = stated(&graph).without_media_type();
        let expected = stated(&format!("<> <a:p> 1 . <#x> <{HAS_MIME_TYPE}> \"c/d\" ."));
        assert!(left.is_within(&expected) && expected.is_within(&left));
    }

    #[test]
    fn names_that_a_source_did_not_encode_are_those_of_the_store() {
        let (from, to) = (Root::new("http://h", "/rest"), Root::new("http://s", "/ldp/x"));
        let moved = stated("<http://h/rest/100%> <a:p> <http://h/rest/\u{fc}> .").moved(&from, &to);
        let wanted = stated("<http://s/ldp/x/100%25> <a:p> <http://s/ldp/x/%C3%BC> .");
        assert!(moved.is_within(&wanted) && wanted.is_within(&moved));
    }

    #[test]
    fn links_are_translated_and_statements_of_the_store_are_left_out() {
        let managed: Managed = serde_json::from_str(
            r#"{"srv_mgd_predicates": ["a:m"], "srv_mgd_types": ["a:T"], "srv_mgd_subjects": []}"#,
        )
        .unwrap();
        let from = Root::new("http://h", "/rest");
        let to = Root::new("http://s", "/ldp/x");
        let moved = stated("<> <a:p> <b> ; <a:m> 1 ; a <a:T>, <a:U> .").moved(&from, &to);
        let expected = "<http://s/ldp/x/a> <a:p> <http://s/ldp/x/b> ; a <a:U> .";
        let left = moved.without(&managed);
        assert!(left.is_within(&stated(expected)) && stated(expected).is_within(&left));
    }
}
