//! Scrubbing the catalog: every row is read, so that the engine compares its checksums, and the frame of every record.
//!
//! It is read at the rate of contents, after them. A corrupt row is counted, logged, and not changed: nothing else has its data.

use cenote_kv::{KeyRange, ScanOptions};

use super::scrub::{WalkRecord, pause};
use crate::catalog::{damage, is_whole};
use crate::{Error, ErrorKind, Result, Store};

/// The number of rows to read at once,
const ROWS: usize = 1_000;
/// unless they have more bytes than this,
const BYTES: u64 = 1 << 20;
/// and so many times that before it is recorded how far the walk is.
const STEPS: usize = 16;

/// What was read at once.
#[derive(Debug, Default)]
struct Run {
    /// The last key; none at the end of the catalog.
    last: Option<Vec<u8>>,
    bytes: u64,
    damaged: u64,
}

impl Store {
    /// Reads the next rows; the walk ends with the last.
    pub(crate) async fn scrub_rows(
        &self,
        walk: &mut WalkRecord,
        after: Vec<u8>,
        rate: u64,
    ) -> Result<()> {
        let mut after = after;
        for _ in 0..STEPS {
            let begin = after.clone();
            let run = self.blocking(move |store| store.read_rows(&begin)).await?;
            walk.damaged += run.damaged;
            pause(run.bytes, rate).await;
            match run.last {
                Some(last) => after = last,
                None => {
                    walk.ended = Some(self.now());
                    return Ok(());
                }
            }
        }
        walk.row = Some(after);
        Ok(())
    }

    fn read_rows(&self, after: &[u8]) -> Result<Run> {
        let (view, range) = (self.view()?, KeyRange::all().after(after));
        let (mut run, mut rows, mut fault) = (Run::default(), 0, false);
        for row in view.snapshot.scan(&range, ScanOptions::limit(ROWS)) {
            rows += 1;
            let row = row.map_err(Error::from);
            fault = row.is_err();
            match row {
                Ok((key, value)) => run.see(&key, &value),
                // It was recorded when it was detected.
                Err(error) if error.kind() == ErrorKind::Damaged => run.damaged += 1,
                Err(error) => return Err(error),
            }
            if run.bytes > BYTES {
                return Ok(run);
            }
        }
        if fault && (rows < ROWS || run.last.is_none()) {
            run.last = Some(behind_table(run.last.as_deref().unwrap_or(after)));
        } else if rows < ROWS {
            run.last = None;
        }
        Ok(run)
    }
}

impl Run {
    fn see(&mut self, key: &[u8], value: &[u8]) {
        if !is_whole(key, value) {
            damage::note(&format!("the row {} differs from what was written", hex::encode(key)));
            self.damaged += 1;
        }
        self.bytes += (key.len() + value.len()) as u64;
        self.last = Some(key.to_vec());
    }
}

/// The position to continue from if nothing after a key can be found.
fn behind_table(key: &[u8]) -> Vec<u8> {
    vec![key.first().map_or(1, |table| table.saturating_add(1))]
}
