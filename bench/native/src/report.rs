//! Medians, and the printed lines.

use std::time::{Duration, Instant};

use crate::Outcome;

/// Prints a table, each line as soon as it is available.
#[derive(Debug, Default)]
pub(crate) struct Report {
    begun: bool,
}

impl Report {
    /// One row: the operation, our result, the result of the program compared with, their ratio, and the goal.
    pub(crate) fn row(&mut self, work: &str, ours: &str, peer: &str, ratio: &str, reach: &str) {
        if !std::mem::replace(&mut self.begun, true) {
            println!(
                "| operation | cenote | compared with | ratio | goal |\n|---|---|---|---|---|"
            );
        }
        println!("| {work} | {ours} | {peer} | {ratio} | {reach} |");
    }

    /// A row of two times; the ratio is the peer's time divided by ours: above 1, ours is faster.
    pub(crate) fn times(
        &mut self,
        work: &str,
        ours: Duration,
        (name, peer): (&str, Duration),
        reach: &str,
    ) {
        let ratio = peer.as_secs_f64() / ours.as_secs_f64();
        let peer = format!("{} ({name})", seconds(peer));
        self.row(work, &seconds(ours), &peer, &format!("{ratio:.2}"), reach);
    }
}

/// The time that `work` takes.
pub(crate) fn timed(work: impl FnOnce() -> Outcome) -> Outcome<Duration> {
    let started = Instant::now();
    work()?;
    Ok(started.elapsed())
}

/// The median.
pub(crate) fn median(times: &mut [Duration]) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// A time in a readable form.
pub(crate) fn seconds(time: Duration) -> String {
    match time.as_secs_f64() {
        short if short < 1.0 => format!("{:.2} ms", short * 1e3),
        long => format!("{long:.2} s"),
    }
}
