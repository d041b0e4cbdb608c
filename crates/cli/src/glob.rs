//! Patterns in paths of the store: `*`, `?`, `[…]`, `{a,b}` in names, `**` for any depth.
//!
//! A path that exists literally takes precedence over its meaning as a pattern, so that a name
//! with a `*` or `[` in it can be used.

use cenote_client::{At, Client, Resource, ResourceKind};
use futures_util::TryStreamExt;
use globset::{GlobBuilder, GlobMatcher};

use crate::error::{CliError, Kind, Result};
use crate::place::StorePath;

/// Whether a text is to be taken as a pattern.
pub(crate) fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '[', '{'])
}

/// A pattern in which only `**` crosses a `/`.
pub(crate) fn matcher(pattern: &str) -> Result<GlobMatcher> {
    let glob = GlobBuilder::new(pattern).literal_separator(true).build();
    glob.map(|glob| glob.compile_matcher()).map_err(|error| {
        CliError::new(Kind::Usage, format!("not a pattern: {pattern}: {}", error.kind()))
    })
}

/// The resources that paths or patterns match; a pattern must match at least one.
pub(crate) async fn expand(client: &Client, paths: &[StorePath]) -> Result<Vec<Resource>> {
    let mut found = Vec::new();
    for path in paths {
        match client.find(path.as_str()).await? {
            Some(resource) => found.push(resource),
            None if is_pattern(path.as_str()) => found.extend(matches(client, path).await?),
            None => {
                return Err(client
                    .stat(&path.as_str().into())
                    .await
                    .map(drop)
                    .map_or_else(CliError::from, |()| {
                        CliError::new(Kind::Changed, format!("it has just been created: {path}"))
                    }));
            }
        }
    }
    Ok(found)
}

async fn matches(client: &Client, path: &StorePath) -> Result<Vec<Resource>> {
    let matcher = matcher(path.as_str())?;
    let (base, deep) = base(path.as_str());
    let base = At::Path(base);
    let found: Vec<Resource> = if deep {
        let all = client.walk(&base).await?;
        all.try_filter(|resource| std::future::ready(matcher.is_match(&resource.path)))
            .try_collect()
            .await?
    } else {
        by_level(client, base, path.as_str()).await?
    };
    match found.is_empty() {
        true => Err(CliError::new(Kind::NotFound, format!("nothing matches {path}"))
            .hint("use `cenote ls` to list existing paths")),
        false => Ok(found),
    }
}

/// The collection above the first pattern, and whether the pattern reaches any depth.
fn base(path: &str) -> (String, bool) {
    let names: Vec<&str> = path.split('/').skip(1).collect();
    let fixed = names.iter().take_while(|name| !is_pattern(name)).count();
    (format!("/{}", names[..fixed].join("/")), path.contains("**"))
}

/// Lists only the collections that can contain matches.
async fn by_level(client: &Client, base: At, pattern: &str) -> Result<Vec<Resource>> {
    let depth = match &base {
        At::Path(path) => path.split('/').filter(|name| !name.is_empty()).count(),
        At::Id(_) => 0,
    };
    let mut level = vec![client.stat(&base).await?];
    for name in pattern.split('/').filter(|name| !name.is_empty()).skip(depth) {
        let matcher = matcher(name)?;
        let mut next = Vec::new();
        for collection in level.iter().filter(|found| found.kind == ResourceKind::Collection) {
            let children: Vec<Resource> = client.list(&At::Id(collection.id)).try_collect().await?;
            let named =
                |child: &Resource| child.name.as_deref().is_some_and(|n| matcher.is_match(n));
            next.extend(children.into_iter().filter(named));
        }
        level = next;
    }
    Ok(level)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_does_not_match_a_slash() {
        let star = matcher("/lab/*.gsd").unwrap();
        assert!(star.is_match("/lab/a.gsd"));
        assert!(!star.is_match("/lab/run/a.gsd"));
        assert!(matcher("/lab/**/*.gsd").unwrap().is_match("/lab/run/deep/a.gsd"));
        assert!(matcher("/lab/[").is_err());
    }

    #[test]
    fn the_base_is_above_the_first_pattern() {
        assert_eq!(base("/lab/run*/a"), ("/lab".to_owned(), false));
        assert_eq!(base("/*"), ("/".to_owned(), false));
        assert_eq!(base("/a/b/**"), ("/a/b".to_owned(), true));
    }
}
