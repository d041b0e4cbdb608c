//! The figures of a run.

use std::time::Duration;

/// A summary of latencies, in milliseconds.
#[derive(Debug)]
pub(crate) struct Latencies {
    mean: f64,
    median: f64,
    p99: f64,
    max: f64,
    last_tenth: f64,
}

impl Latencies {
    /// Of `samples` in the order in which they were taken; at least one.
    pub(crate) fn of(samples: &[Duration]) -> Self {
        let millis: Vec<f64> = samples.iter().map(|sample| sample.as_secs_f64() * 1e3).collect();
        let mut sorted = millis.clone();
        sorted.sort_by(f64::total_cmp);
        let last = &millis[millis.len() * 9 / 10..];
        Self {
            mean: mean(&millis),
            median: sorted[sorted.len() / 2],
            p99: sorted[sorted.len() * 99 / 100],
            max: sorted[sorted.len() - 1],
            last_tenth: mean(last),
        }
    }

    /// Cells of the table.
    pub(crate) fn cells(&self) -> String {
        let Self { mean, median, p99, max, last_tenth } = self;
        format!("{mean:.2} | {median:.2} | {p99:.1} | {max:.0} | {last_tenth:.2}")
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// A cell in seconds.
pub(crate) fn seconds(time: Option<Duration>) -> String {
    time.map_or("-".to_owned(), |time| format!("{:.2}", time.as_secs_f64()))
}
