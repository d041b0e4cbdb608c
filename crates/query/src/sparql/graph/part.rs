//! The three graphs of a resource, as LAKEsuperior names them.

/// Which of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Part {
    /// What the server manages.
    Admin,
    /// What it contains.
    Structure,
    /// What was stated.
    Main,
}

impl Part {
    const ALL: [Self; 3] = [Self::Admin, Self::Structure, Self::Main];

    /// What its name begins with; the path follows.
    pub(crate) fn prefix(self) -> &'static str {
        match self {
            Self::Admin => "info:fcsystem/graph/admin",
            Self::Structure => "info:fcsystem/graph/structure",
            Self::Main => "info:fcsystem/graph/userdata/_main",
        }
    }

    /// The part that a name is of, and the path.
    pub(crate) fn of(iri: &str) -> Option<(Self, &str)> {
        let rest = |part: Self| Some((part, iri.strip_prefix(part.prefix())?));
        Self::ALL.into_iter().find_map(rest).filter(|(_, path)| path.starts_with('/'))
    }
}
