//! Progress of long work: a bar on a terminal, silence elsewhere.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Makes the bars of a verb, or none.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Progress {
    enabled: bool,
}

impl Progress {
    /// Bars, if enabled; indicatif itself shows nothing if stderr is not a terminal.
    pub(crate) fn new(enabled: bool) -> Self {
        Self { enabled }
    }

    /// A bar over this many bytes.
    pub(crate) fn bytes(self, total: u64) -> ProgressBar {
        self.bar(
            total,
            "{msg:.dim} {bar:32} {binary_bytes}/{binary_total_bytes} {binary_bytes_per_sec} {eta}",
        )
    }

    /// A bar over this many things.
    pub(crate) fn count(self, total: u64, things: &'static str) -> ProgressBar {
        self.bar(total, "{msg:.dim} {bar:32} {pos}/{len} {eta}").with_message(things)
    }

    /// Something that turns, with a message, where the total is not known.
    pub(crate) fn spinner(self) -> ProgressBar {
        self.bar(0, "{spinner} {msg}")
    }

    fn bar(self, total: u64, template: &str) -> ProgressBar {
        if !self.enabled {
            return ProgressBar::hidden();
        }
        let style = ProgressStyle::with_template(template).expect("the templates are constants");
        ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr()).with_style(style)
    }
}
