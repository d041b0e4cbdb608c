//! Mounts in the style of dxfuse.

use cenote_client::dnanexus::Platform;
use cenote_client::{At, XattrMode};
use cenote_mount::{Folder, Layout, Manners, Options, Placed, SetAttr};
use serde_json::{Value, json};

use crate::support::{Mount, ROOT, World, options};

/// A store with a project.
struct Project {
    world: World,
    platform: Platform,
    id: String,
}

impl Project {
    async fn new() -> Self {
        let world = World::new();
        world.put("/lab/x", "x").await;
        let platform = Platform::of_store(world.client.clone());
        let found =
            platform.call("system", "findFolder", &json!({ "path": "/lab" })).await.unwrap();
        Self { world, platform, id: found["project"].as_str().unwrap().to_owned() }
    }

    /// A record of a name that other objects may have, too.
    async fn record(&self, folder: &str, name: &str, tags: &[&str]) -> String {
        let input = json!({ "project": self.id, "folder": folder, "name": name, "parents": true, "tags": tags, "close": true });
        let made = self.platform.call("record", "new", &input).await.unwrap();
        made["id"].as_str().unwrap().to_owned()
    }

    async fn call(&self, resource: &str, method: &str, input: Value) -> Value {
        self.platform.call(resource, method, &input).await.unwrap()
    }

