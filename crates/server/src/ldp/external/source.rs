//! Reading external content, where the settings allow it.

use axum::body::Body;
use axum::http::StatusCode;
use futures_util::StreamExt;
use tokio::fs::File;
use tokio_util::io::ReaderStream;
use url::Url;

use super::refused;
use crate::ldp::outward;
use crate::ldp::request::call::Call;
use crate::ldp::request::fault::Fault;

/// Bytes that are elsewhere, being read.
pub(super) struct Source {
    pub(super) media_type: Option<String>,
    pub(super) length: Option<u64>,
    body: Body,
}

impl Source {
    /// Begins to read; without `bytes` only their properties are requested.
    pub(super) async fn open(call: &Call, url: &str, bytes: bool) -> Result<Self, Fault> {
        let url = allowed(call, url)?;
        let opened = match url.scheme() {
            "file" => file(call, &url).await,
            _ => http(&url, bytes).await,
        };
        opened.ok_or_else(|| refused(call, "the external content cannot be read"))
    }

    pub(super) fn into_body(self) -> Body {
        self.body
    }
}

/// The URL, if the settings allow to read there.
fn allowed(call: &Call, url: &str) -> Result<Url, Fault> {
    let parsed = Url::parse(url).ok();
    let allowed = &call.app.ldp().external;
    parsed.filter(|url| allowed.iter().any(|prefix| prefix.contains(url))).ok_or_else(|| {
        refused(
            call,
            "this server may not read from that address (the setting `external` in [ldp])",
        )
    })
}

async fn http(url: &Url, bytes: bool) -> Option<Source> {
    let client = outward::client()?;
    let request = if bytes { client.get(url.clone()) } else { client.head(url.clone()) };
    let answer = request.send().await.ok()?;
    if answer.status().as_u16() != StatusCode::OK.as_u16() {
        return None;
    }
    let header = |name: &str| Some(answer.headers().get(name)?.to_str().ok()?.to_owned());
    Some(Source {
        media_type: header("content-type"),
        length: header("content-length").and_then(|length| length.parse().ok()),
        body: Body::from_stream(answer.bytes_stream()),
    })
}

/// A file; links do not lead out of the directories that are allowed.
async fn file(call: &Call, url: &Url) -> Option<Source> {
    let path = tokio::fs::canonicalize(url.to_file_path().ok()?).await.ok()?;
    let mut is_within = false;
    for directory in call.app.ldp().external.iter().filter_map(super::Allowed::directory) {
        let directory = tokio::fs::canonicalize(directory).await;
        is_within |= directory.is_ok_and(|directory| path.starts_with(directory));
    }
    let file = File::open(path).await.ok().filter(|_| is_within)?;
    let metadata = file.metadata().await.ok().filter(std::fs::Metadata::is_file)?;
    let bytes = ReaderStream::new(file).boxed();
    Some(Source { media_type: None, length: Some(metadata.len()), body: Body::from_stream(bytes) })
}
