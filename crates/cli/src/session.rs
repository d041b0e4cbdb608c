//! What a verb works with: the settings, where its output goes, and the store.

use crate::args::GlobalArgs;
use crate::config::Settings;
use crate::error::Result;
use crate::output::Output;
use crate::progress::Progress;

/// One run of the program.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) settings: Settings,
    pub(crate) output: Output,
    pub(crate) progress: Progress,
}

impl Session {
    /// Resolves the settings; nothing is opened until a verb asks for it.
    pub(crate) fn new(args: &GlobalArgs) -> Result<Self> {
        Ok(Self {
            settings: Settings::resolve(args, |name| std::env::var(name).ok())?,
            output: Output::new(args.json, args.quiet),
            progress: Progress::new(!args.no_progress && !args.quiet && !args.json),
        })
    }
}
