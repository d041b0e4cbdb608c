//! `docs/cli.md` is made from the help of every command, so that it cannot say anything else.

use clap::{Command, CommandFactory};

use crate::args::Cli;

const HEAD: &str = "\
# The `cenote` program

One section a command, as `cenote help COMMAND` prints it. A test makes this page from the program
and compares: run `SNAPSHOTS=overwrite cargo test -p cenote-cli reference` after a change of help.

## Settings

Flags win over the environment, and that over the file `~/.config/cenote/config.toml` (or
`$XDG_CONFIG_HOME/cenote/config.toml`, or what `CENOTE_CONFIG` or `--config` names). `cenote config show` tells
where each setting came from.

| setting | environment | flag |
|---|---|---|
| `url` | `CENOTE_URL` | `--store` |
| `user` | `CENOTE_USER` | `--user` |
| `password` | `CENOTE_PASSWORD` | |
| `token` | `CENOTE_TOKEN` | |
| `ticket` | `CENOTE_TICKET` | `--ticket` |
| `ca_file` | `CENOTE_CA_FILE` | |

`url` is the address of a server or a directory with a store. On a directory you are the store's
administrator, unless a user is named in the same place as the directory or in a stronger one. A
password, a token and a ticket are sent to no server other than the one of the address beside them, if
there is one.

";

fn page() -> String {
    let mut root = Cli::command().term_width(100);
    root.build();
    let mut page = HEAD.to_owned();
    add(&mut page, &mut root, "cenote");
    page
}

fn add(page: &mut String, command: &mut Command, name: &str) {
    // Options that every command has are listed once, at the top.
    if name != "cenote" {
        for shared in ["store", "user", "ticket", "config", "json", "no_progress", "quiet"] {
            if command.get_arguments().any(|argument| argument.get_id() == shared) {
                let hidden = std::mem::take(command).mut_arg(shared, |arg| arg.hide(true));
                *command = hidden;
            }
        }
    }
    let help = command.render_long_help().to_string();
    let help: Vec<&str> = help.lines().map(str::trim_end).collect();
    page.push_str(&format!("## {name}\n\n```text\n{}\n```\n\n", help.join("\n").trim_end()));
    for inner in command.get_subcommands_mut().filter(|inner| inner.get_name() != "help") {
        let name = format!("{name} {}", inner.get_name());
        add(page, inner, &name);
    }
}

#[test]
fn the_page_says_what_the_help_says() {
    snapbox::assert_data_eq!(
        snapbox::Data::text(page()),
        snapbox::file!["../../../docs/cli.md": Text]
    );
}

#[test]
fn the_command_line_is_consistent() {
    Cli::command().debug_assert();
}
