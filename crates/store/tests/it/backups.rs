//! Backups: of one moment while the store changes, with what is new only, verified, and restored as a store that touches nothing of
//! the original.

use std::sync::Arc;
use std::time::Duration;

use cenote_blob::Place;
use cenote_kv::{FjallEngine, FjallOptions, MemoryEngine};
use cenote_store::{
    Backup, BackupDir, BackupFault, CatalogInfo, CopyChoices, ErrorKind, Intake, Landing, Parts,
    PlaceState, Result, Watch,
};
use futures_util::StreamExt;
use tempfile::TempDir;

use crate::check::{blob_of, full};
use crate::raw::overwrite;
use crate::world::{World, assert_clean, kind, noise, rows, run};

fn silent() -> Watch {
    Arc::new(|_| {})
}

fn directory(dir: &TempDir) -> Arc<BackupDir> {
    Arc::new(run(async { BackupDir::create(&dir.path().join("backups")) }).unwrap())
}

/// Takes the rows of a backup, which goes on until it is dropped.
fn take_rows(backup: Backup, intake: &mut Intake<'_>) -> impl Drop + use<> {
    let mut stream = Box::pin(backup.stream(true));
    run(async { while !intake.push(&stream.next().await.unwrap().unwrap()).unwrap() {} });
    Going(Some(stream))
}

/// Drops something, and can be dropped itself.
struct Going<T>(Option<T>);

impl<T> Drop for Going<T> {
    fn drop(&mut self) {
        drop(self.0.take());
    }
}

/// Brings at most so many blobs; returns what is damaged of them, and how many were brought.
fn bring(world: &World, intake: &Intake<'_>, most: usize) -> (Vec<String>, usize) {
    run(async {
        let (missing, _) = intake.missing().await.unwrap();
        let mut damaged = Vec::new();
        for blob in missing.iter().take(most) {
            let bytes = world.store.blob_of_backup(&world.admin, blob.id).unwrap().1;
            match intake.put(blob, bytes).await {
                Ok(wrong) => damaged.extend(wrong),
                Err(error) => damaged.push(error.to_string()),
            }
        }
        (damaged, missing.len().min(most))
    })
}

fn backed_up(world: &World, dir: &BackupDir) -> (CatalogInfo, usize) {
    let mut intake = Intake::begin(dir).unwrap();
    let going = take_rows(world.store.back_up(&world.admin).unwrap(), &mut intake);
    let (damaged, brought) = bring(world, &intake, usize::MAX);
    assert_eq!(damaged, [""; 0]);
    drop(going);
    // The next one has another time.
    world.clock.advance(Duration::from_secs(1));
    (intake.finish().unwrap(), brought)
}

fn target(world: &World) -> Parts {
    Parts {
        engine: Arc::new(MemoryEngine::new()),
        main: Place::memory("main"),
        ..world.parts.clone()
    }
}

fn restore_to(dir: &Arc<BackupDir>, catalog: &CatalogInfo, to: &Parts) -> Result<Vec<String>> {
    let landing = Landing::new(to);
    let choices = CopyChoices::default();
    run(dir.restore(catalog, &landing, choices, &silent())).map(|(_, places)| places)
}

fn restored(world: &World, dir: &Arc<BackupDir>, catalog: &CatalogInfo) -> World {
    let to = target(world);
    restore_to(dir, catalog, &to).unwrap();
    World { opener: world.opener.clone(), ..World::open(to, world.clock.clone()) }
}

fn verified(dir: &BackupDir) -> Vec<BackupFault> {
    let mut faults = Vec::new();
    let catalogs = dir.catalogs().unwrap();
    run(dir.verify(&catalogs, &silent(), &mut |fault| faults.push(fault))).unwrap();
    faults
}

#[test]
fn a_restored_store_has_all_of_its_contents_and_leaves_the_places_of_the_original_alone() {
    let dir = tempfile::tempdir().unwrap();
    let (world, backups) = (full(), directory(&dir));
    world.put_in("a", "/in a", &noise(500, 21));
    let id = world.place("a");
    world.store.set_default_place(&world.admin, id).unwrap();
    let expected = world.rows();
    let (catalog, brought) = backed_up(&world, &backups);
    assert!(brought > 5 && expected.len() > 100);
    assert_eq!(verified(&backups), []);

    let to = target(&world);
    let down = restore_to(&backups, &catalog, &to).unwrap();
    assert_eq!(down, ["a", "b"]);
    let new = World { opener: world.opener.clone(), ..World::open(to, world.clock.clone()) };
    for path in ["/in a", "/c/big", "/c/x", "/larger", "/replicated", "/patched"] {
        assert!(new.read(path) == world.read(path), "{path}");
    }
    for place in new.store.places().unwrap().iter().filter(|place| place.info.name != "main") {
        assert_eq!(place.info.state, PlaceState::Down);
    }
    // In the directory it has new contents in its own place, and those of the original are untouched.
    let before = (world.blobs_in("a"), world.blobs_in("main"));
    new.put("/c/new", &noise(700, 22));
    new.rm_all("/c").unwrap();
    new.sweep();
    assert_eq!((world.blobs_in("a"), world.blobs_in("main")), before);
    for name in ["a", "b"] {
        new.set_state(name, PlaceState::Up);
    }
    assert_clean(&new.store);
}

