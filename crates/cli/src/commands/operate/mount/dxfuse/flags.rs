//! The command line of dxfuse: flags of one dash, as programs in Go have them, before the first argument that is none.

use std::path::PathBuf;

/// The version of dxfuse whose command line this is.
pub(super) const VERSION: &str = "v1.6.1";

/// The command line, parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wanted {
    Help,
    Version,
    Mount(Flags),
}

/// A mount.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Flags {
    pub(super) verbose: i64,
    pub(super) foreground: bool,
    pub(super) uid: Option<u32>,
    pub(super) gid: Option<u32>,
    pub(super) state_folder: Option<PathBuf>,
    pub(super) limited_write: bool,
    pub(super) allow_overwrite: bool,
    pub(super) mountpoint: PathBuf,
    /// Projects, by id or name, or by the path of a collection; or one manifest.
    pub(super) shown: Vec<String>,
}

impl Flags {
    /// The manifest, if that is what is to be shown.
    pub(super) fn manifest(&self) -> Option<&str> {
        match self.shown.as_slice() {
            [one] if one.ends_with(".json") => Some(one),
            _ => None,
        }
    }
}

/// How the command is used.
pub(super) fn usage() -> String {
    "usage:
    cenote mount --dxfuse [options] MOUNTPOINT PROJECT1 PROJECT2 ...
    cenote mount --dxfuse [options] MOUNTPOINT manifest.json
projects are given by name, by id, or as the path of a collection of the store
options:
  -help               print this, and exit
  -version            print the version of dxfuse that this follows, and exit
  -verbose N          log more: 1 for operations, 2 for details
  -debugFuse          accepted, without effect
  -uid N, -gid N      the user and group that files appear to belong to
  -stateFolder DIR    where the log and the expanded manifest are written [default: ~/.dxfuse]
  -readOnly           the default
  -limitedWrite       allow files and folders to be created, moved and removed
  -allowOverwrite     with -limitedWrite: allow files to be written anew
  -foreground         do not return before the mount ends
"
    .to_owned()
}

/// Reads a command line; the error says what is wrong with it.
pub(super) fn parse(arguments: &[String]) -> Result<Wanted, String> {
    let mut flags = Flags::default();
    let mut read_only = false;
    let mut rest = arguments.iter();
    while let Some(argument) = rest.as_slice().first().filter(|it| is_flag(it)) {
        rest.next();
        if argument == "--" {
            break;
        }
        let (name, value) = split(argument)?;
        let mut value = || {
            let value = value.map(str::to_owned).or_else(|| rest.next().cloned());
            value.ok_or_else(|| format!("flag needs an argument: -{name}"))
        };
        match name {
            "help" | "h" => return Ok(Wanted::Help),
            "version" => return Ok(Wanted::Version),
            "verbose" => flags.verbose = number(name, &value()?)?,
            "uid" => flags.uid = id(name, &value()?)?,
            "gid" => flags.gid = id(name, &value()?)?,
            "stateFolder" => flags.state_folder = Some(value()?.into()),
            "readOnly" => read_only = truth(argument)?,
            "limitedWrite" => flags.limited_write = truth(argument)?,
            "allowOverwrite" => flags.allow_overwrite = truth(argument)?,
            "foreground" => flags.foreground = truth(argument)?,
            "debugFuse" | "daemon" | "sync" | "fsSync" => drop(truth(argument)?),
            name => return Err(format!("flag provided but not defined: -{name}")),
        }
    }
    let mut rest = rest.cloned();
    if read_only && flags.limited_write {
        return Err("-readOnly and -limitedWrite exclude each other".to_owned());
    }
    if flags.allow_overwrite && !flags.limited_write {
        return Err("-allowOverwrite needs -limitedWrite".to_owned());
    }
    flags.mountpoint = rest.next().ok_or("a mountpoint is missing")?.into();
    flags.shown = rest.collect();
    match flags.shown.is_empty() {
        true => Err("a project, or a manifest, is missing".to_owned()),
        false => Ok(Wanted::Mount(flags)),
    }
}

