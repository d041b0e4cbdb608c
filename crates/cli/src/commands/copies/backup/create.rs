//! `cenote backup create`: a backup of the store, through its server or of its directory.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use bytes::Bytes;
use cenote_client::{Client, Content};
use cenote_store::{BackupBlob, BackupDir, CatalogInfo, ErrorKind, Intake};
use futures_util::{Stream, StreamExt, TryStreamExt, stream};
use serde::Serialize;

use crate::error::{CliError, Kind, Result};
use crate::session::Session;
use crate::text::size;

/// How often a content is requested.
const ATTEMPTS: u32 = 3;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The directory of the backups, which is made if it is missing
    dir: PathBuf,
    /// How many backups to keep, this one among them; older ones are removed
    #[arg(long, value_name = "NUMBER", default_value = "7")]
    keep: NonZeroUsize,
    /// The number of parallel requests
    #[arg(long, short, value_name = "NUMBER", default_value = "4")]
    jobs: NonZeroUsize,
}

/// What was backed up.
#[derive(Debug, Default, Serialize)]
struct Summary {
    name: String,
    rows: u64,
    damaged_rows: u64,
    contents: u64,
    bytes: u64,
    present: u64,
    damaged: u64,
    removed: u64,
}

impl Args {
    pub(super) async fn run(self, session: &Session) -> Result<()> {
        let client = session.client()?;
        let dir = BackupDir::create(&self.dir)?;
        let mut intake = Intake::begin(&dir)?;
        let going = take_rows(client.backup().await?, &mut intake).await?;
        let mut summary = self.bring(client, &intake, session).await?;
        drop(going);
        let CatalogInfo { name, .. } = intake.finish()?;
        summary.name = name;
        summary.removed = dir.prune(self.keep.get()).await?.0;
        session.output.done(&summary, Summary::shown)?;
        match summary.damaged + summary.damaged_rows {
            0 => Ok(()),
            damaged => {
                let message = format!("{damaged} rows and contents are damaged in the store");
                Err(CliError::new(Kind::Partial, message)
                    .hint("find out which with `cenote check`; all else was backed up"))
            }
        }
    }

    /// Brings the contents that are not there yet.
    async fn bring(
        &self,
        client: &Client,
        intake: &Intake<'_>,
        session: &Session,
    ) -> Result<Summary> {
        let (rows, damaged_rows) = intake.rows();
        let (missing, present) = intake.missing().await?;
        let bar = session.progress.bytes(missing.iter().map(BackupBlob::size).sum());
        let mut summary = Summary { rows, damaged_rows, present, ..Summary::default() };
        let brought = stream::iter(&missing).map(async |blob| {
            let outcome = bring_one(client, intake, blob).await?;
            bar.inc(blob.size());
            Ok::<_, CliError>((blob, outcome))
        });
        let mut brought = std::pin::pin!(brought.buffer_unordered(self.jobs.get()));
        while let Some((blob, outcome)) = brought.try_next().await? {
            match outcome {
                None => {
                    summary.contents += 1;
                    summary.bytes += blob.size();
                }
                Some(error) => {
                    summary.damaged += 1;
                    session.failed(&blob.id.to_string(), &error);
                }
            }
        }
        bar.finish_and_clear();
        Ok(summary)
    }
}

impl Summary {
    fn shown(&self) -> String {
        let Self { rows, contents, present, removed, name, .. } = self;
        let mut line =
            format!("backed up {rows} rows, {contents} contents ({}) as {name}", size(self.bytes));
        if *present > 0 {
            line += &format!("; {present} contents were there already");
        }
        if *removed > 0 {
            line += &format!("; removed {removed} old backups");
        }
        line
    }
}

/// Takes the rows, and returns the rest of the answer: the backup lasts as long as it is read.
async fn take_rows(answer: Content, intake: &mut Intake<'_>) -> Result<Going> {
    let mut bytes = Box::pin(answer.into_stream());
    while let Some(chunk) = bytes.next().await {
        if intake.push(&chunk?)? {
            let reading = tokio::spawn(async move { while bytes.next().await.is_some() {} });
            return Ok(Going(reading));
        }
    }
    Err(CliError::new(Kind::Unavailable, "the server ended the backup before its end")
        .hint("run the same command again"))
}

/// The answer that keeps contents from being erased; it ends when this is dropped.
struct Going(tokio::task::JoinHandle<()>);

impl Drop for Going {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Fetches a content; returns the fault if its bytes are damaged in the store. The server breaks off its answer when no copy can be
/// read; since it may also have been stopped, the request is repeated.
async fn bring_one(
    client: &Client,
    intake: &Intake<'_>,
    blob: &BackupBlob,
) -> Result<Option<CliError>> {
    let mut wrong = None;
    for _ in 0..ATTEMPTS {
        let answer = client.backup_blob(&blob.id.to_string()).await?;
        wrong = match intake.put(blob, in_store_errors(answer)).await {
            Ok(None) => return Ok(None),
            Ok(wrong) => wrong,
            Err(error) if error.kind() == ErrorKind::Damaged => Some(error.to_string()),
            Err(error) => return Err(error.into()),
        };
    }
    Ok(wrong.map(|wrong| CliError::new(Kind::Mismatch, wrong)))
}

fn in_store_errors(answer: Content) -> impl Stream<Item = cenote_store::Result<Bytes>> {
    answer.into_stream().map_err(|error| {
        cenote_store::Error::new(ErrorKind::Damaged, format!("its bytes did not arrive: {error}"))
    })
}
