//! How far an index goes. It is written with each commit of the index, and says what its documents are made from.

use std::fmt;
use std::str::FromStr;

use cenote_store::{Mark, ResourceId};

/// How far an index goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stage {
    /// All resources are being read, by id. Those up to `read` were as they are after `from`, or later.
    Reading {
        /// The newest change when the reading began.
        from: Mark,
        read: Option<ResourceId>,
    },
    /// Everything is as it was at a mark, or later.
    Complete(Mark),
}

/// The version of what is in a document: another one is made anew.
const FORMAT: &str = "1";

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reading { from, read: None } => write!(f, "{FORMAT} reading {from}"),
            Self::Reading { from, read: Some(id) } => write!(f, "{FORMAT} reading {from} {id}"),
            Self::Complete(mark) => write!(f, "{FORMAT} complete {mark}"),
        }
    }
}

/// The text is not a stage of this format.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Other;

impl FromStr for Stage {
    type Err = Other;

    fn from_str(text: &str) -> Result<Self, Other> {
        let mark = |text: &str| text.parse().map_err(|_| Other);
        let id = |text: &str| text.parse().map(ResourceId).map_err(|_| Other);
        match text.split(' ').collect::<Vec<_>>()[..] {
            [FORMAT, "reading", from] => Ok(Self::Reading { from: mark(from)?, read: None }),
            [FORMAT, "reading", from, read] => {
                Ok(Self::Reading { from: mark(from)?, read: Some(id(read)?) })
            }
            [FORMAT, "complete", at] => Ok(Self::Complete(mark(at)?)),
            _ => Err(Other),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_stage_round_trips(position in "[0-9a-f]{24}", print in "[0-9a-f]{16}", id: u64) {
            let mark: Mark = format!("{position}-{print}").parse().unwrap();
            for stage in [
                Stage::Reading { from: mark.clone(), read: None },
                Stage::Reading { from: mark.clone(), read: Some(ResourceId(id)) },
                Stage::Complete(mark),
            ] {
                prop_assert_eq!(stage.to_string().parse::<Stage>(), Ok(stage));
            }
        }

        #[test]
        fn any_text_is_a_stage_or_refused(text in "([12] (reading|complete) [0-9a-f]{24}-[0-9a-f]{1,16}( [0-9]{0,21})?|\\PC{0,20})") {
            if let Ok(stage) = text.parse::<Stage>() {
                prop_assert_eq!(stage.to_string().parse::<Stage>(), Ok(stage));
            }
        }
    }
}
