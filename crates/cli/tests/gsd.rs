//! `cenote gsd` on files of the reference library.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../gsd/tests/fixtures/files").join(name)
}

fn cenote(arguments: &[&str], files: &[&Path]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cenote"));
    command.arg("gsd").args(arguments).args(files).output().expect("the program runs")
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("an exit code")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

#[test]
fn info_describes_a_file() {
    let path = fixture("g5_hoomd_full.gsd");
    let text = stdout(&cenote(&["info"], &[&path]));
    let rest: Vec<_> = text.lines().skip(1).collect();
    assert_eq!(
        rest,
        [
            "application: gsd.hoomd 5.0.1",
            "schema:      hoomd 2.0",
            "version:     2.1",
            "frames:      5",
            "chunks:      73 of 42 names",
            "particles:   2 in frame 0",
            "steps:       10000 to 40",
        ]
    );
    let json = stdout(&cenote(&["info", "--json"], &[&path]));
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["frames"], 5);
    assert_eq!(json["schema"], "hoomd");
}

#[test]
fn ls_lists_names_and_chunks() {
    let path = fixture("g5_string.gsd");
    let text = stdout(&cenote(&["ls"], &[&path]));
    assert_eq!(
        text,
        "str              varies        2 frames  s\nstr                   1         frame 0  s2\n"
    );
    let text = stdout(&cenote(&["ls", "--frame", "-1"], &[&path]));
    assert_eq!(text, "str                  15  s\n");
    let json = stdout(&cenote(&["ls", "--json", "--frame", "0"], &[&path]));
    let first: serde_json::Value =
        serde_json::from_str(json.lines().next().expect("a line")).expect("JSON");
    assert_eq!(first["offset"], 5376);
}

#[test]
fn extract_prints_numbers_and_strings() {
    let all = fixture("g5_alltypes.gsd");
    let path = all.to_str().expect("UTF-8");
    let text = stdout(&cenote(&["extract", path, "float32/2d"], &[]));
    assert_eq!(text, "2 9 16\n23 30 37\n44 51 58\n65 72 79\n");
    let text = stdout(&cenote(&["extract", path, "int16/2d", "--rows", "1:3"], &[]));
    assert_eq!(text, "23 30 37\n44 51 58\n");
    let string = fixture("g5_string.gsd");
    let path = string.to_str().expect("UTF-8");
    assert_eq!(stdout(&cenote(&["extract", path, "s", "-f", "1"], &[])), "a longer string\n");
}

#[test]
fn extract_writes_array_files() {
    let dir = tempfile::tempdir().expect("a directory");
    let target = dir.path().join("a.npy");
    let source = fixture("g5_alltypes.gsd");
    let arguments = ["extract", source.to_str().expect("UTF-8"), "uint16/2d", "-o"];
    stdout(&cenote(&arguments, &[&target]));
    let bytes = std::fs::read(&target).expect("written");
    assert_eq!(&bytes[..10], b"\x93NUMPY\x01\x00\x76\x00");
    let header = std::str::from_utf8(&bytes[10..128]).expect("ASCII");
    assert_eq!(header.trim_end(), "{'descr': '<u2', 'fortran_order': False, 'shape': (4, 3), }");
    assert!(header.ends_with('\n'));
    assert_eq!(bytes[128..134], [2, 0, 9, 0, 16, 0]);
    assert_eq!(bytes.len(), 128 + 24);
}

#[test]
fn missing_items_give_exit_code_3() {
    let path = fixture("g5_frames150.gsd");
    let path = path.to_str().expect("UTF-8");
    let output = cenote(&["extract", path, "every10", "--frame", "5"], &[]);
    assert_eq!(code(&output), 3);
    assert!(stderr(&output).contains("frame 5 has no every10"), "{}", stderr(&output));
    assert_eq!(code(&cenote(&["extract", path, "data", "--frame", "150"], &[])), 3);
    assert_eq!(code(&cenote(&["info", "/nowhere.gsd"], &[])), 3);
}

