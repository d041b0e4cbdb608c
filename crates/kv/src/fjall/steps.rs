//! The steps of a commit, between which a test can have it fail.

use std::fmt;

/// The progress of a commit. A small group passes `Begin`, `Logged`, `LogSynced` and `Written`; a large one `Begin`,
/// `Written`, `Logged` and `LogSynced`, where the log says only that the tree has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[cfg_attr(not(feature = "conformance"), allow(unreachable_pub, reason = "only tests name it"))]
pub enum Step {
    /// Nothing is written.
    Begin,
    /// Nothing is written: the log is full, and the tree has to be synced before it starts over.
    LogFull,
    /// The log has the record; a power cut may take it.
    Logged,
    /// The log has the record durably.
    LogSynced,
    /// The tree has the group; a large one durably.
    Written,
}

/// Says whether a commit continues.
#[cfg(feature = "conformance")]
type GoOn = Box<dyn Fn(Step) -> bool + Send + Sync>;

/// Called at each step; does nothing outside of tests.
#[derive(Default)]
pub(super) struct Steps {
    #[cfg(feature = "conformance")]
    go_on: Option<GoOn>,
}

impl fmt::Debug for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Steps").finish_non_exhaustive()
    }
}

#[cfg(feature = "conformance")]
impl Steps {
    pub(super) fn new(go_on: impl Fn(Step) -> bool + Send + Sync + 'static) -> Self {
        Self { go_on: Some(Box::new(go_on)) }
    }

    /// Fails as the tree does once a failure in the background has closed it.
    pub(super) fn reach(&self, step: Step) -> fjall::Result<()> {
        match &self.go_on {
            Some(go_on) if !go_on(step) => Err(fjall::Error::Poisoned),
            _ => Ok(()),
        }
    }
}

#[cfg(not(feature = "conformance"))]
impl Steps {
    pub(super) fn reach(&self, _: Step) -> fjall::Result<()> {
        Ok(())
    }
}
