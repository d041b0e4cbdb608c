//! Running a store: making, serving, checking and observing it.

pub(crate) mod changes;
pub(crate) mod check;
pub(crate) mod export;
pub(crate) mod import;
pub(crate) mod init;
pub(crate) mod migrate_dnanexus;
pub(crate) mod migrate_fedora;
pub(crate) mod mount;
pub(crate) mod scrub;
pub(crate) mod serve;
pub(crate) mod stats;
pub(crate) mod umount;
pub(crate) mod upgrade;
