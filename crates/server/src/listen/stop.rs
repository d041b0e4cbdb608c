//! When to stop.

use std::io;

use tokio::signal::unix::{SignalKind, signal};

/// Resolves at the first SIGTERM or SIGINT. From this call on, neither of them terminates the process by
/// itself, nor does SIGHUP, which is sent when a terminal is closed.
pub fn stop_signal() -> io::Result<impl Future<Output = ()> + Send + 'static> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hangup = signal(SignalKind::hangup())?;
    Ok(async move {
        loop {
            tokio::select! {
                _ = terminate.recv() => return,
                _ = interrupt.recv() => return,
                _ = hangup.recv() => {
                    tracing::info!(target: "cenote", "SIGHUP ignored: settings are read only at the start");
                }
            }
        }
    })
}
