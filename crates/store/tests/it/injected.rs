//! Work that an engine does once, at a chosen moment of a call: what another client does just then.

use std::fmt;
use std::sync::{Arc, Mutex};

type Work = Box<dyn FnOnce() + Send>;

/// Shared by an engine and the test that sets the work.
#[derive(Clone, Default)]
pub(crate) struct Injected(Arc<Mutex<Option<Work>>>);

impl Injected {
    pub(crate) fn set(&self, work: impl FnOnce() + Send + 'static) {
        *self.0.lock().unwrap() = Some(Box::new(work));
    }

    /// Does the work, unless it was done before. The work may call the engine.
    pub(crate) fn run(&self) {
        let work = self.0.lock().unwrap().take();
        work.into_iter().for_each(|work| work());
    }
}

impl fmt::Debug for Injected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Injected").finish_non_exhaustive()
    }
}