    async fn mount(&self, overwrite: bool) -> Mount {
        let folder = Some(Folder { project: self.id.clone(), path: "/".into() });
        let place =
            Placed { at: "/lab".into(), resource: At::Path("/lab".into()), write: true, folder };
        let layout = Some(Layout::new(vec![place]).unwrap());
        let manners = Manners::Dxfuse { overwrite };
        self.world.mount_with(Options { layout, manners, ..options() }).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_of_one_name_are_in_numbered_directories() {
    let project = Project::new().await;
    for _ in 0..3 {
        project.record("/d", "X", &[]).await;
    }
    project.record("/d", "same", &[]).await;
    project.record("/d", "a/b", &[]).await;
    project.record("/d/same", "inside", &[]).await;
    let mount = project.mount(false).await;
    assert_eq!(mount.names("/lab/d").await.unwrap(), ["1", "2", "X", "a___b", "same"]);
    assert_eq!(mount.names("/lab/d/1").await.unwrap(), ["X", "same"]);
    assert_eq!(mount.names("/lab/d/2").await.unwrap(), ["X"]);
    assert_eq!(mount.names("/lab/d/same").await.unwrap(), ["inside"]);
    let ids = |paths: [&'static str; 3]| {
        let mount = &mount;
        async move {
            let mut ids = Vec::new();
            for path in paths {
                let ino = mount.find(path).await.unwrap();
                ids.push(mount.system.getxattr(ino, "base.id").await.unwrap());
            }
            ids
        }
    };
    let before = ids(["/lab/d/X", "/lab/d/1/X", "/lab/d/2/X"]).await;
    project.record("/d", "X", &[]).await;
    project.world.settle(&mount).await;
    assert_eq!(mount.names("/lab/d/3").await.unwrap(), ["X"], "what was shown stays");
    assert_eq!(ids(["/lab/d/X", "/lab/d/1/X", "/lab/d/2/X"]).await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn files_can_be_moved_out_of_and_removed_from_numbered_directories_but_not_created_there() {
    let project = Project::new().await;
    for _ in 0..3 {
        project.record("/d", "X", &[]).await;
    }
    let mount = project.mount(false).await;
    let system = &mount.system;
    let (d, one) = (mount.find("/lab/d").await.unwrap(), mount.find("/lab/d/1").await.unwrap());
    let refused = [
        system.mkdir(one, "new", 0o755).await.map(drop),
        system.create(one, "new", 0o644, false).await.map(drop),
        system.rename((d, "X"), (one, "Y"), true).await,
        system.rename((d, "1"), (d, "9"), true).await,
    ];
    for (number, refused) in refused.into_iter().enumerate() {
        assert_eq!(refused.unwrap_err().errno, libc::EPERM, "{number}");
    }
    assert_eq!(system.rmdir(d, "1").await.unwrap_err().errno, libc::ENOTEMPTY);
    let t = system.mkdir(d, "T", 0o755).await.unwrap().ino;
    system.rename((one, "X"), (t, "X"), true).await.unwrap();
    system.rmdir(d, "1").await.unwrap();
    let two = mount.find("/lab/d/2").await.unwrap();
    system.unlink(two, "X").await.unwrap();
    project.world.settle(&mount).await;
    assert_eq!(mount.names("/lab/d/T").await.unwrap(), ["X"]);
    let listed = project.call(&project.id, "listFolder", json!({ "folder": "/d" })).await;
    assert_eq!(listed["objects"].as_array().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_file_does_not_replace_one_in_a_numbered_directory() {
    let project = Project::new().await;
    project.world.put("/lab/d/X", "old").await;
    project.record("/d", "X", &[]).await;
    let mount = project.mount(false).await;
    let d = mount.find("/lab/d").await.unwrap();
    assert_eq!(mount.read("/lab/d/1/X").await.unwrap(), b"old");
    mount.system.unlink(d, "X").await.unwrap();
    let (_, open) = mount.system.create(d, "X", 0o644, false).await.unwrap();
    mount.system.write(open.handle, 0, "new".into(), false).await.unwrap();
    assert_eq!(mount.system.flush(open.handle).await.unwrap_err().errno, libc::EEXIST);
    assert_eq!(project.world.get("/lab/d/X").await, b"old");
}

#[tokio::test(flavor = "multi_thread")]
async fn attributes_are_tags_and_properties() {
    let project = Project::new().await;
    let mount = project.mount(false).await;
    let (system, x) = (&mount.system, mount.find("/lab/x").await.unwrap());
    let names = async || String::from_utf8(system.listxattr(x).await.unwrap()).unwrap();
    assert_eq!(names().await, "base.state\0base.archivalState\0base.id\0");
    system.setxattr(x, "prop.family", "bats".into(), XattrMode::Create).await.unwrap();
    system.setxattr(x, "user.tag.high", "ignored".into(), XattrMode::Any).await.unwrap();
    assert!(names().await.starts_with("tag.high\0prop.family\0"));
    for (name, value) in [("prop.family", "bats"), ("tag.high", ""), ("base.state", "closed")] {
        assert_eq!(system.getxattr(x, name).await.unwrap(), value);
    }
    let id = String::from_utf8(system.getxattr(x, "base.id").await.unwrap().to_vec()).unwrap();
    let fields = json!({ "fields": { "tags": true, "properties": true } });
    let described = project.call(&id, "describe", fields).await;
    assert_eq!(described["properties"], json!({ "family": "bats" }));
    assert_eq!(described["tags"], json!(["high"]));
    let set = async |name, mode| system.setxattr(x, name, "v".into(), mode).await;
    let refused = [
        (libc::EEXIST, set("prop.family", XattrMode::Create).await),
        (libc::ENODATA, set("prop.other", XattrMode::Replace).await),
        (libc::EINVAL, set("base.state", XattrMode::Any).await),
        (libc::EINVAL, set("user.other", XattrMode::Any).await),
        (libc::ENODATA, system.removexattr(x, "tag.other").await),
        (libc::ENODATA, system.getxattr(x, "prop.other").await.map(drop)),
        (libc::ENODATA, system.getxattr(x, "security.capability").await.map(drop)),
        (libc::EINVAL, system.getxattr(x, "plain").await.map(drop)),
        (libc::EINVAL, system.listxattr(ROOT).await.map(drop)),
    ];
    for (number, (errno, refused)) in refused.into_iter().enumerate() {
        assert_eq!(refused.unwrap_err().errno, errno, "{number}");
    }
    system.removexattr(x, "prop.family").await.unwrap();
    system.removexattr(x, "tag.high").await.unwrap();
    assert_eq!(names().await, "base.state\0base.archivalState\0base.id\0");
}

#[tokio::test(flavor = "multi_thread")]
async fn archived_and_other_objects_are_listed_but_cannot_be_opened() {
    let project = Project::new().await;
    project.record("/", "record", &[]).await;
    let mount = project.mount(false).await;
    let x = mount.find("/lab/x").await.unwrap();
    let id =
        String::from_utf8(mount.system.getxattr(x, "base.id").await.unwrap().to_vec()).unwrap();
    project.call(&project.id, "archive", json!({ "files": [id] })).await;
    let mount = project.mount(false).await;
    assert_eq!(mount.names("/lab").await.unwrap(), ["record", "x"]);
    assert_eq!(mount.read("/lab/x").await.unwrap_err().errno, libc::EACCES);
    assert_eq!(mount.read("/lab/record").await.unwrap_err().errno, libc::ENOSYS);
    project.call(&project.id, "unarchive", json!({ "files": [id] })).await;
    assert_eq!(mount.read("/lab/x").await.unwrap(), b"x");
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_overwritten_only_if_that_is_allowed() {
    let project = Project::new().await;
    for overwrite in [false, true] {
        let mount = project.mount(overwrite).await;
        let (system, x) = (&mount.system, mount.find("/lab/x").await.unwrap());
        let mode = system.getattr(x).await.unwrap().attr.mode;
        assert_eq!(mode, if overwrite { 0o644 } else { 0o444 });
        let cut = SetAttr { size: Some(0), ..SetAttr::default() };
        let open = system.open_file(x, true).await.unwrap().handle;
        let cut = system.setattr(x, cut).await.map(drop).map_err(|fault| fault.errno);
        let written = system.write(open, 0, "new".into(), false).await;
        let written = written.map(drop).map_err(|fault| fault.errno);
        system.release(open).await;
        let wanted = match overwrite {
            false => (Err(libc::EOPNOTSUPP), Err(libc::EPERM), "x"),
            true => (Ok(()), Ok(()), "new"),
        };
        assert_eq!((cut, written), (wanted.0, wanted.1));
        assert_eq!(project.world.get("/lab/x").await, wanted.2.as_bytes());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_being_written_stays_when_its_directory_is_listed_again() {
    let project = Project::new().await;
    let mount = project.mount(false).await;
    let lab = mount.find("/lab").await.unwrap();
    let (entry, open) = mount.system.create(lab, "new", 0o644, false).await.unwrap();
    mount.system.write(open.handle, 0, "one".into(), false).await.unwrap();
    for other in ["/lab/y", "/lab/new"] {
        project.world.put(other, "of somebody else").await;
        project.world.settle(&mount).await;
        assert_eq!(mount.find("/lab/new").await.unwrap(), entry.ino);
    }
    assert_eq!(mount.names("/lab").await.unwrap(), ["new", "x", "y"]);
    assert_eq!(mount.system.flush(open.handle).await.unwrap_err().errno, libc::EEXIST);
    mount.system.release(open.handle).await;
    project.world.put("/lab/z", "z").await;
    project.world.settle(&mount).await;
    assert_eq!(mount.read("/lab/new").await.unwrap(), b"of somebody else");
}
