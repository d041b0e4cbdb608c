//! Filters that select the part of a tree to transfer.
//!
//! Invariant: excluded files are neither sent nor listed nor removed, on either side; a pattern without
//! effect is reported, since it excludes less than intended.

mod pattern;
#[cfg(test)]
mod reading;
mod syntax;

use self::pattern::Pattern;
use crate::error::{CliError, Kind, Result};
use crate::session::Session;

/// The flags of filters.
#[derive(Debug, clap::Args)]
pub(crate) struct FilterArgs {
    /// Include only files that match (repeatable)
    ///
    /// For the syntax of patterns see --exclude. Directories are included if they contain matching files.
    #[arg(long, value_name = "PATTERN")]
    include: Vec<String>,
    /// Exclude files that match, even if they also match an --include (repeatable)
    ///
    /// Patterns have the same meaning as in rclone: `*.o` and `run?/*.o` match the last names of a path; `/x.o`
    /// matches only at the top; `tmp/` matches a directory of this name and everything below it, whereas `tmp`
    /// matches only files. `*` and `?` do not match a `/`, `**` does; `[a-z]`, `[!a-z]`, `[[:digit:]]` and `\d`
    /// are character classes, `{a,b}` are alternatives; `\` makes the next character literal. A pattern that
    /// matches nothing is reported.
    #[arg(long, value_name = "PATTERN")]
    exclude: Vec<String>,
}

/// Decides by paths below the root of a tree.
#[derive(Debug, Default)]
pub(crate) struct Filter {
    include: Vec<Pattern>,
    exclude: Vec<Pattern>,
}

impl FilterArgs {
    pub(crate) fn filter(&self) -> Result<Filter> {
        Filter::new(&self.include, &self.exclude)
    }
}

impl Filter {
    fn new(include: &[String], exclude: &[String]) -> Result<Self> {
        let include = include.iter().map(|text| Pattern::include(text));
        let exclude = exclude.iter().map(|text| Pattern::exclude(text));
        Ok(Self {
            include: include.collect::<Result<_>>()?,
            exclude: exclude.collect::<Result<_>>()?,
        })
    }

    /// Whether a directory, with everything below, is left out.
    pub(crate) fn excludes_tree(&self, path: &str) -> bool {
        let excluded = any(&self.exclude, |pattern| pattern.matches_tree(path));
        any(&self.include, |pattern| pattern.matches_tree(path));
        excluded
    }

    /// Whether a file or a link is included, if no directory above it is excluded.
    pub(crate) fn takes(&self, path: &str) -> bool {
        !any(&self.exclude, |pattern| pattern.matches_file(path))
            && (self.include.is_empty() || any(&self.include, |pattern| pattern.matches_file(path)))
    }

    /// Whether a directory above this path is left out.
    pub(super) fn excludes_above(&self, path: &str) -> bool {
        let mut above = path.match_indices('/').map(|(at, _)| &path[..at]);
        above.any(|above| self.excludes_tree(above))
    }

    /// Whether only some files take part, so that empty directories do not.
    pub(super) fn is_selective(&self) -> bool {
        !self.include.is_empty()
    }

    /// Refuses an --exclude with a plain name that only directories have, because it would not exclude them. To be
    /// called before anything is sent.
    pub(super) fn check(&self) -> Result<()> {
        match self.exclude.iter().find(|pattern| pattern.is_plain() && pattern.is_near()) {
            None => Ok(()),
            Some(pattern) => {
                let text = pattern.text();
                let message = format!("--exclude {text}: a directory has this name, but no file");
                Err(CliError::new(Kind::Usage, message).hint(format!(
                    "use --exclude {text}/ to exclude the directory and everything below it"
                )))
            }
        }
    }

    /// Warns of each pattern that has matched nothing.
    pub(crate) fn report_unused(&self, session: &Session) {
        let flags = [("--include", &self.include, "/**"), ("--exclude", &self.exclude, "/")];
        for (flag, patterns, end) in flags {
            for pattern in patterns.iter().filter(|pattern| pattern.is_unused()) {
                let text = pattern.text().trim_end_matches('/');
                let directory =
                    format!("to match a directory and everything below it, use {flag} {text}{end}");
                let hint = pattern.is_near().then_some(directory);
                session.warn(&format!("{flag} {} matches nothing", pattern.text()), hint);
            }
        }
    }
}

/// Whether any pattern matches; all are tried, so that each records whether it ever matched.
fn any(patterns: &[Pattern], matches: impl Fn(&Pattern) -> bool) -> bool {
    patterns.iter().fold(false, |found, pattern| matches(pattern) | found)
}
