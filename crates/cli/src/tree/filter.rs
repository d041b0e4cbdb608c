//! Which part of a tree takes part.

use globset::GlobMatcher;

use crate::error::Result;
use crate::glob::matcher;

/// The flags of filters.
#[derive(Debug, clap::Args)]
pub(crate) struct FilterArgs {
    /// Only files that match, by name, or by path below the source if it has a `/` (may be given
    /// again)
    #[arg(long, value_name = "PATTERN")]
    include: Vec<String>,
    /// Leave out what matches, and all that lies below (may be given again)
    #[arg(long, value_name = "PATTERN")]
    exclude: Vec<String>,
}

/// Decides by paths below the root of a tree.
#[derive(Debug, Default)]
pub(crate) struct Filter {
    include: Vec<Pattern>,
    exclude: Vec<Pattern>,
}

#[derive(Debug)]
struct Pattern {
    matcher: GlobMatcher,
    by_path: bool,
}

impl Pattern {
    fn new(text: &str) -> Result<Self> {
        let anchored = text.trim_start_matches('/');
        Ok(Self { matcher: matcher(anchored)?, by_path: text.contains('/') })
    }

    fn matches(&self, path: &str) -> bool {
        match self.by_path {
            true => self.matcher.is_match(path),
            false => self.matcher.is_match(path.rsplit('/').next().unwrap_or(path)),
        }
    }
}

impl FilterArgs {
    pub(crate) fn filter(&self) -> Result<Filter> {
        let patterns = |texts: &[String]| {
            texts.iter().map(|text| Pattern::new(text)).collect::<Result<Vec<_>>>()
        };
        Ok(Filter { include: patterns(&self.include)?, exclude: patterns(&self.exclude)? })
    }
}

impl Filter {
    /// Whether what is at this path, and what lies below, is left out.
    pub(super) fn excludes(&self, path: &str) -> bool {
        self.exclude.iter().any(|pattern| pattern.matches(path))
    }

    /// The same for a path of which the parents have not been asked about.
    pub(super) fn excludes_deep(&self, path: &str) -> bool {
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        ends.map(|end| &path[..end]).any(|path| self.excludes(path))
    }

    /// Whether a file or link at this path takes part.
    pub(super) fn includes(&self, path: &str) -> bool {
        self.include.is_empty() || self.include.iter().any(|pattern| pattern.matches(path))
    }

    /// Whether only some files take part, so that empty directories do not.
    pub(super) fn is_selective(&self) -> bool {
        !self.include.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(include: &[&str], exclude: &[&str]) -> Filter {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        FilterArgs { include: texts(include), exclude: texts(exclude) }.filter().unwrap()
    }

    #[test]
    fn a_pattern_without_a_slash_is_about_names() {
        let filter = filter(&["*.gsd"], &["tmp"]);
        assert!(filter.includes("a/b/x.gsd") && !filter.includes("a/b/x.txt"));
        assert!(filter.excludes_deep("a/tmp/x.gsd") && !filter.excludes_deep("a/tmpfile"));
    }

    #[test]
    fn a_pattern_with_a_slash_is_about_paths_from_the_root() {
        let filter = filter(&[], &["/target", "a/*.o"]);
        assert!(filter.excludes_deep("target/x") && !filter.excludes_deep("a/target"));
        assert!(filter.excludes("a/x.o") && !filter.excludes("b/a/x.o"));
    }
}
