//! How many statements a pattern matches, roughly: what decides which pattern of a query is looked for first.
//!
//! Nothing is kept for it, so that a write costs nothing. A few entries of the index are read: a range that has no more is counted. Where it has
//! more, they tell how dense it is: keys of texts are hashes, and ids were assigned in sequence.

use std::ops::RangeInclusive;

use cenote_kv::KeyRange;

use super::Dataset;
use crate::Result;
use crate::catalog::{Reads, keys};
use crate::metadata::index::{Sought, WithAnyPredicate, order, predicate_keys};
use crate::metadata::quads::Pattern;

/// How many entries are read of one range; the second number only if the first ones are all at one position.
const READ: [usize; 2] = [64, 512];

impl Dataset<'_> {
    /// Roughly how many statements of descriptions match.
    pub fn estimate(&self, pattern: &Pattern) -> Result<u64> {
        let pattern = pattern.canonical(&self.links)?;
        if let Some(text) = pattern.bare_literal() {
            return self.of_literal(text);
        }
        let ranges = match &pattern {
            Pattern { object: Some(object), predicate, .. } => {
                let sought = Sought::new(&self.links, object.text())?;
                match predicate {
                    Some(predicate) => sought.of_predicate(predicate),
                    None => sought.objects(),
                }
            }
            Pattern { predicate: Some(predicate), .. } => {
                return self.of_predicate(predicate, &order::classes());
            }
            _ => return self.count(&keys::graphs()).map(|graphs| graphs.saturating_mul(16)),
        };
        let counts = ranges.iter().map(|range| self.count(range));
        counts.sum()
    }

    /// The same of a literal with any predicate.
    fn of_literal(&self, text: &str) -> Result<u64> {
        let mut count = 0;
        for entry in WithAnyPredicate::new(self.view, text).take(READ[1]) {
            entry?;
            count += 1;
        }
        Ok(count)
    }

    /// How many entries a range of one object has, in the order of ids.
    fn count(&self, range: &KeyRange) -> Result<u64> {
        self.spread(range, keys::last_id)
    }

    /// The same of those that [`stating_between`](Self::stating_between) leads to.
    pub fn estimate_between(
        &self,
        predicate: &str,
        (least, most): (Option<&str>, Option<&str>),
    ) -> Result<u64> {
        let between = order::between(least, most);
        let of = |class: &RangeInclusive<u64>| {
            let (start, end) = (*class.start(), *class.end());
            let within = |it: &RangeInclusive<u64>| start.max(*it.start())..=end.min(*it.end());
            between.iter().map(within).filter(|both| !both.is_empty()).collect::<Vec<_>>()
        };
        let classes: Vec<_> = order::classes().iter().flat_map(of).collect();
        self.of_predicate(predicate, &classes)
    }

    fn of_predicate(&self, predicate: &str, objects: &[RangeInclusive<u64>]) -> Result<u64> {
        let mut sum = 0;
        for key in predicate_keys(predicate) {
            for range in objects {
                sum += self.in_range(key, range.clone())?;
            }
        }
        Ok(sum)
    }

    /// How many entries of a predicate have objects in a range of one class.
    fn in_range(&self, predicate: u64, class: RangeInclusive<u64>) -> Result<u64> {
        self.spread(&keys::statements_between(predicate, class), keys::object_of_statement)
    }

    /// How many entries a range has, if the others are as dense in positions as those that are read.
    fn spread(&self, range: &KeyRange, position: impl Fn(&[u8]) -> Option<u64>) -> Result<u64> {
        for limit in READ {
            let rows = self.view.rows(range, limit)?;
            let count = rows.len();
            let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return Ok(0) };
            if count < limit {
                return Ok(count as u64);
            }
            let (first, reached) = (position(&first.0), position(&last.0));
            let Some((first, read)) =
                first.zip(reached).map(|(first, it)| (first, it.saturating_sub(first)))
            else {
                continue;
            };
            if read > 0 {
                let end = self.view.last(range)?.and_then(|(key, _)| position(&key));
                let all = end.map_or(read, |end| end.saturating_sub(first));
                // A count beyond the precision of a float is an estimate anyway.
                return Ok((count as f64 * (all as f64 / read as f64)) as u64);
            }
        }
        Ok(READ[1] as u64)
    }
}
