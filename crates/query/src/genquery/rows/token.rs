//! The words that iRODS numbers: kinds of users, and levels of access. The numbers are those of its catalog
//! (`R_TOKN_MAIN`), which some stored queries select.

/// A numbered word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) namespace: &'static str,
    pub(crate) id: u32,
    pub(crate) name: &'static str,
}

const fn user(id: u32, name: &'static str) -> Token {
    Token { namespace: "user_type", id, name }
}

const fn access(id: u32, name: &'static str) -> Token {
    Token { namespace: "access_type", id, name }
}

pub(crate) const TOKENS: [Token; 14] = [
    user(200, "rodsgroup"),
    user(201, "rodsadmin"),
    user(202, "rodsuser"),
    user(204, "groupadmin"),
    access(1000, "null"),
    access(1040, "read_metadata"),
    access(1050, "read_object"),
    access(1070, "create_metadata"),
    access(1080, "modify_metadata"),
    access(1090, "delete_metadata"),
    access(1110, "create_object"),
    access(1120, "modify_object"),
    access(1130, "delete_object"),
    access(1200, "own"),
];
