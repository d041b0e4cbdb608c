//! `docs/cli.md` is made from the help of every command, so that it cannot say anything else.

use clap::{Command, CommandFactory};

use crate::args::Cli;

const HEAD: &str = "\
# The `cenote` program

One section per command, as printed by `cenote help COMMAND`. This page is generated from the program,
and a test compares them: after changing a help text, run `SNAPSHOTS=overwrite cargo test -p cenote-cli reference`.

## Settings

Flags take precedence over the environment, and the environment over the file `~/.config/cenote/config.toml` (or
`$XDG_CONFIG_HOME/cenote/config.toml`, or the file named by `CENOTE_CONFIG` or `--config`). `cenote config show` prints
the source of each setting.

| setting | environment | flag |
|---|---|---|
| `url` | `CENOTE_URL` | `--store` |
| `user` | `CENOTE_USER` | `--user` |
| `password` | `CENOTE_PASSWORD` | |
| `token` | `CENOTE_TOKEN` | |
| `ticket` | `CENOTE_TICKET` | `--ticket` |
| `changeset` | `CENOTE_CHANGESET` | `--changeset` |
| `ca_file` | `CENOTE_CA_FILE` | |

`url` is the address of a server, or a directory with a store. On a directory you act as the store's
administrator, unless the source that sets the directory, or one with precedence over it, names a user.
If the source of a password, a token or a ticket also sets an address, the secret is sent only to that
server.

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
        for shared in
            ["store", "user", "ticket", "changeset", "config", "json", "no_progress", "quiet"]
        {
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
fn the_page_matches_the_help() {
    snapbox::assert_data_eq!(
        snapbox::Data::text(page()),
        snapbox::file!["../../../docs/cli.md": Text]
    );
}

#[test]
fn the_command_line_is_consistent() {
    Cli::command().debug_assert();
}
