//! Reading: every way to get bytes, and every response with a digest, against the model.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

use super::OBJECTS;
use super::connection::{Answer, Http, TestRequest};
use super::contents::BOUNDARIES;
use super::world::{World, digests, lpath, path, sha2, sha256};

impl World {
    /// Compares everything, including the digests, which have to be known by now.
    pub(super) async fn look_at_all(&mut self) -> Result<(), String> {
        for object in 0..OBJECTS {
            for turn in 0..2 {
                self.look_at(object, turn).await?;
            }
            let Some(known) = &self.objects[object] else { continue };
            let sha256 = hex::encode(sha256(&known.content));
            let stat = self.json(&format!("/v1/stat?path={}", path(object))).await?;
            same("the SHA-256, which has to be known", &stat["sha256"], &Value::from(sha256))?;
            self.look_at_versions(object).await?;
            self.look_at_replicas(object).await?;
            self.look_at_checksum(object).await?;
        }
        Ok(())
    }

    /// Compares one object: completely and in ranges, by both versions of HTTP in turn.
    pub(super) async fn look_at(&mut self, object: usize, turn: usize) -> Result<(), String> {
        let (whole, ranges) = match turn % 2 {
            0 => (Http::One, Http::Two),
            _ => (Http::Two, Http::One),
        };
        let uri = format!("/v1/fs{}", path(object));
        let read = self.connection.native(whole, TestRequest::new("GET", uri)).await?;
        let Some(known) = &self.objects[object] else { return read.expect(404).map(drop) };
        let content = known.content.clone();
        let read = read.expect(200)?;
        compare("the whole", &read.body, &content)?;
        header_digests(&read, &content)?;
        self.look_at_stat(object, &content).await?;
        for (number, (start, end)) in spans(content.len(), turn).into_iter().enumerate() {
            let part = &content[start..end];
            self.range(ranges, object, (start, end), content.len(), number, part).await?;
            self.irods_range(whole, object, (start, end), number, part).await?;
        }
        Ok(())
    }

    async fn look_at_stat(&mut self, object: usize, content: &[u8]) -> Result<(), String> {
        let stat = self.json(&format!("/v1/stat?path={}", path(object))).await?;
        same("the size", &stat["size"], &Value::from(content.len()))?;
        json_digests(&stat, content)
    }

    /// One range, in one of the forms of a range.
    async fn range(
        &mut self,
        http: Http,
        object: usize,
        (start, end): (usize, usize),
        size: usize,
        number: usize,
        part: &[u8],
    ) -> Result<(), String> {
        if start == end {
            return Ok(());
        }
        let range = match number % 3 {
            1 if end == size => format!("bytes={start}-"),
            2 if end == size => format!("bytes=-{}", end - start),
            _ => format!("bytes={start}-{}", end - 1),
        };
        let request = TestRequest::new("GET", format!("/v1/fs{}", path(object)))
            .header("range", range.clone());
        let read = self.connection.native(http, request).await?.expect(206)?;
        let expected = format!("bytes {start}-{}/{size}", end - 1);
        same("Content-Range", &read.header("content-range"), &expected.as_str())?;
        compare(&format!("{range} over {http:?}"), &read.body, part)
    }

    async fn irods_range(
        &mut self,
        http: Http,
        object: usize,
        (start, end): (usize, usize),
        number: usize,
        part: &[u8],
    ) -> Result<(), String> {
        let count = end - start;
        let uri = match number % 2 {
            0 => format!(
                "/irods-http-api/0.7.0/data-objects?op=read&lpath={}&offset={start}&count={count}",
                lpath(object)
            ),
            _ => format!(
                "/irods-rest/0.9.3/stream?logical-path={}&offset={start}&count={count}",
                lpath(object)
            ),
        };
        let read =
            self.connection.irods(http, TestRequest::new("GET", uri.clone())).await?.expect(200)?;
        compare(&format!("{uri} over {http:?}"), &read.body, part)
    }

    async fn look_at_versions(&mut self, object: usize) -> Result<(), String> {
        let known = self.objects[object].as_ref().map(|known| known.versions.clone());
        let listed = self.json(&format!("/v1/versions?path={}", path(object))).await?;
        for (number, content) in known.unwrap_or_default() {
            let mut items = listed["items"].as_array().into_iter().flatten();
            let item = items.find(|item| item["version"] == number);
            let item = item.ok_or_else(|| format!("version {number} is missing: {listed}"))?;
            json_digests(item, &content)?;
            let uri = format!("/v1/fs{}?version={number}", path(object));
            let read = self
                .connection
                .native(Http::One, TestRequest::new("GET", uri))
                .await?
                .expect(200)?;
            compare(&format!("version {number}"), &read.body, &content)?;
        }
        Ok(())
    }

