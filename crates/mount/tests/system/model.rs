//! Random histories of two mounts and a client beside them, compared with a model: a map from paths to contents.
//!
//! Close-to-open consistency: after a file was closed (or a client's request succeeded), and the change was reported,
//! every mount that opens the file reads its content, and every listing has its name. `CENOTE_MOUNT_CASES` sets how
//! many histories are run.

use std::collections::BTreeMap;

use cenote_client::Removal;
use cenote_mount::SetAttr;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::support::{Mount, ROOT, World};

/// The actor of an operation.
#[derive(Debug, Clone, Copy)]
enum Who {
    First,
    Second,
    Client,
}

#[derive(Debug, Clone)]
enum Step {
    /// Replaces a content, or creates it.
    Put(Who, u8, Vec<u8>),
    /// Writes in place, if there is a file.
    Write(Who, u8, u16, Vec<u8>),
    Append(Who, u8, Vec<u8>),
    Truncate(Who, u8, u16),
    Remove(Who, u8),
    Rename(Who, u8, u8),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let who = prop_oneof![Just(Who::First), Just(Who::Second), Just(Who::Client)];
    let name = 0..4_u8;
    let bytes = prop::collection::vec(any::<u8>(), 0..40);
    let step = prop_oneof![
        3 => (who.clone(), name.clone(), bytes.clone()).prop_map(|(a, b, c)| Step::Put(a, b, c)),
        3 => (who.clone(), name.clone(), 0..60_u16, bytes.clone())
            .prop_map(|(a, b, c, d)| Step::Write(a, b, c, d)),
        1 => (who.clone(), name.clone(), bytes).prop_map(|(a, b, c)| Step::Append(a, b, c)),
        1 => (who.clone(), name.clone(), 0..60_u16).prop_map(|(a, b, c)| Step::Truncate(a, b, c)),
        1 => (who.clone(), name.clone()).prop_map(|(a, b)| Step::Remove(a, b)),
        2 => (who, name.clone(), name).prop_map(|(a, b, c)| Step::Rename(a, b, c)),
    ];
    prop::collection::vec(step, 1..20)
}

type Model = BTreeMap<String, Vec<u8>>;

fn file(n: u8) -> String {
    format!("f{n}")
}

impl Step {
    fn who(&self) -> Who {
        match self {
            Self::Put(who, ..)
            | Self::Write(who, ..)
            | Self::Append(who, ..)
            | Self::Truncate(who, ..)
            | Self::Remove(who, ..)
            | Self::Rename(who, ..) => *who,
        }
    }

    /// Applies it to the model; false if there is no such file.
    fn apply(&self, model: &mut Model) -> bool {
        match self {
            Self::Put(_, n, bytes) => {
                model.insert(file(*n), bytes.clone());
                return true;
            }
            Self::Remove(_, n) => return model.remove(&file(*n)).is_some(),
            Self::Rename(_, n, to) => {
                let Some(bytes) = model.remove(&file(*n)) else { return false };
                model.insert(file(*to), bytes);
                return true;
            }
            _ => {}
        }
        let (Self::Write(_, n, ..) | Self::Append(_, n, ..) | Self::Truncate(_, n, ..)) = self
        else {
            return false;
        };
        let Some(all) = model.get_mut(&file(*n)) else { return false };
        match self {
            Self::Write(_, _, at, bytes) if !bytes.is_empty() => {
                let end = *at as usize + bytes.len();
                all.resize(all.len().max(end), 0);
                all[*at as usize..end].copy_from_slice(bytes);
            }
            Self::Append(_, _, bytes) => all.extend_from_slice(bytes),
            Self::Truncate(_, _, size) => all.resize(*size as usize, 0),
            _ => {}
        }
        true
    }

