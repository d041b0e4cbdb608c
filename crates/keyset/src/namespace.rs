//! The namespaces of key names. Their byte in an unescaped name is their position in the order of key sets, so `Ord`
//! is consistent with it.

/// The namespace of a key name (Elektra `enum elektraNamespace`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Namespace {
    /// `/…`: a name for lookups in all namespaces.
    Cascading = 1,
    /// `meta:/…`: names of metakeys.
    Meta = 2,
    /// `spec:/…`: specifications.
    Spec = 3,
    /// `proc:/…`: in-memory keys of one process.
    Proc = 4,
    /// `dir:/…`: keys of the current directory.
    Dir = 5,
    /// `user:/…`: keys of the user.
    User = 6,
    /// `system:/…`: keys of the machine.
    System = 7,
    /// `default:/…`: defaults made from specifications.
    Default = 8,
}

impl Namespace {
    /// All namespaces in the order of key sets.
    pub const ALL: [Self; 8] = [
        Self::Cascading,
        Self::Meta,
        Self::Spec,
        Self::Proc,
        Self::Dir,
        Self::User,
        Self::System,
        Self::Default,
    ];

    /// The text before the first slash: `user:`, or nothing for cascading names.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Cascading => "",
            Self::Meta => "meta:",
            Self::Spec => "spec:",
            Self::Proc => "proc:",
            Self::Dir => "dir:",
            Self::User => "user:",
            Self::System => "system:",
            Self::Default => "default:",
        }
    }

    /// The first byte of an unescaped name.
    pub fn byte(self) -> u8 {
        self as u8
    }

    /// The namespace called `word` (`user`, `system`, …), case-sensitive.
    pub fn from_word(word: &[u8]) -> Option<Self> {
        Self::ALL[1..]
            .iter()
            .copied()
            .find(|ns| ns.prefix().as_bytes().strip_suffix(b":") == Some(word))
    }

    /// The namespace of a name that is known to be valid.
    pub(crate) fn of_canonical(name: &[u8]) -> Self {
        match name {
            [b'/', ..] => Self::Cascading,
            [b'm', ..] => Self::Meta,
            [b's', b'p', ..] => Self::Spec,
            [b'p', ..] => Self::Proc,
            [b'd', b'i', ..] => Self::Dir,
            [b'u', ..] => Self::User,
            [b's', ..] => Self::System,
            _ => Self::Default,
        }
    }
}

impl std::fmt::Display for Namespace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.prefix().trim_end_matches(':'))
    }
}
