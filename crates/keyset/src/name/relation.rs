//! Relations between names (`keyIsBelow` and similar). If either name is cascading, the namespace is ignored.

use super::{KeyName, NameRef};
use crate::Namespace;

impl KeyName {
    /// Whether this name is `above` or below it (`keyIsBelowOrSame`).
    pub fn is_below_or_same(&self, above: &Self) -> bool {
        self.borrow().is_below_or_same(above.borrow())
    }

    /// Whether this name is below `above` (`keyIsBelow`).
    pub fn is_below(&self, above: &Self) -> bool {
        self.borrow().is_below(above.borrow())
    }

    /// Whether this name is `above` plus one part (`keyIsDirectlyBelow`).
    pub fn is_directly_below(&self, above: &Self) -> bool {
        self.is_below(above) && self.parts().count() == above.parts().count() + 1
    }
}

impl NameRef<'_> {
    /// Whether this name is `above` or below it.
    pub fn is_below_or_same(self, above: NameRef<'_>) -> bool {
        below_or_same(&above.unescaped(), &self.unescaped())
    }

    /// Whether this name is below `above`.
    pub fn is_below(self, above: NameRef<'_>) -> bool {
        let (above, below) = (above.unescaped(), self.unescaped());
        above.len() != below.len() && below_or_same(&above, &below)
    }
}

/// The same for unescaped names.
fn below_or_same(above: &[u8], below: &[u8]) -> bool {
    const ROOT_LEN: usize = 3;
    const CASCADING: u8 = Namespace::Cascading as u8;
    let one_cascading = (above[0] == CASCADING) != (below[0] == CASCADING);
    if one_cascading && above.len() == ROOT_LEN && below.len() == ROOT_LEN {
        return false;
    }
    let stem = if above.len() == ROOT_LEN { &above[..ROOT_LEN - 1] } else { above };
    let from = usize::from(one_cascading);
    below.len() >= stem.len() && below[from..].starts_with(&stem[from..])
}