fn is_flag(argument: &str) -> bool {
    argument.len() > 1 && argument.starts_with('-')
}

/// The name of a flag, and its value if that is in the same argument.
fn split(argument: &str) -> Result<(&str, Option<&str>), String> {
    let plain = argument.strip_prefix("--").or_else(|| argument.strip_prefix('-'));
    let plain = plain.filter(|plain| !plain.is_empty() && !plain.starts_with(['-', '=']));
    let plain = plain.ok_or_else(|| format!("bad flag syntax: {argument}"))?;
    Ok(plain.split_once('=').map_or((plain, None), |(name, value)| (name, Some(value))))
}

/// The value of a flag that is true or false.
fn truth(argument: &str) -> Result<bool, String> {
    let (name, value) = split(argument)?;
    match value.unwrap_or("true") {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        value => Err(format!("invalid boolean value {value:?} for -{name}: parse error")),
    }
}

fn number(name: &str, value: &str) -> Result<i64, String> {
    value.parse().map_err(|_| format!("invalid value {value:?} for flag -{name}: parse error"))
}

/// The number of a user or group; -1 is that of the caller.
fn id(name: &str, value: &str) -> Result<Option<u32>, String> {
    match number(name, value)? {
        -1 => Ok(None),
        given => u32::try_from(given)
            .map(Some)
            .map_err(|_| format!("invalid value {value:?} for flag -{name}: value out of range")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parsed(line: &str) -> Result<Wanted, String> {
        parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn command_lines_of_dxfuse_are_parsed() {
        let line = "-verbose 2 -uid=7 --gid 8 -limitedWrite -stateFolder /s /mnt mammals project-1";
        let wanted = Flags {
            verbose: 2,
            uid: Some(7),
            gid: Some(8),
            state_folder: Some("/s".into()),
            limited_write: true,
            mountpoint: "/mnt".into(),
            shown: vec!["mammals".into(), "project-1".into()],
            ..Flags::default()
        };
        assert_eq!(parsed(line), Ok(Wanted::Mount(wanted)));
        assert_eq!(parsed("-version /mnt"), Ok(Wanted::Version));
        assert_eq!(parsed("-help"), Ok(Wanted::Help));
        let Ok(Wanted::Mount(flags)) = parsed("-uid -1 /mnt m.json") else { panic!() };
        assert_eq!((flags.uid, flags.manifest()), (None, Some("m.json")));
        let Ok(Wanted::Mount(flags)) = parsed("/mnt a m.json") else { panic!() };
        assert_eq!(flags.manifest(), None, "two projects");
    }

    #[test]
    fn errors_are_specific() {
        for (line, wrong) in [
            ("-verbose", "flag needs an argument: -verbose"),
            ("-verbose x /mnt p", "invalid value \"x\" for flag -verbose: parse error"),
            ("-colour /mnt p", "flag provided but not defined: -colour"),
            ("-limitedWrite=maybe /mnt p", "invalid boolean value \"maybe\""),
            ("-uid -2 /mnt p", "value out of range"),
            ("-readOnly -limitedWrite /mnt p", "exclude each other"),
            ("-allowOverwrite /mnt p", "needs -limitedWrite"),
            ("---x /mnt p", "bad flag syntax"),
            ("/mnt", "a project, or a manifest, is missing"),
            ("", "a mountpoint is missing"),
        ] {
            let error = parsed(line).unwrap_err();
            assert!(error.contains(wrong), "{line}: {error}");
        }
    }

    proptest! {
        #[test]
        fn any_command_line_is_parsed(line in prop::collection::vec("-{0,3}(uid|verbose|readOnly|x)?=?[-a-z0-9]{0,3}|\\PC{0,5}", 0..6)) {
            if let Ok(Wanted::Mount(flags)) = parse(&line) {
                prop_assert!(!flags.shown.is_empty());
                prop_assert!(line.ends_with(&flags.shown));
            }
        }
    }
}
