//! When to stop.

use std::io;

use tokio::signal::unix::{SignalKind, signal};

/// Resolves at the first SIGTERM or SIGINT. From this call on, neither ends the process by itself.
pub fn stop_signal() -> io::Result<impl Future<Output = ()> + Send + 'static> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}
