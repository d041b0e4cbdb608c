//! A database whose disk is full: the tables of the catalog are on a file system of some megabytes, which the test fills.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use super::{BETWEEN, CLIENTS, DURING, assert_tidy, recover};
use crate::bucket_server::Program;
use crate::load::{Client, Weather};
use crate::model::bytes;
use crate::postgres_server::is_root;
use crate::servers::Cluster;

const FULL: usize = 3;
const SIZE: &str = "size=48m";

/// A file system in memory; it is unmounted at the end.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    /// None where nothing may be mounted.
    fn mount() -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        // PostgreSQL has to reach it.
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let disk = Self(dir);
        fs::create_dir(disk.path()).unwrap();
        if !is_root() || !done("mount", &["-t", "tmpfs", "-o", SIZE, "cenote-test"], &disk.path()) {
            eprintln!("SKIPPED, NOT TESTED: only root may mount a small disk");
            return None;
        }
        assert!(done("chown", &["postgres:postgres"], &disk.path()));
        Some(disk)
    }

    fn path(&self) -> std::path::PathBuf {
        self.0.path().join("disk")
    }

    /// Takes all of its space.
    fn fill(&self) {
        let mut ballast = File::create(self.path().join("ballast")).unwrap();
        for size in [1 << 20, 4_096] {
            while ballast.write_all(&vec![b'x'; size]).is_ok() {}
        }
    }

    fn free(&self) {
        fs::remove_file(self.path().join("ballast")).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        done("umount", &["--lazy", "--quiet"], &self.path());
    }
}

fn done(program: &str, arguments: &[&str], path: &Path) -> bool {
    let status = Command::new(program).args(arguments).arg(path).status();
    status.is_ok_and(|status| status.success())
}

/// Waits until each server refuses what needs space, and then asks each what is there.
fn assert_full(cluster: &Cluster) {
    for node in 0..cluster.nodes.len() {
        Cluster::until("the disk is full", || {
            let put = cluster.send(node, "PUT /v1/fs/full", &bytes(50_000, node)).unwrap();
            put.status == 507 && put.problem() == "no-space"
        });
        let listed = cluster.send(node, "GET /v1/list?path=/storm", b"").unwrap();
        assert_eq!(listed.status, 200, "{listed:?}");
    }
}

#[test]
fn a_disk_of_the_database_that_is_full_refuses_changes_and_loses_none() {
    let Some(disk) = SmallDisk::mount() else { return };
    let tables = disk.path();
    let cluster = Cluster::start_with(Program::Moto, Some(&tables), 2, "");
    let Some(cluster) = cluster else { return };
    let weather = Weather::default();
    let mut clients: Vec<Client<'_>> =
        (0..CLIENTS).map(|of| Client::new(&cluster, &weather, of, 3)).collect();
    std::thread::scope(|scope| {
        for client in &mut clients {
            scope.spawn(move || client.work());
        }
        for _ in 0..FULL {
            weather.wait(BETWEEN);
            weather.turn();
            disk.fill();
            assert_full(&cluster);
            weather.wait(DURING);
            disk.free();
            recover(&cluster, &weather);
            weather.turn();
        }
        weather.wait(BETWEEN);
        weather.stop();
    });
    clients.iter_mut().for_each(Client::compare);
    assert_tidy(&cluster);
}
