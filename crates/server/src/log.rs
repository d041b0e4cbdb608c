//! The program's log: one event a line, on standard error.

use std::io::{IsTerminal, stderr};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::ParseError;
use tracing_subscriber::util::SubscriberInitExt;

use crate::config::{Log, LogFormat};

/// Sends the events of this process to standard error. A second call changes nothing.
pub fn start_log(log: &Log) -> Result<(), ParseError> {
    let filter = EnvFilter::try_new(&log.filter)?;
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(stderr);
    let lines = lines.with_ansi(stderr().is_terminal());
    let _ = match log.format {
        LogFormat::Text => lines.finish().try_init(),
        LogFormat::Json => lines.json().flatten_event(true).finish().try_init(),
    };
    Ok(())
}
