//! How long the rows of other servers have not changed, on the clock of this one.
//!
//! Invariant: only time in which this server could look counts. While the database is away nobody can show itself, and nobody is
//! missed for that.

use std::collections::HashMap;
use std::time::Duration;

use super::{BEAT, SILENT};
use crate::Bytes;

/// The rows, each with when it was new here.
#[derive(Debug, Default)]
pub(super) struct Others {
    rows: HashMap<Bytes, (Bytes, Duration)>,
    looked: Duration,
}

impl Others {
    /// Takes the rows as they are now, and returns those that have not changed for [`SILENT`].
    pub(super) fn silent(
        &mut self,
        now: &[(Bytes, Bytes)],
        steady: Duration,
    ) -> Vec<(Bytes, Bytes)> {
        let missed = steady.saturating_sub(self.looked) > 3 * BEAT;
        let before = std::mem::take(&mut self.rows);
        self.looked = steady;
        for (row, value) in now {
            let known = before.get(row).filter(|(last, _)| last == value && !missed);
            let since = known.map_or(steady, |(_, since)| *since);
            self.rows.insert(row.clone(), (value.clone(), since));
        }
        let is_silent = |since: Duration| steady.saturating_sub(since) >= SILENT;
        let silent = self.rows.iter().filter(|(_, (_, since))| is_silent(*since));
        silent.map(|(row, (value, _))| (row.clone(), value.clone())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(value: &'static str) -> Vec<(Bytes, Bytes)> {
        vec![("server".into(), value.into())]
    }

    fn secs(secs: u64) -> Duration {
        Duration::from_secs(secs)
    }

    #[test]
    fn a_row_is_silent_only_after_it_was_seen_unchanged_for_a_while() {
        let mut others = Others::default();
        for at in (100..120).step_by(2) {
            assert_eq!(others.silent(&rows("1"), secs(at)), [], "at {at}");
        }
        assert_eq!(others.silent(&rows("2"), secs(120)), []);
        for at in (122..140).step_by(2) {
            assert_eq!(others.silent(&rows("2"), secs(at)), [], "at {at}");
        }
        assert_eq!(others.silent(&rows("2"), secs(140)), rows("2"));
    }

    #[test]
    fn time_in_which_nothing_was_seen_does_not_count() {
        let mut others = Others::default();
        assert_eq!(others.silent(&rows("1"), secs(100)), []);
        assert_eq!(others.silent(&rows("1"), secs(1_000)), []);
        assert_eq!(others.silent(&rows("1"), secs(1_002)), []);
    }
}
