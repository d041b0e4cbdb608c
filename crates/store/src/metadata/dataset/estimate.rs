//! How many statements a pattern matches, roughly: what decides which pattern of a query is looked for first.
//!
//! Nothing is kept for it, so that a write costs nothing. The index is read for a while: what has few entries is counted. Where
//! it has more, those that were read tell how dense it is: keys of texts are hashes, and those of links are ids that were assigned in sequence.

use std::ops::RangeInclusive;

use cenote_kv::KeyRange;

use super::Dataset;
use crate::Result;
use crate::catalog::{Reads, keys};
use crate::metadata::index::{Sought, WithAnyPredicate, order, predicate_keys};
use crate::metadata::quads::Pattern;

/// How many entries are read of one range.
const READ: usize = 512;

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
        for entry in WithAnyPredicate::new(self.view, text).take(READ) {
            entry?;
            count += 1;
        }
        Ok(count)
    }

    /// How many entries a range has: at least so many, if that is [`READ`].
    fn count(&self, range: &KeyRange) -> Result<u64> {
        Ok(self.view.rows(range, READ)?.len() as u64)
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
        let range = keys::statements_between(predicate, class.clone());
        let rows = self.view.rows(&range, READ)?;
        let count = rows.len() as u64;
        let Some(last) = rows.last().filter(|_| rows.len() == READ) else { return Ok(count) };
        let reached = keys::object_of_statement(&last.0).unwrap_or(*class.end());
        let end = match self.view.last(&range)? {
            Some((key, _)) => keys::object_of_statement(&key).unwrap_or(*class.end()),
            None => reached,
        };
        let (read, all) = (reached - class.start(), end - class.start());
        let scale = if read == 0 { 1.0 } else { all as f64 / read as f64 };
        // A count beyond the precision of a float is an estimate anyway.
        Ok((count as f64 * scale.clamp(1.0, 1e9)) as u64)
    }
}
