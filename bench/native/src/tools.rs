//! Other programs, and test files.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::Outcome;

/// Runs a program to its end; anything but success is an error.
pub(crate) fn run(command: &mut Command) -> Outcome {
    match command.status()? {
        status if status.success() => Ok(()),
        status => Err(format!("{command:?}: {status}").into()),
    }
}

/// Whether a program is installed.
pub(crate) fn has(program: &str) -> bool {
    Command::new(program)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok()
}

/// A file of bytes that do not repeat.
pub(crate) fn noise(path: &Path, length: usize) -> Outcome<PathBuf> {
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..length / 8 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        file.write_all(&state.to_le_bytes())?;
    }
    file.into_inner()?.sync_all()?;
    Ok(path.to_owned())
}

/// nginx, as packaged by Debian, serving one directory.
pub(crate) struct Nginx {
    process: Child,
    conf: PathBuf,
    /// Its address.
    pub(crate) url: String,
}

impl Nginx {
    pub(crate) fn start(dir: &Path) -> Outcome<Self> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let conf = dir.join("nginx.conf");
        let text = format!(
            "daemon off; worker_processes 1; pid {0}/nginx.pid; error_log stderr; events {{}}\n\
             http {{ access_log off; sendfile on; tcp_nopush on; client_body_temp_path {0}; proxy_temp_path {0}; fastcgi_temp_path {0};\n\
             uwsgi_temp_path {0}; scgi_temp_path {0}; server {{ listen 127.0.0.1:{port}; root {0}; }} }}\n\
             user root;\n",
            dir.display()
        );
        std::fs::write(&conf, text)?;
        let process = Command::new("nginx").arg("-c").arg(&conf).stderr(Stdio::null()).spawn()?;
        let url = format!("http://127.0.0.1:{port}");
        let tried = (0..500).find(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            std::net::TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        let nginx = Self { process, conf, url };
        tried.map(|_| nginx).ok_or_else(|| "nginx did not start".into())
    }
}

impl Drop for Nginx {
    /// Asks it to stop: a master that is killed leaves its worker behind.
    fn drop(&mut self) {
        let mut stop = Command::new("nginx");
        stop.arg("-c").arg(&self.conf).args(["-s", "stop"]).stderr(Stdio::null());
        if run(&mut stop).is_err() {
            let _ = self.process.kill();
        }
        let _ = self.process.wait();
    }
}
