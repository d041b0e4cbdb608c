//! `cenote put`: files and directories into the store.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use cenote_client::PutOptions;
use cenote_client::transfer::LocalFile;
use futures_util::{Stream, stream};
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::commands::files::resources::relocate::{Target, done};
use crate::error::{CliError, Kind, Result};
use crate::place::{Place, StorePath};
use crate::session::Session;
use crate::tree::{self, Filter, FilterArgs, Rules, TransferArgs, Way, WriteArgs};

/// Put files and directories into the store.
///
/// `put FILE :/lab` puts FILE into the collection /lab if it exists, else creates the object /lab.
/// `put -r DIR :/lab/run7` makes /lab/run7 like DIR; with a trailing `/` it creates /lab/run7/DIR.
/// When run again, it transfers only files that have changed (in size or modification time).
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Local files, pipes or directories (`-` is standard input), followed by a path in the store
    #[arg(required = true, num_args = 2.., value_name = "PATH")]
    paths: Vec<String>,
    /// Put directories and their contents
    #[arg(long, short)]
    recursive: bool,
    /// Do not replace existing objects
    #[arg(long)]
    no_clobber: bool,
    /// The media type of the content, instead of a guess from the name and the first bytes
    #[arg(long = "type", value_name = "TYPE", alias = "content-type")]
    media_type: Option<String>,
    /// With -r, compare contents, not only sizes and modification times
    #[arg(long)]
    checksum: bool,
    #[command(flatten)]
    filter: FilterArgs,
    #[command(flatten)]
    writes: WriteArgs,
    #[command(flatten)]
    transfer: TransferArgs,
}

impl Args {
    pub(crate) async fn run(self, session: &Session) -> Result<()> {
        let (to, from) = self.paths.split_last().expect("there are at least two");
        let to = StorePath::parse(to)?;
        let sources =
            from.iter().map(|argument| Place::parse_local(argument)).collect::<Result<Vec<_>>>()?;
        let filter = Arc::new(self.filter.filter()?);
        for source in &sources {
            match source {
                Place::Standard => self.put_stdin(session, &to).await?,
                Place::Local(path) if path.is_dir() => {
                    self.put_directory(session, path, (&to, sources.len()), &filter).await?;
                }
                Place::Local(path) if !filter.takes(&local_name(path)?) => {}
                Place::Local(path) => self.put_file(session, path, &to, sources.len()).await?,
                Place::Store(_) => {}
            }
        }
        filter.report_unused(session);
        Ok(())
    }

    fn options(&self, file: Option<&LocalFile>) -> PutOptions {
        PutOptions {
            create_only: self.no_clobber,
            media_type: self.media_type.clone(),
            parents: true,
            mode: file.map(|file| file.mode),
            mtime: file.and_then(|file| file.mtime),
            place: self.writes.place.clone(),
            ..PutOptions::default()
        }
    }

    async fn put_file(
        &self,
        session: &Session,
        path: &Path,
        to: &StorePath,
        sources: usize,
    ) -> Result<()> {
        let source = Source::at(path)?;
        let target = Target::find(session.client()?, to, sources).await?;
        self.put_one(session, source, &target.path_for(&local_name(path)?)).await
    }

    async fn put_directory(
        &self,
        session: &Session,
        path: &Path,
        (to, sources): (&StorePath, usize),
        filter: &Arc<Filter>,
    ) -> Result<()> {
        if !self.recursive {
            let message = format!("a directory: {}", path.display());
            return Err(CliError::new(Kind::Usage, message)
                .hint("use -r to put a directory with its contents"));
        }
        let target = match to.is_into() || sources > 1 {
            true if filter.excludes_tree(&local_name(path)?) => return Ok(()),
            true => to.join(&local_name(path)?),
            false => to.clone(),
        };
        let rules = Rules { checksum: self.checksum, ..Rules::default() };
        let args = (&self.transfer, &self.writes);
        tree::upload(session, path, target.as_str(), filter, rules, args).await
    }

    async fn put_stdin(&self, session: &Session, to: &StorePath) -> Result<()> {
        if to.is_into() {
            return Err(CliError::new(Kind::Usage, "standard input has no name")
                .hint("give the full path of the object"));
        }
        self.put_one(session, Source::Standard, to.as_str()).await
    }

    /// Puts one object, unless this is a dry run.
    async fn put_one(&self, session: &Session, source: Source<'_>, target: &str) -> Result<()> {
        if !self.transfer.dry_run {
            match &source {
                Source::Standard => self.put_stream(session, tokio::io::stdin(), target).await?,
                Source::Pipe(path) => {
                    self.put_stream(session, tokio::fs::File::open(path).await?, target).await?;
                }
                Source::File(file) => self.put_whole(session, file, target).await?,
            }
        }
        done(session, "put", &source.to_string(), target, self.transfer.dry_run)
    }

    async fn put_whole(&self, session: &Session, file: &LocalFile, target: &str) -> Result<()> {
        let bar = session.progress.bytes(file.size);
        let transfer = self.transfer.transfer(session, Way::In(&self.writes), &bar)?;
        let outcome = transfer.put_file(file, target, &self.options(Some(file))).await;
        bar.finish_and_clear();
        outcome?;
        Ok(())
    }

    async fn put_stream<R>(&self, session: &Session, reader: R, target: &str) -> Result<()>
    where
        R: AsyncRead + Unpin + Send + 'static,
    {
        let client = session.client()?;
        client.put_stream(target, chunks(reader), &self.options(None)).await?;
        Ok(())
    }
}

/// Where the bytes of one object come from.
enum Source<'a> {
    Standard,
    /// Its size is not known, for example with `<(command)`.
    Pipe(&'a Path),
    File(LocalFile),
}

impl<'a> Source<'a> {
    fn at(path: &'a Path) -> Result<Self> {
        match is_pipe(path) {
            true => Ok(Self::Pipe(path)),
            false => Ok(Self::File(LocalFile::new(path)?)),
        }
    }
}

impl fmt::Display for Source<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Standard => f.write_str("-"),
            Self::Pipe(path) => path.display().fmt(f),
            Self::File(file) => file.path.display().fmt(f),
        }
    }
}

/// The last name of a path; for `.` and `..`, that of the resolved path.
pub(crate) fn local_name(path: &Path) -> Result<String> {
    let resolved: PathBuf;
    let path = match path.file_name() {
        Some(_) => path,
        None => {
            resolved = path.canonicalize()?;
            &resolved
        }
    };
    let name = path.file_name().and_then(|name| name.to_str());
    name.map(str::to_owned).ok_or_else(|| {
        CliError::new(
            Kind::Usage,
            format!("it has no name that can be used in the store: {}", path.display()),
        )
        .hint("give the full path of the target, without a trailing `/`")
    })
}

fn is_pipe(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

fn chunks<R>(reader: R) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static
where
    R: AsyncRead + Unpin + Send + 'static,
{
    stream::try_unfold(reader, |mut reader| async {
        let mut chunk = Vec::with_capacity(256 << 10);
        match reader.read_buf(&mut chunk).await? {
            0 => Ok(None),
            _ => Ok(Some((Bytes::from(chunk), reader))),
        }
    })
}