#[test]
fn a_backup_has_one_moment_of_a_store_that_changes_meanwhile() {
    let dir = tempfile::tempdir().unwrap();
    let (world, backups) = (full(), directory(&dir));
    let kept: Vec<_> = ["/c/big", "/large", "/larger"].map(|path| world.read(path)).into();
    let blobs = world.blobs_in("main");
    let mut intake = Intake::begin(&backups).unwrap();
    let backup = world.store.back_up(&world.admin).unwrap();
    world.put("/later", &noise(900, 31));
    world.put("/c/big", &noise(800, 32));
    world.rm_all("/large").unwrap();
    world.keep_removed("/", 0);
    world.rm_all("/larger").unwrap();
    world.sweep();
    let going = take_rows(backup, &mut intake);
    world.sweep();
    assert!(world.blobs_in("main") > blobs, "nothing is erased as long as it lasts");
    assert_eq!(bring(&world, &intake, usize::MAX).0, [""; 0]);
    drop(going);
    let catalog = intake.finish().unwrap();
    let with_all = world.blobs_in("main");
    world.sweep();
    assert!(world.blobs_in("main") < with_all, "what was removed meanwhile is erased after it");

    let new = restored(&world, &backups, &catalog);
    let found: Vec<_> = ["/c/big", "/large", "/larger"].map(|path| new.read(path)).into();
    assert!(found == kept && new.stat("/later").is_err());
}

#[test]
fn a_further_backup_brings_what_is_new_only_and_old_ones_can_be_removed() {
    let dir = tempfile::tempdir().unwrap();
    let (world, backups) = (full(), directory(&dir));
    world.keep_removed("/", 0);
    let (first, _) = backed_up(&world, &backups);
    let old = world.read("/larger");
    world.put("/larger", &noise(400, 41));
    world.sweep();
    let (second, brought) = backed_up(&world, &backups);
    assert_eq!(brought, 1);
    assert_eq!(backups.catalogs().unwrap(), [first.clone(), second.clone()]);
    assert!(restored(&world, &backups, &first).read("/larger") == old);
    assert!(restored(&world, &backups, &second).read("/larger") == noise(400, 41));

    assert_eq!(run(backups.prune(5)).unwrap(), (0, 0));
    let (removed, blobs) = run(backups.prune(1)).unwrap();
    assert!(removed == 1 && blobs >= 1, "{blobs}");
    assert_eq!(backups.catalogs().unwrap(), std::slice::from_ref(&second));
    assert_eq!(verified(&backups), []);
    assert!(restored(&world, &backups, &second).read("/larger") == noise(400, 41));
    assert_eq!(kind(backups.catalog(Some(&first.name))), ErrorKind::NotFound);
}

#[test]
fn an_interrupted_backup_is_none_and_is_completed_by_the_next() {
    let world = full();
    for most in 0.. {
        let dir = tempfile::tempdir().unwrap();
        let backups = directory(&dir);
        let mut intake = Intake::begin(&backups).unwrap();
        let going = take_rows(world.store.back_up(&world.admin).unwrap(), &mut intake);
        let (_, brought) = bring(&world, &intake, most);
        drop((going, intake));
        assert_eq!(kind(backups.catalog(None)), ErrorKind::NotFound);
        let (catalog, rest) = backed_up(&world, &backups);
        assert_clean(&{
            let new = restored(&world, &backups, &catalog);
            ["a", "b"].iter().for_each(|name| new.set_state(name, PlaceState::Up));
            new.store
        });
        if rest == 0 {
            assert!(brought > 5);
            break;
        }
    }
}

