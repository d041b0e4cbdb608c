//! The three graphs of a resource, and those about graphs, as LAKEsuperior names them.

/// Which of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Part {
    /// What the server manages.
    Admin,
    /// What it contains.
    Structure,
    /// What was stated.
    Main,
    /// What is known of the other graphs: one graph for all resources.
    Meta,
    /// What is known of the graphs of versions: one graph, too.
    History,
}

impl Part {
    /// Those that each resource has for itself.
    pub(crate) const OF_RESOURCE: [Self; 3] = [Self::Admin, Self::Structure, Self::Main];

    /// What its name begins with; the path follows, for those of a resource.
    pub(crate) fn prefix(self) -> &'static str {
        match self {
            Self::Admin => "info:fcsystem/graph/admin",
            Self::Structure => "info:fcsystem/graph/structure",
            Self::Main => "info:fcsystem/graph/userdata/_main",
            Self::Meta => "info:fcsystem/meta",
            Self::History => "info:fcsystem/histmeta",
        }
    }

    /// The type of such a graph.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Self::Admin => "info:fcsystem/AdminGraph",
            Self::Structure => "info:fcsystem/StructureGraph",
            Self::Main => "info:fcsystem/UserProvidedGraph",
            Self::Meta | Self::History => "info:fcsystem/MetaGraph",
        }
    }

    /// The part that a name is of, and the path.
    pub(crate) fn of(iri: &str) -> Option<(Self, &str)> {
        let rest = |part: Self| Some((part, iri.strip_prefix(part.prefix())?));
        Self::OF_RESOURCE.into_iter().find_map(rest).filter(|(_, path)| path.starts_with('/'))
    }
}