#[test]
fn extract_inherits_as_hoomd_does() {
    let hoomd = fixture("g5_hoomd_full.gsd");
    let path = hoomd.to_str().expect("UTF-8");
    let of = |arguments: &[&str]| {
        cenote(&[&["extract", path, "particles/mass", "-f"], arguments].concat(), &[])
    };
    assert_eq!(stdout(&of(&["1"])), stdout(&of(&["0"])));
    assert_eq!(code(&of(&["1", "--inherit", "false"])), 3);
    assert_eq!(code(&of(&["2"])), 3, "another number of particles");
    let other = fixture("g5_frames150.gsd");
    let arguments = ["extract", other.to_str().expect("UTF-8"), "every10", "-f", "5"];
    stdout(&cenote(&[&arguments[..], &["--inherit", "true"]].concat(), &[]));
}

#[test]
fn outputs_are_local_files() {
    let path = fixture("g5_alltypes.gsd");
    let path = path.to_str().expect("UTF-8");
    for output in [":/lab/x.gsd", "-", ""] {
        assert_eq!(code(&cenote(&["repack", path, output], &[])), 2, "{output}");
        assert_eq!(code(&cenote(&["extract", path, "float32/2d", "-o", output], &[])), 2);
    }
    let output = cenote(&["repack", path, "/nowhere/out.gsd"], &[]);
    assert!(stderr(&output).starts_with("cenote: /nowhere/out.gsd: "), "{}", stderr(&output));
    for rows in ["1", "2:1", "a:b", "0:99"] {
        assert_eq!(code(&cenote(&["extract", path, "float32/2d", "--rows", rows], &[])), 2);
    }
}

#[test]
fn check_finds_a_hole() {
    let sound = fixture("g5_frames150.gsd");
    let text = stdout(&cenote(&["check"], &[&sound]));
    assert!(text.starts_with("sound: 150 frames, 165 chunks, "), "{text}");
    let dir = tempfile::tempdir().expect("a directory");
    let damaged = with_hole(dir.path());
    let output = cenote(&["check"], &[&damaged]);
    assert_eq!(code(&output), 12);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(text.contains("index entry 10: hole before the end of the index"), "{text}");
}

/// A fixture in which entry 10 of the index has no location.
fn with_hole(dir: &Path) -> PathBuf {
    let mut bytes = std::fs::read(fixture("g5_frames150.gsd")).expect("the fixture");
    bytes[7152..7160].fill(0);
    let path = dir.join("damaged.gsd");
    std::fs::write(&path, bytes).expect("written");
    path
}

#[test]
fn a_damaged_file_gives_exit_code_8() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("short.gsd");
    std::fs::write(&path, &std::fs::read(fixture("g5_one.gsd")).expect("read")[..5380])
        .expect("written");
    let output = cenote(&["info"], &[&path]);
    assert_eq!(code(&output), 8);
    assert!(stderr(&output).contains("ends after the file's 5380 bytes"), "{}", stderr(&output));
}

#[test]
fn repack_writes_a_smaller_file_once() {
    let dir = tempfile::tempdir().expect("a directory");
    let target = dir.path().join("packed.gsd");
    let source = fixture("g1_frames150.gsd");
    stdout(&cenote(&["repack"], &[&source, &target]));
    let text = stdout(&cenote(&["info"], &[&target]));
    assert!(text.contains("version:     2.1\nframes:      150"), "{text}");
    let output = cenote(&["repack"], &[&source, &target]);
    assert_eq!(code(&output), 4);
    stdout(&cenote(&["repack", "--force"], &[&source, &target]));
    let left: Vec<_> = std::fs::read_dir(dir.path()).expect("listed").collect();
    assert_eq!(left.len(), 1);
}

