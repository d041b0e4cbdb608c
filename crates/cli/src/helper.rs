//! The program under other names, as arguments of `cenote mount`: as `mount.cenote`, what `mount(8)`, `/etc/fstab` and mount units of
//! systemd call (`mount.cenote SOURCE DIR [-sfnv] [-o OPTIONS] [-t TYPE]`), and as `dxfuse`, with the command line of that program.

use std::ffi::OsString;
use std::path::Path;

const NAME: &str = "mount.cenote";
const DXFUSE: &str = "dxfuse";

/// The arguments of this process, as `cenote` takes them.
pub(crate) fn arguments() -> Vec<OsString> {
    let given: Vec<OsString> = std::env::args_os().collect();
    match given.first().and_then(|program| Path::new(program).file_name()) {
        Some(name) if name == NAME => translate(given.into_iter().skip(1)),
        Some(name) if name == DXFUSE => {
            let command = ["cenote", "mount", "--dxfuse"].map(OsString::from);
            command.into_iter().chain(given.into_iter().skip(1)).collect()
        }
        _ => given,
    }
}

fn translate(given: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let (mut places, mut options) = (Vec::new(), Vec::new());
    let mut given = given.into_iter();
    while let Some(argument) = given.next() {
        match argument.to_str() {
            Some("-o") => {
                let list = given.next().unwrap_or_default();
                options.extend(list.to_string_lossy().split(',').filter_map(option));
            }
            Some("-t" | "-N") => drop(given.next()),
            Some(flag) if flag.starts_with('-') && flag.len() > 1 => {}
            _ => places.push(argument),
        }
    }
    // As other helpers of `mount(8)`, it says nothing but errors.
    let mut arguments: Vec<OsString> = ["cenote", "mount", "--quiet"].map(Into::into).into();
    arguments.extend(options.into_iter().map(OsString::from));
    if let [source, dir] = places.as_slice() {
        let (store, root) = split(&source.to_string_lossy());
        arguments.extend([
            format!("--store={store}").into(),
            "--".into(),
            root.into(),
            dir.clone(),
        ]);
    } else {
        arguments.push("--".into());
        arguments.extend(places);
    }
    arguments
}

/// The address of a store, and a path in it; a directory is a store as a whole.
fn split(source: &str) -> (String, String) {
    let Some((scheme, rest)) = source.split_once("://") else {
        return (source.to_owned(), "/".to_owned());
    };
    match rest.split_once('/') {
        Some((server, path)) => (format!("{scheme}://{server}"), format!("/{path}")),
        None => (source.to_owned(), "/".to_owned()),
    }
}

/// The flag for an option of `mount(8)`; none for those that are for others, or say what is so anyway. Unknown ones become flags that
/// `cenote mount` refuses.
fn option(option: &str) -> Option<String> {
    let (name, value) = option.split_once('=').map_or((option, None), |(a, b)| (a, Some(b)));
    let is_for_others = matches!(
        name,
        "" | "ro"
            | "defaults"
            | "auto"
            | "noauto"
            | "user"
            | "nouser"
            | "users"
            | "nousers"
            | "owner"
            | "noowner"
            | "group"
            | "nogroup"
            | "nofail"
            | "_netdev"
            | "nodev"
            | "nosuid"
            | "noatime"
            | "nodiratime"
            | "relatime"
            | "exec"
            | "async"
            | "dirsync"
            | "dev"
            | "suid"
    );
    match (name, value) {
        ("rw", None) => Some("--write".to_owned()),
        ("remount" | "sync", None) => Some(format!("--unsupported={name}")),
        _ if (is_for_others && value.is_none())
            || name.starts_with("x-")
            || name.starts_with("comment") =>
        {
            None
        }
        (name, Some(value)) => Some(format!("--{}={value}", name.replace('_', "-"))),
        (name, None) => Some(format!("--{}", name.replace('_', "-"))),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use proptest::prelude::*;

    use super::*;
    use crate::args::Cli;

    fn translated(given: &[&str]) -> Vec<String> {
        let given = given.iter().map(OsString::from);
        translate(given).into_iter().map(|it| it.into_string().unwrap()).collect()
    }

    #[test]
    fn lines_of_fstab_become_arguments() {
        let options = "rw,_netdev,x-systemd.automount,uid=1000,allow_other,config=/etc/c.toml";
        let arguments = translated(&["https://c.example:1/lab/a", "/mnt", "-n", "-o", options]);
        let flags = ["--write", "--uid=1000", "--allow-other", "--config=/etc/c.toml"];
        let wanted = [
            &["cenote", "mount", "--quiet"][..],
            &flags,
            &["--store=https://c.example:1", "--", "/lab/a", "/mnt"],
        ];
        assert_eq!(arguments, wanted.concat());
        assert!(Cli::try_parse_from(arguments).is_ok());
        let whole = translated(&["/srv/store", "/mnt", "-o", "ro"]);
        assert_eq!(whole, ["cenote", "mount", "--quiet", "--store=/srv/store", "--", "/", "/mnt"]);
    }

    #[test]
    fn generic_options_of_mount_are_accepted_or_refused_by_name() {
        let generic = "defaults,rw,ro,suid,nosuid,dev,nodev,exec,auto,noauto,user,nouser,users,nousers,owner,noowner,group,nogroup,\
            _netdev,nofail,relatime,noatime,nodiratime,async,dirsync,x-systemd.automount,comment=x";
        let arguments = translated(&["http://c", "/mnt", "-t", "cenote", "-o", generic]);
        assert_eq!(
            arguments,
            ["cenote", "mount", "--quiet", "--write", "--store=http://c", "--", "/", "/mnt"]
        );
        for (option, flag) in [
            ("noexec", "--noexec"),
            ("remount", "--unsupported=remount"),
            ("sync", "--unsupported=sync"),
        ] {
            let arguments = translated(&["http://c", "/mnt", "-o", option]);
            assert_eq!(arguments[3], flag);
            assert!(Cli::try_parse_from(arguments).is_ok(), "{option}");
        }
    }

    #[test]
    fn options_that_do_not_exist_are_refused() {
        for given in [&["http://c", "/mnt", "-o", "quota"][..], &["http://c"], &[]] {
            let parsed = Cli::try_parse_from(translated(given));
            assert!(parsed.is_err() || given.len() == 1, "{given:?}");
        }
    }

    proptest! {
        #[test]
        fn any_line_of_fstab_becomes_arguments_of_a_mount(
            given in proptest::collection::vec("(-o|-n|[ -~]{0,9}|[a-z_=,]{0,12}|\\PC{0,4})", 0..5),
        ) {
            let given: Vec<&str> = given.iter().map(String::as_str).collect();
            let arguments = translated(&given);
            prop_assert_eq!(&arguments[..2], ["cenote", "mount"]);
            // Places are never taken for options.
            prop_assert!(arguments.iter().any(|argument| argument == "--"));
            let _refused = Cli::try_parse_from(arguments);
        }
    }
}
