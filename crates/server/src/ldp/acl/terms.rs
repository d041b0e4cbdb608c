//! The IRIs of Web Access Control and of the vocabularies that it uses.

pub(super) const ACL: &str = "http://www.w3.org/ns/auth/acl#";
/// Everyone, with and without a login.
pub(super) const EVERYONE: &str = "http://xmlns.com/foaf/0.1/Agent";
/// Everyone with a login.
pub(super) const AUTHENTICATED: &str = "http://www.w3.org/ns/auth/acl#AuthenticatedAgent";
pub(super) const HAS_MEMBER: &str = "http://www.w3.org/2006/vcard/ns#hasMember";
/// What the IRIs of groups of the store begin with; their names follow.
pub(super) const GROUPS: &str = "info:fedora/local-group#";
/// The names of everyone with a login, and of everyone without one, in the store.
pub(super) const PUBLIC: &str = "public";
pub(super) const ANONYMOUS: &str = "anonymous";
