//! A separate process that has a file of a mount open while a test starts and kills others.
//!
//! The tests must not have such a file open themselves: each process that they start inherits their open files at
//! first, and closes those that it does not keep. To the kernel this closes the file, so the mount publishes what was
//! written so far, and the new process waits for that, even if it is the server that the mount waits for.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Reads one command per line: prints `ok` for success, and the name of the errno for a failure.
const PROGRAM: &str = "
import errno, os, sys
file = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
def write(byte, size):
    left = memoryview(byte.encode() * int(size))
    while left:
        left = left[os.write(file, left):]
def sync():
    os.fsync(file)
def close():
    os.close(file)
print('ok', flush=True)
for line in sys.stdin:
    verb, *rest = line.split()
    try:
        globals()[verb](*rest)
        print('ok', flush=True)
    except OSError as fault:
        print(errno.errorcode[fault.errno], flush=True)
";

/// A program that writes to one file.
pub(crate) struct Writer {
    process: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Writer {
    /// Creates the file.
    pub(crate) fn create(path: &Path) -> Self {
        let mut command = Command::new("python3");
        command.args(["-c", PROGRAM]).arg(path).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let commands = process.stdin.take().unwrap();
        let answers = BufReader::new(process.stdout.take().unwrap());
        let mut writer = Self { process, commands, answers };
        assert_eq!(writer.answer(), "ok");
        writer
    }

    /// Appends a byte `size` times.
    pub(crate) fn write(&mut self, byte: char, size: usize) -> String {
        self.command(&format!("write {byte} {size}"))
    }

    pub(crate) fn sync(&mut self) -> String {
        self.command("sync")
    }

    pub(crate) fn close(&mut self) -> String {
        self.command("close")
    }

    /// Runs a command; returns `ok` or the name of an errno.
    fn command(&mut self, line: &str) -> String {
        self.begin(line);
        self.answer()
    }

    /// The same in two steps, so that the test can act between them.
    pub(crate) fn begin(&mut self, line: &str) {
        writeln!(self.commands, "{line}").unwrap();
    }

    pub(crate) fn answer(&mut self) -> String {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        line.trim().to_owned()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // It may have exited already.
        let _ended = self.process.kill();
        let _ended = self.process.wait();
    }
}
