//! The IRIs of this opening.
//!
//! Source: LDP 1.0, the Fedora API specification (2018-11-22), and what fcrepo 6 and LAKEsuperior emit.

pub(crate) const LDP: &str = "http://www.w3.org/ns/ldp#";
pub(crate) const RDF_TYPE: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
pub(crate) const XSD: &str = "http://www.w3.org/2001/XMLSchema#";
/// The namespace of the Fedora API's own terms, and of LAKEsuperior's.
pub(crate) const FCREPO: &str = "http://fedora.info/definitions/fcrepo#";
/// The namespace that fcrepo 4 to 7 emits.
pub(crate) const FEDORA: &str = "http://fedora.info/definitions/v4/repository#";
/// The relation of a link to bytes that are elsewhere.
pub(crate) const EXTERNAL: &str = "http://fedora.info/definitions/fcrepo#ExternalContent";
/// The terms for external bytes in a description.
pub(crate) const PROXY_FOR: &str = "http://fedora.info/definitions/v4/repository#proxyFor";
pub(crate) const REDIRECTS_TO: &str = "http://fedora.info/definitions/v4/repository#redirectsTo";
pub(crate) const PREMIS: &str = "http://www.loc.gov/premis/rdf/v1#";
pub(crate) const HAS_MIME_TYPE: &str =
    "http://www.ebu.ch/metadata/ontologies/ebucore/ebucore#hasMimeType";
/// The predicate of the name under which bytes were sent.
pub(crate) const FILENAME: &str = "http://www.ebu.ch/metadata/ontologies/ebucore/ebucore#filename";
pub(crate) const CONTAINS: &str = "http://www.w3.org/ns/ldp#contains";
pub(crate) const MEMBERSHIP_RESOURCE: &str = "http://www.w3.org/ns/ldp#membershipResource";
pub(crate) const HAS_MEMBER_RELATION: &str = "http://www.w3.org/ns/ldp#hasMemberRelation";
pub(crate) const IS_MEMBER_OF_RELATION: &str = "http://www.w3.org/ns/ldp#isMemberOfRelation";
pub(crate) const INSERTED_CONTENT_RELATION: &str =
    "http://www.w3.org/ns/ldp#insertedContentRelation";
pub(crate) const MEMBER: &str = "http://www.w3.org/ns/ldp#member";
pub(crate) const MEMBER_SUBJECT: &str = "http://www.w3.org/ns/ldp#MemberSubject";