#[test]
fn contents_that_are_damaged_in_the_store_are_reported_and_not_kept() {
    let dir = tempfile::tempdir().unwrap();
    let (world, backups) = (full(), directory(&dir));
    overwrite(&world, blob_of(&world, "/c/big"), noise(1_000, 9));
    let mut intake = Intake::begin(&backups).unwrap();
    let going = take_rows(world.store.back_up(&world.admin).unwrap(), &mut intake);
    assert_eq!(bring(&world, &intake, usize::MAX).0.len(), 1);
    drop(going);
    let catalog = intake.finish().unwrap();
    let faults = verified(&backups);
    assert_eq!(faults.len(), 1);
    assert_eq!(faults[0].what, blob_of(&world, "/c/big").to_string());
    assert_eq!(kind(restore_to(&backups, &catalog, &target(&world))), ErrorKind::Damaged);
}

/// Flips a bit of each file of a directory of backups in turn.
#[test]
fn damage_of_a_backup_is_found_wherever_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let (world, backups) = (full(), directory(&dir));
    let (catalog, _) = backed_up(&world, &backups);
    let mut files =
        vec![dir.path().join("backups/catalogs").join(format!("{}.rows", catalog.name))];
    files.extend(crate::rot_files::files_below(&dir.path().join("backups/contents")));
    assert!(files.len() > 5);
    for file in files {
        let whole = std::fs::read(&file).unwrap();
        for at in [0, whole.len() / 2, whole.len() - 1] {
            let mut bytes = whole.clone();
            bytes[at] ^= 4;
            std::fs::write(&file, &bytes).unwrap();
            assert_eq!(verified(&backups).len(), 1, "{} at {at}", file.display());
        }
        std::fs::write(&file, &whole[..whole.len() - 1]).unwrap();
        assert_eq!(verified(&backups).len(), 1, "{} cut short", file.display());
        assert_eq!(
            kind(restore_to(&backups, &catalog, &target(&world))),
            ErrorKind::Damaged,
            "{}",
            file.display()
        );
        std::fs::write(&file, &whole).unwrap();
    }
    assert_eq!(verified(&backups), []);
}

#[test]
fn what_is_damaged_in_a_backup_is_brought_again_once_it_was_removed() {
    let dir = tempfile::tempdir().unwrap();
    let (world, backups) = (full(), directory(&dir));
    backed_up(&world, &backups);
    let file = crate::rot_files::files_below(&dir.path().join("backups/contents")).remove(0);
    std::fs::write(&file, b"rot").unwrap();
    let faults = verified(&backups);
    assert_eq!(faults.len(), 1);
    run(backups.remove_damaged(&faults)).unwrap();
    assert_eq!(backed_up(&world, &backups).1, 1);
    assert_eq!(verified(&backups), []);
}

#[test]
fn a_backup_is_restored_to_a_directory_and_backed_up_from_there() {
    let dir = tempfile::tempdir().unwrap();
    let (world, backups) = (full(), directory(&dir));
    let (catalog, brought) = backed_up(&world, &backups);
    let options = FjallOptions { reserve: 0, ..FjallOptions::default() };
    let engine = Arc::new(FjallEngine::open(dir.path().join("catalog"), options).unwrap());
    let main = Place::local("main", dir.path().join("contents")).unwrap();
    let to = Parts { engine, main, ..world.parts.clone() };
    restore_to(&backups, &catalog, &to).unwrap();
    let new = World { opener: world.opener.clone(), ..World::open(to, world.clock.clone()) };
    let other = tempfile::tempdir().unwrap();
    let again = directory(&other);
    let (catalog, found) = backed_up(&new, &again);
    assert_eq!(found, brought);
    let last = restored(&world, &again, &catalog);
    assert_eq!(rows(&*last.parts.engine), new.rows());
}

#[test]
fn only_administrators_take_backups() {
    let world = full();
    let user = world.user("somebody");
    assert_eq!(kind(world.store.back_up(&user)), ErrorKind::Denied);
    let blob = blob_of(&world, "/large");
    assert_eq!(kind(world.store.blob_of_backup(&user, blob).map(drop)), ErrorKind::Denied);
    let none = cenote_store::BlobId::from_bytes([7; 16]);
    assert_eq!(kind(world.store.blob_of_backup(&world.admin, none).map(drop)), ErrorKind::NotFound);
}

#[test]
fn a_directory_of_backups_is_nobody_elses() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("backups");
    let first = directory(&dir);
    assert_eq!(kind(run(async { BackupDir::open(&path) })), ErrorKind::Unavailable);
    drop(first);
    run(async { BackupDir::open(&path) }).unwrap();
    assert_eq!(kind(run(async { BackupDir::open(&dir.path().join("none")) })), ErrorKind::NotFound);
    std::fs::write(dir.path().join("something"), b"else").unwrap();
    assert_eq!(kind(run(async { BackupDir::create(dir.path()) })), ErrorKind::Exists);
    assert!(!dir.path().join("catalogs").exists(), "what is refused is left as it is");
}