/// A fixture with zeros over these bytes.
fn zeroed(dir: &Path, name: &str, range: std::ops::Range<usize>) -> PathBuf {
    let mut bytes = std::fs::read(fixture(name)).expect("the fixture");
    bytes[range].fill(0);
    let path = dir.join("damaged.gsd");
    std::fs::write(&path, bytes).expect("written");
    path
}

#[test]
fn recovery_rebuilds_what_the_layout_determines() {
    let dir = tempfile::tempdir().expect("a directory");
    // The type of index entry 20.
    let damaged = zeroed(dir.path(), "g5_frames150.gsd", 7486..7487);
    let target = dir.path().join("saved.gsd");
    let text = stdout(&cenote(&["repack", "--recover"], &[&damaged, &target]));
    assert!(text.ends_with("\nrebuilt from the layout of the data: 18-19\n"), "{text}");
    assert!(stdout(&cenote(&["check"], &[&target])).starts_with("sound: 150 frames"));
    let whole = fixture("g5_frames150.gsd");
    for frame in ["17", "18", "19", "20"] {
        let of = |path: &Path| {
            let path = path.to_str().expect("UTF-8");
            stdout(&cenote(&["extract", path, "data", "--frame", frame], &[]))
        };
        assert_eq!(of(&target), of(&whole));
    }
}

#[test]
fn recovery_lists_what_is_lost_and_fails() {
    let dir = tempfile::tempdir().expect("a directory");
    let target = dir.path().join("saved.gsd");
    let recover = |damaged: &Path| {
        let output = cenote(&["repack", "--recover", "--force", "--json"], &[damaged, &target]);
        assert_eq!(code(&output), 11, "{}", stderr(&output));
        let done: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        (done, stderr(&output))
    };
    // The first ten entries of the index.
    let (done, message) = recover(&zeroed(dir.path(), "g5_frames150.gsd", 6816..7136));
    assert_eq!(done["lost_frames"][0], 0);
    assert!(message.contains("could be saved: 10 frames"), "{message}");
    let (done, message) = recover(&zeroed(dir.path(), "g5_frames150.gsd", 0..256));
    assert_eq!((&done["damaged_header"], &done["frames"]), (&true.into(), &150.into()));
    assert!(message.contains("the header"), "{message}");
    let (done, message) = recover(&zeroed(dir.path(), "g5_one.gsd", 4352..5376));
    assert_eq!(done["lost_names"][0], 0);
    assert!(message.contains("1 name"), "{message}");
    let listed = stdout(&cenote(&["ls"], &[&target]));
    assert!(listed.contains("lost/0"), "{listed}");
}

#[test]
fn a_plain_copy_of_a_damaged_index_is_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    let target = dir.path().join("copy.gsd");
    let output = cenote(&["repack"], &[&with_hole(dir.path()), &target]);
    assert_eq!(code(&output), 8);
    let message = stderr(&output);
    assert!(
        message.contains("index entry 10: hole before the end") && message.contains("--recover"),
        "{message}"
    );
    assert!(!target.exists());
}

#[test]
fn a_directory_is_not_a_trajectory_or_an_output() {
    let dir = tempfile::tempdir().expect("a directory");
    let output = cenote(&["info"], &[dir.path()]);
    assert_eq!(code(&output), 8, "{}", stderr(&output));
    let output = cenote(&["repack", "--force"], &[&fixture("g5_one.gsd"), dir.path()]);
    assert_eq!(code(&output), 4);
    assert!(stderr(&output).contains("is a directory"), "{}", stderr(&output));
    let siblings = std::fs::read_dir(dir.path().parent().expect("it has one")).expect("listed");
    let name = dir.path().file_name().expect("it has one").to_string_lossy().into_owned();
    let names = siblings.map(|entry| entry.expect("an entry").file_name());
    let partial = std::ffi::OsString::from(format!("{name}.partial"));
    assert!(!names.into_iter().any(|name| name == partial));
}
