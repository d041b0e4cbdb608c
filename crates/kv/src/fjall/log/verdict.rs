//! What becomes of a catalog when it is opened: the whole decision, as one function.
//!
//! The tree is the base; the groups of the log that follow from it are replayed. Then three witnesses say how far that
//! must reach: a group behind a gap (it was written only after the one in the gap was acknowledged), a group that says
//! it is in the tree, and the mark. If a log that was in use is missing, that is damage, unless the engine was closed
//! after exactly the version of the tree.
//!
//! | the log | the mark | then |
//! |---|---|---|
//! | never in use, in whatever state | any | as far as there are groups; all that the mark says must be there |
//! | whole | missing or unreadable | as far as there are groups |
//! | whole | up to v | as far as there are groups; v must be reached |
//! | gone | closed after v | nothing is replayed; the tree must be at v |
//! | gone | anything else | damage |

use std::fmt;

use super::mark::{self, Recorded};
use super::{Found, Group};
use crate::Version;

/// What is known before the decision.
#[derive(Debug, Clone)]
pub(in crate::fjall) struct Evidence {
    /// The newest commit in the tree.
    pub(in crate::fjall) tree: Version,
    /// Whether the tree records that there are a log and a mark of this layout.
    pub(in crate::fjall) in_use: bool,
    pub(in crate::fjall) log: Found,
    pub(in crate::fjall) mark: mark::Found,
}

/// What to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::fjall) struct Verdict {
    /// Groups that the tree has not, each following from the one before.
    pub(in crate::fjall) replay: Vec<Group>,
    /// What is missing after them; none if the catalog is whole.
    pub(in crate::fjall) lost: Option<Lost>,
}

/// Commits that were acknowledged, or may have been, and are nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::fjall) struct Lost {
    /// The newest commit before them.
    pub(in crate::fjall) reached: Version,
    /// The newest of them that is known of.
    pub(in crate::fjall) last: Option<Version>,
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = self.reached + 1;
        match self.last {
            Some(last) => write!(f, "commits {first} to {last} are lost"),
            None => write!(
                f,
                "the log is gone, and with it all commits from {first} on, if there were any"
            ),
        }
    }
}

impl Evidence {
    /// Decides.
    pub(in crate::fjall) fn judge(self) -> Verdict {
        let (in_use, gone) = (self.is_in_use(), !matches!(self.log, Found::Whole(_)));
        let recorded = self.recorded();
        let (replay, reached, beyond) = match self.log {
            Found::Whole(groups) => follow(self.tree, groups),
            Found::Headless(groups) if !in_use => follow(self.tree, groups),
            _ => (Vec::new(), self.tree, None),
        };
        let acknowledged = recorded.map(|recorded| recorded.version);
        let last = acknowledged.filter(|version| *version > reached).max(beyond);
        let is_settled = recorded == Some(Recorded { version: reached, closed: true });
        let is_damaged = last.is_some() || in_use && gone && !is_settled;
        Verdict { replay, lost: is_damaged.then_some(Lost { reached, last }) }
    }

    /// So does the mark, once there was a commit.
    fn is_in_use(&self) -> bool {
        self.in_use || self.recorded().is_some_and(|recorded| !recorded.closed)
    }

    fn recorded(&self) -> Option<Recorded> {
        match self.mark {
            mark::Found::Readable(recorded) => Some(recorded),
            _ => None,
        }
    }
}

