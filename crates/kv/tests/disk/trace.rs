//! Runs a process and records its writes below a directory, in order, together with its output.

use std::path::{Path, PathBuf};
use std::process::Command;

/// One operation. Paths are below the root; a file or directory is also identified by its inode.
#[derive(Debug, Clone)]
pub(crate) enum Op {
    /// The name exists and refers to this inode; it is created if necessary.
    Open(u64, PathBuf),
    MakeDirectory(u64, PathBuf),
    Write(u64, u64, Vec<u8>),
    SetLength(u64, u64),
    Sync(u64),
    Rename(PathBuf, PathBuf),
    Link(PathBuf, PathBuf),
    Remove(PathBuf),
    /// Bytes on its standard output.
    Print(Vec<u8>),
}

/// Runs `command` to its end, and returns its operations below `root`.
pub(crate) fn record(command: &mut Command, root: &Path) -> Vec<Op> {
    let scratch = super::image::scratch();
    let (trace, library) = (scratch.path().join("trace"), compile(scratch.path()));
    command.env("CENOTE_TRACE", &trace).env("CENOTE_TRACE_ROOT", root).env("LD_PRELOAD", library);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    parse(&std::fs::read(trace).unwrap(), &root.canonicalize().unwrap())
}

/// The compiler is available: Rust links with it.
fn compile(dir: &Path) -> PathBuf {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../kv/tests/disk/trace.c");
    let library = dir.join("trace.so");
    let mut compiler = Command::new(std::env::var("CC").unwrap_or_else(|_| "cc".to_owned()));
    compiler.args(["-O2", "-shared", "-fPIC", "-o"]).arg(&library).arg(source);
    assert!(compiler.status().unwrap().success());
    library
}

fn parse(mut trace: &[u8], root: &Path) -> Vec<Op> {
    let mut ops = Vec::new();
    while let Some((head, rest)) = trace.split_first_chunk::<25>() {
        let number = |at: usize| u64::from_ne_bytes(*head[at..].first_chunk().unwrap());
        let length = |at: usize| u32::from_ne_bytes(*head[at..].first_chunk().unwrap()) as usize;
        let (first, rest) = rest.split_at(length(17));
        let (second, rest) = rest.split_at(length(21));
        ops.extend(op((head[0], number(1), number(9)), first, second, root));
        trace = rest;
    }
    ops
}

/// The root itself exists before everything else.
fn op((kind, inode, at): (u8, u64, u64), first: &[u8], second: &[u8], root: &Path) -> Option<Op> {
    let path = |bytes: &[u8]| {
        let path = Path::new(std::str::from_utf8(bytes).unwrap());
        path.strip_prefix(root).unwrap().to_owned()
    };
    Some(match kind {
        b'D' if first == root.as_os_str().as_encoded_bytes() => return None,
        b'O' => Op::Open(inode, path(first)),
        b'D' => Op::MakeDirectory(inode, path(first)),
        b'W' => Op::Write(inode, at, first.to_vec()),
        b'T' => Op::SetLength(inode, at),
        b'S' => Op::Sync(inode),
        b'R' => Op::Rename(path(first), path(second)),
        b'L' => Op::Link(path(first), path(second)),
        b'U' => Op::Remove(path(first)),
        b'A' => Op::Print(first.to_vec()),
        kind => panic!("a record of the kind {kind}"),
    })
}
