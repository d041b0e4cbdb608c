//! One pattern of --include or --exclude, with the same meaning as in rclone.
//!
//! The rules are those of <https://rclone.org/filtering/>: a pattern with a `/` at its start matches whole paths
//! below the root, any other matches whole names at the end of a path; a `/` at the end makes it a pattern of
//! directories.

use std::sync::atomic::{AtomicBool, Ordering};

use regex::Regex;

use super::syntax::translate;
use crate::error::{CliError, Kind, Result};

/// A pattern, and whether it has matched anything yet.
#[derive(Debug)]
pub(super) struct Pattern {
    text: String,
    regex: Regex,
    of: Subject,
    used: AtomicBool,
    /// A directory matches, which the pattern does not apply to.
    near: AtomicBool,
}

/// What a pattern applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Subject {
    /// Files and links.
    Files,
    /// These, and directories with everything below.
    Trees,
    /// Directories are only included along with files: a pattern of directories includes nothing.
    Nothing,
}

impl Pattern {
    pub(super) fn include(text: &str) -> Result<Self> {
        match text.strip_suffix('/') {
            Some(name) => Self::new(text, name, Subject::Nothing),
            None => Self::new(text, text, Subject::Files),
        }
    }

    pub(super) fn exclude(text: &str) -> Result<Self> {
        match text {
            tree if tree.ends_with('/') => Self::new(text, &format!("{tree}**"), Subject::Trees),
            tree if crosses_directories(tree) => Self::new(text, tree, Subject::Trees),
            file => Self::new(text, file, Subject::Files),
        }
    }

    fn new(text: &str, glob: &str, of: Subject) -> Result<Self> {
        let regex = translate(glob);
        let regex = regex.and_then(|regex| Regex::new(&regex).map_err(|error| error.to_string()));
        let wrong = |reason| {
            CliError::new(Kind::Usage, format!("not a pattern: `{text}`: {reason}"))
                .hint("see `cenote help put` for the syntax of patterns")
        };
        let (text, regex) = (text.to_owned(), regex.map_err(wrong)?);
        Ok(Self { text, regex, of, used: AtomicBool::new(false), near: AtomicBool::new(false) })
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Whether it matches a file or a link.
    pub(super) fn matches_file(&self, path: &str) -> bool {
        noted(&self.used, self.of != Subject::Nothing && self.regex.is_match(path))
    }

    /// Whether it matches a directory, and with it everything below.
    pub(super) fn matches_tree(&self, path: &str) -> bool {
        match self.of {
            Subject::Trees => noted(&self.used, self.regex.is_match(&format!("{path}/"))),
            Subject::Files | Subject::Nothing => {
                noted(&self.near, self.regex.is_match(path));
                false
            }
        }
    }

    /// Whether it has matched nothing so far.
    pub(super) fn is_unused(&self) -> bool {
        !self.used.load(Ordering::Relaxed)
    }

    /// Whether it has matched only directories, which it does not apply to.
    pub(super) fn is_near(&self) -> bool {
        self.is_unused() && self.near.load(Ordering::Relaxed)
    }

    /// Whether it is a name or a path, without wildcards.
    pub(super) fn is_plain(&self) -> bool {
        !self.text.contains(['*', '?', '[', '{', '\\'])
    }
}

/// Whether there is a `**` whose stars are not letters, as that of `\**` is.
fn crosses_directories(glob: &str) -> bool {
    glob.replace(r"\\", "").replace(r"\*", "").contains("**")
}

fn noted(note: &AtomicBool, matched: bool) -> bool {
    note.fetch_or(matched, Ordering::Relaxed);
    matched
}
