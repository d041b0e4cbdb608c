//! The client with which the server makes requests to other servers. Redirections are not followed: they could lead where the settings allow
//! nothing.

use std::sync::LazyLock;
use std::time::Duration;

use reqwest::Client;
use reqwest::redirect::Policy;

/// How long connecting, and then each pause, may take.
const PATIENCE: Duration = Duration::from_secs(20);

static CLIENT: LazyLock<Option<Client>> = LazyLock::new(|| {
    // Another provider may have been installed before.
    let _ = tokio_rustls::rustls::crypto::ring::default_provider().install_default();
    let client = Client::builder().redirect(Policy::none()).no_proxy();
    client.connect_timeout(PATIENCE).read_timeout(PATIENCE).build().ok()
});

/// The client; none where the system's certificates cannot be read.
pub(super) fn client() -> Option<&'static Client> {
    CLIENT.as_ref()
}
