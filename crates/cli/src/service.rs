//! The program as a service of systemd, by its documented protocols: `sd_notify(3)` and `sd_listen_fds(3)`.
//!
//! Without the variables of a service manager none of this has an effect.

use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

use listenfd::ListenFd;

use crate::error::{CliError, Kind, Result};

/// Reports that requests are answered from now on (`Type=notify`).
pub(crate) fn ready() -> Result<()> {
    let Some(path) = std::env::var_os("NOTIFY_SOCKET") else { return Ok(()) };
    let send = || {
        let address = match path.as_encoded_bytes().strip_prefix(b"@") {
            Some(name) => SocketAddr::from_abstract_name(name)?,
            None => SocketAddr::from_pathname(&path)?,
        };
        UnixDatagram::unbound()?.send_to_addr(b"READY=1", &address)
    };
    let failed = |error| CliError::new(Kind::Failed, format!("the service manager: {error}"));
    send().map(drop).map_err(failed)
}

/// The listening socket that the service manager passes, if it passes one.
pub(crate) fn socket() -> Result<Option<TcpListener>> {
    let mut passed = ListenFd::from_env();
    let failed = |what: String| {
        CliError::new(Kind::Usage, what).hint("a socket unit needs one ListenStream=ADDR:PORT")
    };
    match passed.len() {
        0 => Ok(None),
        1 => passed
            .take_tcp_listener(0)
            .map_err(|error| failed(format!("the socket of the service manager: {error}"))),
        many => Err(failed(format!("the service manager passes {many} sockets instead of one"))),
    }
}
