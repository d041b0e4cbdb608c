//! The flags of transfers, and the transfers that they make.

use std::num::NonZeroUsize;
use std::sync::Arc;

use cenote_client::Client;
use cenote_client::transfer::{Observer, Options, Transfer};
use indicatif::ProgressBar;

use crate::error::Result;
use crate::session::Session;

/// The flags of transfers.
#[derive(Debug, clap::Args)]
pub(crate) struct TransferArgs {
    /// The number of parallel requests
    #[arg(long, short, value_name = "NUMBER", default_value = "4")]
    pub(super) jobs: NonZeroUsize,
    /// Print what would be done, without doing it
    #[arg(long, short = 'n')]
    pub(crate) dry_run: bool,
}

impl TransferArgs {
    /// The transfer of these flags, which moves `bar`.
    pub(crate) fn transfer(
        &self,
        session: &Session,
        way: Way<'_>,
        bar: &ProgressBar,
    ) -> Result<Transfer> {
        let options =
            Options { jobs: self.jobs, journal: session.settings.uploads(), ..way.options() };
        let client: &Client = session.client()?;
        Ok(Transfer::new(client.clone(), options, Arc::new(Bar(bar.clone()))))
    }
}

/// Transfers into the store, with so many parallel requests, that go on where they broke off.
pub(crate) fn uploads(
    session: &Session,
    jobs: NonZeroUsize,
    bar: &ProgressBar,
) -> Result<Transfer> {
    let options = Options { jobs, journal: session.settings.uploads(), ..Options::default() };
    Ok(Transfer::new(session.client()?.clone(), options, Arc::new(Bar(bar.clone()))))
}

/// The direction of a transfer, with the flags of that direction.
pub(crate) enum Way<'a> {
    /// Into the store.
    In(&'a WriteArgs),
    /// Out of the store, as it is or as of a moment.
    Out(&'a ReadArgs, Option<&'a str>),
}

impl Way<'_> {
    fn options(&self) -> Options {
        match self {
            Self::In(writes) => Options { place: writes.place.clone(), ..Options::default() },
            Self::Out(reads, as_of) => Options {
                verify: !reads.no_verify,
                as_of: as_of.map(str::to_owned),
                ranges_from: reads.ranges.then_some(RANGES_FROM),
                ..Options::default()
            },
        }
    }
}

/// Smaller files are not worth several requests, in bytes.
const RANGES_FROM: u64 = 64 << 20;

/// The flags of transfers out of the store.
#[derive(Debug, clap::Args)]
pub(crate) struct ReadArgs {
    /// Do not verify downloads against the store's checksums
    #[arg(long)]
    no_verify: bool,
    /// Get large objects in parallel ranges, which is faster over long distances
    #[arg(long)]
    ranges: bool,
}

/// The flags of transfers into the store.
#[derive(Debug, clap::Args)]
pub(crate) struct WriteArgs {
    /// The place or group to store the bytes in, instead of the default place
    #[arg(long, value_name = "PLACE")]
    pub(crate) place: Option<String>,
}

#[derive(Debug)]
struct Bar(ProgressBar);

impl Observer for Bar {
    fn moved(&self, bytes: u64) {
        self.0.inc(bytes);
    }
}
