//! The completions offered to shells.

use std::process::Stdio;

use crate::world::World;

/// The candidates for the last word.
fn candidates(world: &World, words: &[&str], without: &str) -> Vec<String> {
    let mut command = world.command(&[&["--", "cenote"], words].concat());
    let index = words.len().to_string();
    let shell = [
        ("CENOTE_COMPLETE", "bash"),
        ("_CLAP_COMPLETE_INDEX", index.as_str()),
        ("_CLAP_IFS", "\n"),
    ];
    let output = command.envs(shell).env_remove(without).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn paths_in_the_store_are_completed() {
    for world in World::both() {
        world.file("labels", "here");
        world.ok(&["mkdir", "-p", "/lab/run7"]);
        world.ok(&["put", "labels", ":/lab/run.txt"]);
        let completed = |words: &[&str]| candidates(&world, words, "");
        assert_eq!(completed(&["ls", "/"]), ["/home/", "/lab/", "/trash/"]);
        assert_eq!(completed(&["cat", "/lab/r"]), ["/lab/run.txt", "/lab/run7/"]);
        assert_eq!(completed(&["ls", "/lab/run7"]), ["/lab/run7/"]);
        assert_eq!(completed(&["meta", "show", ":/la"]), [":/lab/"]);
        assert_eq!(completed(&["get", ":/lab/run."]), [":/lab/run.txt"]);
        assert_eq!(completed(&["gsd", "info", ":/lab/run."]), [":/lab/run.txt"]);
        assert_eq!(completed(&["put", "lab"]), ["labels"]);
        assert_eq!(completed(&["ls", "/gone/x"]), [""; 0]);
        assert_eq!(completed(&["sy"]), ["sync"]);
    }
}

#[test]
fn completion_never_prompts_for_a_password() {
    let world = World::served();
    world.ok(&["mkdir", "/lab"]);
    assert_eq!(candidates(&world, &["ls", "/"], "CENOTE_PASSWORD"), [""; 0]);
    assert_eq!(candidates(&world, &["ls", "/"], "CENOTE_URL"), [""; 0]);
}

#[test]
fn each_shell_gets_a_script() {
    let world = World::local();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = world.ok(&["completions", shell]);
        assert!(script.contains("CENOTE_COMPLETE") && script.contains("cenote"), "{script}");
    }
}
