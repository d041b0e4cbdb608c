//! What an opening does with links that lead to nothing.

/// What becomes of statements that link to what their writer or reader does not see, or what was removed, where no collection has a
/// setting ([`LinkIntegrity`](super::LinkIntegrity)): a protocol may have a rule of its own for that.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Dangling {
    /// They are written as text, and are shown.
    #[default]
    Kept,
    /// Written ones are left out. Those whose target was removed since are not shown, and a change of the other statements keeps them: they
    /// are there again when the target is. Only objects count.
    LeftOut,
}