    async fn through(&self, mount: &Mount) -> cenote_mount::Result<()> {
        let system = &mount.system;
        let write = async |n, offset, bytes: &[u8], append| {
            let ino = mount.find(&file(n)).await?;
            let open = system.open_file(ino, true).await?.handle;
            system.write(open, offset, bytes.to_vec().into(), append).await?;
            let closed = system.flush(open).await;
            system.release(open).await;
            closed
        };
        match self {
            Self::Put(_, n, bytes) => {
                let (entry, open) = system.create(ROOT, &file(*n), 0o644, false).await?;
                let cut = SetAttr { size: Some(0), ..SetAttr::default() };
                system.setattr(entry.ino, cut).await?;
                system.write(open.handle, 0, bytes.clone().into(), false).await?;
                let closed = system.flush(open.handle).await;
                system.release(open.handle).await;
                closed
            }
            Self::Write(_, n, at, bytes) => write(*n, u64::from(*at), bytes, false).await,
            Self::Append(_, n, bytes) => write(*n, 0, bytes, true).await,
            Self::Truncate(_, n, size) => {
                let ino = mount.find(&file(*n)).await?;
                let set = SetAttr { size: Some((*size).into()), ..SetAttr::default() };
                system.setattr(ino, set).await.map(drop)
            }
            Self::Remove(_, n) => system.unlink(ROOT, &file(*n)).await,
            Self::Rename(_, n, to) => {
                system.rename((ROOT, &file(*n)), (ROOT, &file(*to)), true).await
            }
        }
    }

    async fn by(&self, world: &World) {
        use cenote_client::{At, Destination, Patch, Relocation};
        let client = &world.client;
        let path = |n: &u8| format!("/{}", file(*n));
        let patch = async |n, patch| drop(client.patch(&path(n), &patch, None).await.unwrap());
        match self {
            Self::Put(_, n, bytes) => drop(world.put(&path(n), bytes.clone()).await),
            Self::Write(_, _, _, bytes) if bytes.is_empty() => {}
            Self::Write(_, n, at, bytes) => {
                patch(n, Patch::Write(u64::from(*at), bytes.clone().into())).await;
            }
            Self::Append(_, _, bytes) if bytes.is_empty() => {}
            Self::Append(_, n, bytes) => patch(n, Patch::Append(bytes.clone().into())).await,
            Self::Truncate(_, n, size) => patch(n, Patch::Truncate(u64::from(*size))).await,
            Self::Remove(_, n) => {
                client.remove(&path(n), &Removal::default()).await.unwrap();
            }
            Self::Rename(_, n, to) if n == to => {}
            Self::Rename(_, n, to) => {
                let relocation = Relocation {
                    from: At::Path(path(n)),
                    to: Destination::Path(path(to)),
                    replace: true,
                    parents: false,
                    versions: false,
                };
                client.relocate(&relocation).await.unwrap();
            }
        }
    }
}

async fn run(steps: Vec<Step>) {
    let world = World::new();
    let mounts = [world.mount().await, world.mount().await];
    let mut model = Model::new();
    for step in steps {
        let there = step.apply(&mut model);
        let actor = match step.who() {
            Who::First => Some(&mounts[0]),
            Who::Second => Some(&mounts[1]),
            Who::Client => None,
        };
        match actor {
            Some(mount) => {
                let outcome = step.through(mount).await.map_err(|fault| fault.errno);
                let wanted = if there { Ok(()) } else { Err(libc::ENOENT) };
                assert_eq!(outcome, wanted, "{step:?}");
                // A mount sees its own changes at once.
                check(mount, &model, &step).await;
            }
            None if there => step.by(&world).await,
            None => {}
        }
        for mount in &mounts {
            world.settle(mount).await;
            check(mount, &model, &step).await;
        }
    }
}

async fn check(mount: &Mount, model: &Model, step: &Step) {
    let names = mount.names("/").await.unwrap();

    assert_eq!(names, model.keys().cloned().collect::<Vec<_>>(), "names after {step:?}");
    for (name, bytes) in model {
        assert_eq!(&mount.read(name).await.unwrap(), bytes, "{name} after {step:?}");
        let ino = mount.find(name).await.unwrap();
        let size = mount.system.getattr(ino).await.unwrap().attr.size;
        assert_eq!(size, bytes.len() as u64, "the size of {name} after {step:?}");
    }
    for n in 0..4 {
        let found = mount.find(&file(n)).await.is_ok();
        assert_eq!(found, model.contains_key(&file(n)), "f{n} after {step:?}");
    }
}

#[test]
fn two_mounts_and_a_client_agree_with_a_model() {
    let cases = std::env::var("CENOTE_MOUNT_CASES").ok().and_then(|cases| cases.parse().ok());
    let config =
        Config { cases: cases.unwrap_or(5), failure_persistence: None, ..Config::default() };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let histories = TestRunner::new(config).run(&steps(), |steps| {
        runtime.block_on(run(steps));
        Ok(())
    });
    histories.unwrap();
}
