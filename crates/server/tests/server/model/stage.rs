//! Staged writing: the content of a stage is compared after each write; the object is unchanged until the stage is
//! published.

use serde_json::json;

use super::change::{Edit, End, Way};
use super::connection::{Http, TestRequest};
use super::contents::lay;
use super::look::compare;
use super::world::{World, path, sha256};

impl World {
    pub(super) async fn stage(
        &mut self,
        object: usize,
        from_object: bool,
        edits: &[Edit],
        end: End,
    ) -> Result<(), String> {
        let from = if from_object { "object" } else { "nothing" };
        let begun = json!({"path": path(object), "from": from});
        let begun = self.post("/v1/uploads", begun, 201).await?;
        let upload = format!("/v1/uploads/{}", begun["id"].as_str().unwrap());
        let mut staged = match from_object {
            true => self.content(object).clone(),
            false => Vec::new(),
        };
        for edit in edits {
            self.edit(&upload, &mut staged, edit).await?;
            self.look_at_stage(&upload, &staged).await?;
        }
        self.look_at(object, edits.len()).await?;
        self.end(object, &upload, staged, (from_object, end)).await
    }

    async fn edit(
        &mut self,
        upload: &str,
        staged: &mut Vec<u8>,
        edit: &Edit,
    ) -> Result<(), String> {
        let (query, bytes) = match edit {
            Edit::Write(offset, contents) => (format!("offset={offset}"), contents.bytes()),
            Edit::Append(contents) => ("append=true".to_owned(), contents.bytes()),
            Edit::Cut(size) => (format!("truncate={size}"), Vec::new()),
        };
        match edit {
            Edit::Write(offset, _) => lay(staged, *offset, &bytes),
            Edit::Append(_) => staged.extend(&bytes),
            Edit::Cut(size) => staged.resize(*size, 0),
        }
        let request = TestRequest::new("PATCH", format!("{upload}/content?{query}")).body(bytes);
        let size = self.connection.native(Http::Two, request).await?.expect(200)?.json();
        match size["size"].as_u64() == Some(staged.len() as u64) {
            true => Ok(()),
            false => Err(format!("a stage of {} bytes has {size}", staged.len())),
        }
    }

    async fn look_at_stage(&mut self, upload: &str, staged: &[u8]) -> Result<(), String> {
        let uri = format!("{upload}/content");
        let whole = self.connection.native(Http::One, TestRequest::new("GET", uri.clone())).await?;
        compare("a stage", &whole.expect(200)?.body, staged)?;
        let (start, end) = (staged.len() / 3, staged.len() / 2);
        if start == end {
            return Ok(());
        }
        let range =
            TestRequest::new("GET", uri).header("range", format!("bytes={start}-{}", end - 1));
        let part = self.connection.native(Http::Two, range).await?.expect(206)?;
        compare("a range of a stage", &part.body, &staged[start..end])
    }

    async fn end(
        &mut self,
        object: usize,
        upload: &str,
        staged: Vec<u8>,
        (from_object, end): (bool, End),
    ) -> Result<(), String> {
        let complete = format!("{upload}/complete");
        let digest = (end == End::Verified).then(|| hex::encode(sha256(&staged)));
        if end == End::Abandoned {
            let request = TestRequest::new("DELETE", upload);
            return self.connection.native(Http::One, request).await?.expect(204).map(drop);
        }
        if end == End::Forced {
            self.put(object, Way::Native, b"of somebody else".to_vec()).await?;
            if from_object {
                self.post(&complete, json!({}), 412).await?;
            }
        }
        let how = json!({"sha256": digest, "force": end == End::Forced});
        self.post(&complete, how, 200).await?;
        *self.content(object) = staged;
        Ok(())
    }
}