/// The groups that follow from `tree` one after the other, how far they reach, and the newest commit known of behind
/// them.
fn follow(tree: Version, mut groups: Vec<Group>) -> (Vec<Group>, Version, Option<Version>) {
    groups.retain(|group| group.after > tree);
    groups.sort_by_key(|group| (group.before, group.after));
    let newest = groups.iter().map(|group| group.after).max();
    let (mut replay, mut reached) = (Vec::new(), tree);
    for group in groups {
        if group.before == reached && !group.is_settled() {
            reached = group.after;
            replay.push(group);
        }
    }
    (replay, reached, newest.filter(|newest| *newest > reached))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use proptest::prelude::*;

    use super::*;

    fn group(before: Version, after: Version) -> Group {
        Group { before, after, rows: vec![(Bytes::from_static(b"k"), None)] }
    }

    fn mark(version: Version, closed: bool) -> mark::Found {
        mark::Found::Readable(Recorded { version, closed })
    }

    /// Where it ends: `Ok` the version, `Err` that it is damaged after that version, up to another if that is known.
    fn end(evidence: &Evidence) -> Result<Version, (Version, Option<Version>)> {
        let verdict = evidence.clone().judge();
        let reached = verdict.replay.last().map_or(evidence.tree, |last| last.after);
        match verdict.lost {
            None => Ok(reached),
            Some(lost) => {
                assert_eq!(lost.reached, reached);
                Err((reached, lost.last))
            }
        }
    }

    /// A tree at 5, and a log that continues to 7, or has nothing new, or a gap, or what the tree should have.
    #[test]
    fn the_table_of_verdicts() {
        use mark::Found::{Missing as NoMark, Unreadable};
        let on = || Found::Whole(vec![group(4, 5), group(5, 6), group(6, 7)]);
        let old = || Found::Whole(vec![group(3, 4), group(4, 5)]);
        let gap = || Found::Whole(vec![group(5, 6), group(7, 8)]);
        let settled = || Found::Whole(vec![group(5, 8).settled()]);
        let empty = || Found::Headless(Vec::new());
        let first = || Found::Headless(vec![group(4, 5), group(5, 6)]);
        let unknown = Err((5, None));
        let table = [
            // Stores of earlier versions, and new ones.
            (false, Found::Missing, NoMark, Ok(5)),
            (false, empty(), NoMark, Ok(5)),
            (false, first(), NoMark, Ok(6)),
            (false, on(), NoMark, Ok(7)),
            // Only the mark shows that there was a log.
            (false, on(), mark(7, false), Ok(7)),
            (false, Found::Missing, mark(5, false), unknown),
            // A log that was being created.
            (false, Found::Missing, mark(5, true), Ok(5)),
            (false, first(), Unreadable, Ok(6)),
            // A complete log.
            (true, on(), NoMark, Ok(7)),
            (true, on(), Unreadable, Ok(7)),
            (true, on(), mark(5, false), Ok(7)),
            (true, on(), mark(7, false), Ok(7)),
            (true, on(), mark(7, true), Ok(7)),
            (true, on(), mark(9, false), Err((7, Some(9)))),
            (true, on(), mark(9, true), Err((7, Some(9)))),
            (true, old(), mark(5, false), Ok(5)),
            (true, old(), mark(5, true), Ok(5)),
            (true, old(), mark(6, false), Err((5, Some(6)))),
            (true, gap(), mark(6, false), Err((6, Some(8)))),
            (true, gap(), NoMark, Err((6, Some(8)))),
            (true, settled(), NoMark, Err((5, Some(8)))),
            (true, settled(), mark(8, true), Err((5, Some(8)))),
            // A missing log.
            (true, Found::Missing, mark(5, true), Ok(5)),
            (true, empty(), mark(5, true), Ok(5)),
            (true, Found::Missing, mark(5, false), unknown),
            (true, empty(), mark(5, false), unknown),
            (true, first(), mark(5, false), unknown),
            (true, Found::Missing, mark(7, true), Err((5, Some(7)))),
            (true, Found::Missing, mark(3, true), unknown),
            (true, Found::Missing, NoMark, unknown),
            (true, empty(), Unreadable, unknown),
        ];
        for (in_use, log, mark, expected) in table {
            let evidence = Evidence { tree: 5, in_use, log, mark };
            assert_eq!(end(&evidence), expected, "{evidence:?}");
        }
    }

    #[test]
    fn losses_are_reported() {
        let lost = |last| Lost { reached: 5, last }.to_string();
        assert_eq!(lost(Some(8)), "commits 6 to 8 are lost");
        assert!(lost(None).contains("all commits from 6 on"));
    }

    /// A true history: groups of some commits each up to `end`, of which the tree and the mark have a part.
    fn history() -> impl Strategy<Value = (Vec<Group>, Version, Version)> {
        (
            prop::collection::vec(1..4u64, 1..12),
            any::<prop::sample::Index>(),
            any::<prop::sample::Index>(),
        )
            .prop_map(|(sizes, tree, mark)| {
                let ends: Vec<Version> = std::iter::once(0)
                    .chain(sizes.iter().scan(0, |end, size| {
                        *end += size;
                        Some(*end)
                    }))
                    .collect();
                let groups = ends.windows(2).map(|ends| group(ends[0], ends[1])).collect();
                (groups, ends[tree.index(ends.len())], ends[mark.index(ends.len())])
            })
    }

    proptest! {
        /// Whatever is left of the log, the acknowledged version is reached, or its loss is reported: only the loss of
        /// the very last groups, beyond the mark, is silent.
        #[test]
        fn no_loss_before_the_mark_or_before_a_group_is_silent(
            (groups, tree, acknowledged) in history(),
            kept in prop::collection::vec(any::<bool>(), 12),
            closed in any::<bool>(),
        ) {
            let end = groups.last().map_or(0, |last| last.after);
            let left: Vec<Group> =
                groups.iter().zip(&kept).filter(|(_, kept)| **kept).map(|(group, _)| group.clone()).collect();
            let newest = left.iter().map(|group| group.after).max().unwrap_or(0);
            let whole = groups.iter().zip(&kept).all(|(group, kept)| *kept || group.after <= tree);
            let log = Found::Whole(left);
            let verdict = Evidence { tree, in_use: true, log, mark: mark(acknowledged, closed) }.judge();
            let reached = verdict.replay.last().map_or(tree, |last| last.after);
            prop_assert!(reached <= end);
            match verdict.lost {
                None => prop_assert!(reached >= newest.max(acknowledged)),
                Some(lost) => prop_assert!(!whole && lost.last.is_some_and(|last| last > reached && last <= end)),
            }
            prop_assert_eq!(whole && reached != end, false);
        }

        #[test]
        fn a_missing_log_is_never_treated_as_empty(
            tree in 0..9u64, version in 0..9u64, closed in any::<bool>(), missing in any::<bool>(),
        ) {
            let log = if missing { Found::Missing } else { Found::Headless(Vec::new()) };
            let verdict = Evidence { tree, in_use: true, log, mark: mark(version, closed) }.judge();
            prop_assert_eq!(verdict.lost.is_none(), closed && version == tree);
        }
    }
}
