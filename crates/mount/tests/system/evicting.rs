//! How much a mount caches.

use cenote_mount::{Options, Stale};
use futures_util::future::join_all;

use crate::support::{Mount, ROOT, World, options};

const FILES: usize = 20;

/// A store with directories of files, and a mount that may cache three of them.
async fn walked(directories: usize) -> (World, Mount) {
    let world = World::new();
    let put = async |at: usize| {
        let (directory, file) = (at / FILES, at % FILES);
        world.put(&format!("/d{directory}/f{file:02}"), format!("{directory} {file}")).await
    };
    join_all((0..directories * FILES).map(put)).await;
    let mount = world.mount_with(Options { max_nodes: 3 * FILES, ..options() }).await;
    (world, mount)
}

/// Drops entries on request, as the kernel does.
async fn drop_stale(mount: &mut Mount, held: &mut Vec<(u64, String, u64)>) {
    while let Ok(stale) = mount.stale.try_recv() {
        let Stale::Entry(dir, name) = stale else { continue };
        for (_, _, ino) in held.extract_if(.., |(parent, at, _)| *parent == dir && *at == name) {
            mount.system.forget(ino, 1);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_walk_of_many_directories_is_not_cached_completely() {
    let (_world, mut mount) = walked(12).await;
    let (mut held, mut most) = (Vec::new(), 0);
    for directory in 0..12 {
        let dir = mount.find(&format!("/d{directory}")).await.unwrap();
        let handle = mount.system.opendir(dir).await.unwrap();
        for entry in mount.system.listing(handle).unwrap().iter().skip(2) {
            mount.system.listed(entry.ino);
            held.push((dir, entry.name.clone(), entry.ino));
        }
        mount.system.releasedir(handle);
        drop_stale(&mut mount, &mut held).await;
        most = most.max(mount.system.status().known);
    }
    assert!(most <= (5 * FILES) as u64, "{most}");
    for directory in [0, 11, 5] {
        let read = mount.read(&format!("/d{directory}/f07")).await.unwrap();
        assert_eq!(read, format!("{directory} 7").into_bytes());
        assert_eq!(mount.names(&format!("/d{directory}")).await.unwrap().len(), FILES);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_evicted_node_is_looked_up_again_in_its_current_state() {
    let (world, mount) = walked(8).await;
    let open = mount.find("/d0/f03").await.unwrap();
    let handle = mount.system.open_file(open, true).await.unwrap().handle;
    mount.system.write(handle, 0, "mine".into(), false).await.unwrap();
    for directory in 0..8 {
        mount.names(&format!("/d{directory}")).await.unwrap();
    }
    assert!(mount.system.status().known < (7 * FILES) as u64);
    world.put("/d0/f01", "another").await;
    world.client.remove("/d0/f02", &Default::default()).await.unwrap();
    world.settle(&mount).await;
    assert_eq!(mount.read("/d0/f01").await.unwrap(), b"another");
    assert_eq!(mount.names("/d0").await.unwrap().len(), FILES - 1);
    mount.system.flush(handle).await.unwrap();
    assert_eq!(world.get("/d0/f03").await, b"mine", "what is open is never given up");
    assert!(mount.system.getattr(ROOT).await.is_ok());
}
