//! Posting one activity, signed as Standard Webhooks has it (<https://www.standardwebhooks.com>).

use std::path::Path;
use std::time::Duration;

use axum::http::header;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use cenote_store::Time;
use ring::hmac;
use url::Url;

use super::NotTaken;
use crate::ldp::outward;

const MEDIA_TYPE: &str = "application/ld+json; profile=\"https://www.w3.org/ns/activitystreams\"";
/// How long a receiver may take. The server waits for that when it stops.
const PATIENCE: Duration = Duration::from_secs(10);
/// The fewest bytes of a secret.
const SHORTEST: usize = 16;

/// Where activities go, and what they are signed with.
#[derive(Debug)]
pub(super) struct Receiver {
    url: Url,
    key: hmac::Key,
}

impl Receiver {
    pub(super) fn new(url: &str, secret_file: &Path) -> Result<Self, String> {
        let parsed = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        let url = parsed.ok_or_else(|| format!("not a URL of http or https: {url:?}"))?;
        let secret = std::fs::read_to_string(secret_file)
            .map_err(|error| format!("cannot read {}: {error}", secret_file.display()))?;
        let key = key(secret.trim()).ok_or_else(|| {
            format!("{} has no secret of {SHORTEST} bytes or more", secret_file.display())
        })?;
        Ok(Self { url, key })
    }

    /// Sends an activity. Its id is the same whenever it is sent, so that a receiver knows what it has already.
    pub(super) async fn post(&self, id: &str, now: Time, activity: String) -> Result<(), NotTaken> {
        let failed = |why: String| NotTaken { why, pause: None };
        let client = outward::client().ok_or_else(|| failed("there is no client".to_owned()))?;
        let seconds = now.nanos() / 1_000_000_000;
        let request = client
            .post(self.url.clone())
            .timeout(PATIENCE)
            .header(header::CONTENT_TYPE.as_str(), MEDIA_TYPE)
            .header("webhook-id", id)
            .header("webhook-timestamp", seconds.to_string())
            .header("webhook-signature", signature(&self.key, id, seconds, &activity))
            .body(activity);
        let answer =
            request.send().await.map_err(|error| failed(error.without_url().to_string()))?;
        if answer.status().is_success() {
            return Ok(());
        }
        let pause = answer.headers().get(header::RETRY_AFTER.as_str());
        let pause = pause.and_then(|pause| pause.to_str().ok()?.parse().ok());
        let why = format!("the receiver answered {}", answer.status());
        Err(NotTaken { why, pause: pause.map(Duration::from_secs) })
    }
}

/// A secret as Standard Webhooks writes it (`whsec_` and base64), or the bytes of the text.
fn key(secret: &str) -> Option<hmac::Key> {
    let encoded = secret.strip_prefix("whsec_");
    let bytes = match encoded {
        Some(encoded) => BASE64_STANDARD.decode(encoded).ok()?,
        None => secret.as_bytes().to_vec(),
    };
    (bytes.len() >= SHORTEST).then(|| hmac::Key::new(hmac::HMAC_SHA256, &bytes))
}

fn signature(key: &hmac::Key, id: &str, seconds: i64, body: &str) -> String {
    let signed = hmac::sign(key, format!("{id}.{seconds}.{body}").as_bytes());
    format!("v1,{}", BASE64_STANDARD.encode(signed.as_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the specification's libraries.
    #[test]
    fn a_signature_is_that_of_the_specification() {
        let key = key("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let signed = signature(
            &key,
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            1_614_265_330,
            "{\"test\": 2432232314}",
        );
        assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn a_secret_has_a_minimum_length_and_the_required_form() {
        for (secret, is_one) in [
            ("", false),
            ("short", false),
            ("whsec_", false),
            ("whsec_*", false),
            ("sixteen bytes at least", true),
        ] {
            assert_eq!(key(secret).is_some(), is_one, "{secret}");
        }
    }
}
