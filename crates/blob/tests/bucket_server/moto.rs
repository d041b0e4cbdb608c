//! `moto_server`, of the Python package `moto`.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use super::Server;

/// It chooses a port, and says which.
pub(super) fn start(program: &Path) -> Server {
    let mut command = Command::new(program);
    let mut process =
        command.args(["-H", "127.0.0.1", "-p", "0"]).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
    let address = lines.find_map(|line| {
        let line = line.unwrap();
        line.split_once("Running on http://").map(|(_, address)| address.trim().to_owned())
    });
    std::thread::spawn(move || lines.for_each(drop));
    Server { process, address: address.unwrap(), files: None }
}