    async fn look_at_replicas(&mut self, object: usize) -> Result<(), String> {
        let Some(known) = &self.objects[object] else { return Ok(()) };
        let content = known.content.clone();
        let listed = self.json(&format!("/v1/replicas?path={}", path(object))).await?;
        let items = listed["items"].as_array().cloned().unwrap_or_default();
        for item in items.iter().filter(|item| item["good"] == true) {
            json_digests(item, &content)?;
            let uri = format!("/v1/fs{}?replica={}&verify=true", path(object), item["number"]);
            let read = self
                .connection
                .native(Http::Two, TestRequest::new("GET", uri))
                .await?
                .expect(200)?;
            compare(&format!("replica {}", item["number"]), &read.body, &content)?;
        }
        Ok(())
    }

    /// The checksum that the iRODS opening calculates by reading.
    async fn look_at_checksum(&mut self, object: usize) -> Result<(), String> {
        let Some(known) = &self.objects[object] else { return Ok(()) };
        let expected = sha2(&known.content);
        let request = TestRequest::new("POST", "/irods-http-api/0.7.0/data-objects")
            .header("content-type", "application/x-www-form-urlencoded")
            .body(format!("op=calculate_checksum&force=1&lpath={}", lpath(object)));
        let found = self.connection.irods(Http::Two, request).await?.done()?.json();
        same("the checksum", &found["checksum"], &Value::from(expected))
    }

    async fn json(&mut self, uri: &str) -> Result<Value, String> {
        let answer = self.connection.native(Http::One, TestRequest::new("GET", uri)).await?;
        Ok(answer.expect(200)?.json())
    }
}

/// Spans of a content: nearly all of it, its end, and some across each boundary.
fn spans(size: usize, turn: usize) -> Vec<(usize, usize)> {
    let mut spans =
        vec![(1.min(size), size), (size / 3, size / 3 * 2), (size.saturating_sub(100_000), size)];
    for (number, boundary) in BOUNDARIES.into_iter().enumerate() {
        let reach = [1, 1_000, 70_000, 600_000][(number + turn) % 4];
        let (start, end) = (boundary.saturating_sub(reach), (boundary + reach).min(size));
        spans.extend((start < end).then_some((start, end)));
    }
    spans
}

pub(super) fn compare(what: &str, read: &[u8], expected: &[u8]) -> Result<(), String> {
    if read == expected {
        return Ok(());
    }
    let differs = read.iter().zip(expected).position(|(read, expected)| read != expected);
    let at = differs.unwrap_or(read.len().min(expected.len()));
    Err(format!(
        "{what}: {} bytes instead of {}; from {at} on they differ",
        read.len(),
        expected.len()
    ))
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: &T, expected: &T) -> Result<(), String> {
    match found == expected {
        true => Ok(()),
        false => Err(format!("{what}: {found:?} instead of {expected:?}")),
    }
}

/// The digests in the headers of a response.
fn header_digests(answer: &Answer, content: &[u8]) -> Result<(), String> {
    let digests = digests(content);
    for member in answer.header("repr-digest").split(", ").filter(|member| !member.is_empty()) {
        let expected = match member.split_once('=').unwrap().0 {
            "sha-256" => BASE64_STANDARD.encode(digests.sha256.unwrap()),
            "crc64nvme" => BASE64_STANDARD.encode(digests.crc64nvme.to_be_bytes()),
            _ => continue,
        };
        let found = member.split(':').nth(1).unwrap_or_default();
        same(member, &found, &expected.as_str())?;
    }
    Ok(())
}

/// The same in a member of JSON.
fn json_digests(found: &Value, content: &[u8]) -> Result<(), String> {
    let digests = digests(content);
    let crc = format!("{:016x}", digests.crc64nvme);
    for (name, expected) in [("sha256", hex::encode(digests.sha256.unwrap())), ("crc64nvme", crc)] {
        if let Some(digest) = found[name].as_str() {
            same(name, &digest, &expected.as_str())?;
        }
    }
    Ok(())
}
