//! Which versions are kept, by count and by age. As restic and borg do, days, weeks and months that have no version do not
//! count, so nothing is removed merely because time passes.

use std::collections::BTreeSet;

use jiff::Timestamp;
use jiff::tz::Offset;

use crate::model::{Retention, Time};

/// A version, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Dated {
    pub(super) time: Time,
    pub(super) number: u64,
}

impl Retention {
    /// The numbers of the versions that one of the rules keeps.
    pub(super) fn spared(&self, versions: &[Dated]) -> BTreeSet<u64> {
        let mut numbers: Vec<u64> = versions.iter().map(|version| version.number).collect();
        if self.is_unlimited() {
            return numbers.into_iter().collect();
        }
        numbers.sort_unstable();
        let last = numbers.into_iter().rev().take(count(self.last)).collect();
        let mut newest_first = versions.to_vec();
        newest_first.sort_unstable_by(|one, other| other.cmp(one));
        [(self.daily, day as fn(Time) -> i64), (self.weekly, week), (self.monthly, month)]
            .into_iter()
            .fold(last, |mut spared: BTreeSet<u64>, (periods, period)| {
                spared.extend(newest_of_each(&newest_first, count(periods), period));
                spared
            })
    }
}

fn count(rule: Option<u32>) -> usize {
    rule.unwrap_or(0) as usize
}

/// The newest version of each of the last periods that have one.
fn newest_of_each(
    newest_first: &[Dated],
    periods: usize,
    period: fn(Time) -> i64,
) -> impl Iterator<Item = u64> {
    let mut before = None;
    let is_first =
        move |version: &&Dated| before.replace(period(version.time)) != Some(period(version.time));
    newest_first.iter().filter(is_first).take(periods).map(|version| version.number)
}

/// Days from 1970-01-01.
fn day(time: Time) -> i64 {
    time.secs().div_euclid(86_400)
}

/// Weeks from that of 1970-01-01, which was a Thursday.
fn week(time: Time) -> i64 {
    (day(time) + 3).div_euclid(7)
}

fn month(time: Time) -> i64 {
    let moment = Timestamp::from_second(time.secs()).expect("64 bits of nanoseconds are within it");
    let date = Offset::UTC.to_datetime(moment).date();
    i64::from(date.year()) * 12 + i64::from(date.month())
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::option::of;
    use proptest::prelude::*;

    use super::*;

    fn dated(times: &[&str]) -> Vec<Dated> {
        let time = |text: &str| {
            let moment: Timestamp = format!("{text}:00Z").parse().unwrap();
            Time::from_secs(moment.as_second())
        };
        (1..).zip(times).map(|(number, text)| Dated { time: time(text), number }).collect()
    }

    const TIMES: [&str; 8] = [
        "2026-01-31T23:59", // 1, a Saturday
        "2026-02-01T00:00", // 2, a Sunday, in another month
        "2026-02-02T00:00", // 3, a Monday, in another week
        "2026-02-02T23:59", // 4
        "2026-02-28T12:00", // 5
        "2026-03-01T12:00", // 6, a Sunday
        "2026-03-02T10:00", // 7, a Monday
        "2026-03-02T11:00", // 8
    ];

    #[test]
    fn the_table_of_rules() {
        let none = Retention::default();
        for (rule, kept) in [
            (none, vec![1, 2, 3, 4, 5, 6, 7, 8]),
            (Retention::last(0), vec![]),
            (Retention::last(3), vec![6, 7, 8]),
            (Retention { daily: Some(3), ..none }, vec![5, 6, 8]),
            (Retention { daily: Some(99), ..none }, vec![1, 2, 4, 5, 6, 8]),
            (Retention { weekly: Some(2), ..none }, vec![6, 8]),
            (Retention { weekly: Some(99), ..none }, vec![2, 4, 6, 8]),
            (Retention { monthly: Some(2), ..none }, vec![5, 8]),
            (Retention { monthly: Some(99), ..none }, vec![1, 5, 8]),
            (
                Retention { last: Some(2), daily: Some(2), weekly: Some(3), monthly: Some(3) },
                vec![1, 4, 5, 6, 7, 8],
            ),
        ] {
            let spared: Vec<_> = rule.spared(&dated(&TIMES)).into_iter().collect();
            assert_eq!(spared, kept, "{rule:?}");
        }
    }

    #[test]
    fn a_given_time_is_used_and_versions_keep_their_order() {
        let mut versions = dated(&TIMES[..2]);
        versions.push(Dated { time: Time::from_secs(0), number: 9 });
        assert_eq!(Retention::last(1).spared(&versions), [9].into());
        let daily = Retention { daily: Some(1), ..Retention::default() };
        assert_eq!(daily.spared(&versions), [2].into());
    }

    #[test]
    fn any_time_has_a_month() {
        for nanos in [i64::MIN, -1, 0, i64::MAX] {
            month(Time::from_nanos(nanos));
        }
    }

    proptest! {
        /// Whether versions are pruned one after the other as they come, or all at the end: the same are left.
        #[test]
        fn pruning_incrementally_gives_the_same_result_as_pruning_once(
            (last, daily, weekly, monthly) in (of(0u32..4), of(0u32..4), of(0u32..4), of(0u32..4)),
            steps in vec(1i64..40 * 86_400, 0..40),
        ) {
            let rule = Retention { last, daily, weekly, monthly };
            let (mut now, mut all, mut left) = (0, Vec::new(), Vec::<Dated>::new());
            for (number, step) in (1..).zip(steps) {
                now += step;
                let version = Dated { time: Time::from_secs(now), number };
                all.push(version);
                left.push(version);
                let spared = rule.spared(&left);
                left.retain(|version| spared.contains(&version.number));
            }
            let left: BTreeSet<_> = left.iter().map(|version| version.number).collect();
            prop_assert_eq!(left, rule.spared(&all));
        }
    }
}
