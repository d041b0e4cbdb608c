//! Changes that take several requests. Nothing is changed before the last one, whose answer is the result; none if it was not reached.

use serde_json::json;

use super::Client;
use crate::model::bytes;
use crate::requests::Answer;

impl Client<'_> {
    /// Uploads two parts, each request at any server.
    pub(super) fn upload(
        &mut self,
        name: &str,
        sizes: [usize; 2],
        seed: usize,
    ) -> Option<Option<Answer>> {
        let path = json!({ "path": format!("/storm/{}/{name}", self.of) });
        let begun = self.done("POST /v1/uploads", path.to_string().as_bytes())?;
        let upload = format!("/v1/uploads/{}", begun.json()["id"].as_str().unwrap());
        let parts = [(sizes[0], sizes[1], seed + 1), (0, sizes[0], seed)];
        for (offset, size, seed) in parts {
            self.done(&format!("PUT {upload}/{offset}"), &bytes(size, seed))?;
        }
        Some(self.send(&format!("POST {upload}/complete"), b"{}"))
    }

    /// Puts objects in a change set, which stays with the server that began it.
    pub(super) fn gather(&mut self, all: &[(String, usize, usize)]) -> Option<Option<Answer>> {
        let mut way = self.any_way();
        let idle = json!({ "idle_seconds": 30 }).to_string();
        let begun = self.send_via(&way, "POST /v1/changesets", idle.as_bytes());
        let begun = begun.filter(|answer| answer.status < 300)?;
        let set = format!("/v1/changesets/{}", begun.json()["id"].as_str().unwrap());
        way.header = format!("\r\nCenote-Changeset: {}", begun.json()["id"].as_str().unwrap());
        let puts = all.iter().all(|(name, size, seed)| {
            let request = format!("PUT /v1/fs/storm/{}/{name}", self.of);
            let put = self.send_via(&way, &request, &bytes(*size, *seed));
            put.is_some_and(|put| put.status < 300)
        });
        way.header.clear();
        if !puts {
            self.send_via(&way, &format!("DELETE {set}"), b"");
            return None;
        }
        Some(self.send_via(&way, &format!("POST {set}/commit"), b"{}"))
    }

    /// The answer of any server to a request that has to be carried out before the next one.
    fn done(&mut self, request: &str, body: &[u8]) -> Option<Answer> {
        self.send(request, body).filter(|answer| answer.status < 300)
    }
}
