//! Bringing one object.

use cenote_client::dnanexus::PresignedRequest;
use serde_json::{Value, json};

use super::{Migration, text};
use crate::error::{CliError, Kind, Result};
use crate::migrate::{Outcome, empty, persist};

/// The largest part of a file whose parts the source does not describe.
const LARGEST: u64 = 512 << 20;

/// A part: its number, its offset, its size, and its MD5 if the source knows it.
struct Part {
    number: u64,
    start: u64,
    size: u64,
    md5: Option<String>,
}

impl Migration<'_> {
    pub(super) async fn bring(&self, id: &str, object: &Value, there: &Value) -> Result<Outcome> {
        let class = text(&object["class"]);
        let closed = text(&object["state"]) == "closed";
        let here = there["project"].as_str();
        if let Some(other) = here.filter(|project| *project != self.to.0) {
            return Ok(Outcome::Skipped(format!(
                "it was already copied to {other}: use `dx cp` there"
            )));
        }
        let is_whole = there["state"] == "closed" && there["size"] == object["size"];
        match class.as_str() {
            "record" if here.is_some() => return Ok(Outcome::Unchanged),
            "file" if here.is_some() && is_whole => return Ok(Outcome::Unchanged),
            "file" if !closed => return Ok(Outcome::Skipped("it is not closed".to_owned())),
            "file" if object["archivalState"].as_str().is_some_and(|state| state != "live") => {
                return Ok(Outcome::Skipped("it is archived".to_owned()));
            }
            "record" | "file" => {}
            _ => return Ok(Outcome::Skipped(format!("a store cannot have a {class}"))),
        }
        let own = match here {
            Some(_) => text(&there["id"]),
            None => self.create(id, &class, object).await?,
        };
        if class == "file" {
            self.content(id, &own, object).await?;
        }
        Ok(Outcome::Brought)
    }

    /// Creates the object with all its attributes.
    async fn create(&self, id: &str, class: &str, object: &Value) -> Result<String> {
        let folder = self.folder_to(&text(&object["folder"])).unwrap_or_else(|| self.to.1.clone());
        let mut input = json!({
            "project": self.to.0,
            "folder": folder,
            "parents": true,
            "knownAs": id,
            "nonce": format!("migrate {} {id}", self.to.0),
        });
        for key in ["name", "types", "hidden", "tags", "properties", "details", "created"] {
            if !object[key].is_null() {
                input[key] = object[key].clone();
            }
        }
        match class {
            "file" if object["media"].is_string() => input["media"] = object["media"].clone(),
            "record" => input["close"] = json!(object["state"] == "closed"),
            _ => {}
        }
        Ok(text(&self.target.call(class, "new", &input).await?["id"]))
    }

    async fn content(&self, id: &str, own: &str, object: &Value) -> Result<()> {
        let size = object["size"].as_u64().unwrap_or(0);
        for part in parts(&object["parts"], size)? {
            self.part(id, own, &part).await?;
        }
        self.target.call(own, "close", &json!({})).await?;
        let fields = json!({ "fields": { "size": true } });
        let brought = self.target.call(own, "describe", &fields).await?;
        match brought["size"] == json!(size) {
            true => Ok(()),
            false => Err(CliError::new(Kind::Mismatch, "its size has changed")),
        }
    }

    async fn part(&self, id: &str, own: &str, part: &Part) -> Result<()> {
        persist(|| self.attempt(id, own, part)).await?;
        self.bar.inc(part.size);
        Ok(())
    }

    /// Passes the bytes of a part on; the store compares them with their MD5.
    async fn attempt(&self, id: &str, own: &str, part: &Part) -> Result<()> {
        let mut announced = json!({ "index": part.number, "size": part.size });
        if let Some(md5) = &part.md5 {
            announced["md5"] = json!(md5);
        }
        let put = presigned_request(self.target.call(own, "upload", &announced).await?)?;
        let bytes = match part.size {
            0 => empty(),
            size => {
                let input = json!({ "project": self.from.0, "duration": 86_400 });
                let get = presigned_request(self.source.call(id, "download", &input).await?)?;
                self.source.read(&get, part.start..part.start + size).await?
            }
        };
        Ok(self.target.send(&put, part.size, bytes).await?)
    }
}

fn presigned_request(answer: Value) -> Result<PresignedRequest> {
    serde_json::from_value(answer)
        .map_err(|error| CliError::new(Kind::Failed, format!("not an address: {error}")))
}

/// The parts of a file as described by the source, or pieces of it if that description is not
/// usable.
fn parts(described: &Value, size: u64) -> Result<Vec<Part>> {
    let mut parts = Vec::new();
    for (number, part) in described.as_object().into_iter().flatten() {
        let number: u64 = number.parse().map_err(|_| {
            CliError::new(Kind::Failed, format!("not the number of a part: {number}"))
        })?;
        let md5 = part["md5"].as_str().map(str::to_owned);
        parts.push(Part { number, start: 0, size: part["size"].as_u64().unwrap_or(0), md5 });
    }
    parts.sort_by_key(|part| part.number);
    let mut end = 0;
    for part in &mut parts {
        part.start = end;
        end += part.size;
    }
    let has_digests = parts.iter().all(|part| part.md5.is_some() && part.size <= 5 << 30);
    match end == size && has_digests && !parts.is_empty() {
        true => Ok(parts),
        false => Ok(pieces(size)),
    }
}

fn pieces(size: u64) -> Vec<Part> {
    let count = size.div_ceil(LARGEST).max(1);
    let piece = |n: u64| {
        let start = n * LARGEST;
        Part { number: n + 1, start, size: (size - start).min(LARGEST), md5: None }
    };
    (0..count).map(piece).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_in_the_order_of_their_numbers() {
        let described = json!({
            "10": { "size": 3, "md5": "c" }, "2": { "size": 2, "md5": "b" }, "1": { "size": 1, "md5": "a" },
        });
        let parts = parts(&described, 6).unwrap();
        let ranges: Vec<_> =
            parts.iter().map(|part| (part.number, part.start, part.size)).collect();
        assert_eq!(ranges, [(1, 0, 1), (2, 1, 2), (10, 3, 3)]);
    }

    #[test]
    fn a_file_without_digests_is_migrated_in_pieces() {
        for (described, size, expected) in [
            (json!(null), 0, vec![(1, 0, 0)]),
            (json!({ "1": { "size": 5 } }), 5, vec![(1, 0, 5)]),
            (json!({ "1": { "size": 4, "md5": "a" } }), 5, vec![(1, 0, 5)]),
            (json!({}), LARGEST + 1, vec![(1, 0, LARGEST), (2, LARGEST, 1)]),
        ] {
            let parts = parts(&described, size).unwrap();
            let ranges: Vec<_> =
                parts.iter().map(|part| (part.number, part.start, part.size)).collect();
            assert_eq!(ranges, expected);
        }
    }
}
