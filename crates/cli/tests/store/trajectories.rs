//! `cenote gsd` on trajectories in the store: only what is needed of them is read.

use crate::world::World;

const FIXTURE: &[u8] = include_bytes!("../../../gsd/tests/fixtures/files/g5_hoomd_full.gsd");

#[test]
fn a_file_in_the_store_is_as_one_here() {
    for world in World::both() {
        world.file("traj.gsd", FIXTURE);
        world.ok(&["put", "traj.gsd", ":/traj.gsd"]);
        for arguments in [
            &["gsd", "ls"][..],
            &["gsd", "ls", "--frame", "-1"],
            &["gsd", "check"],
            &["gsd", "extract", "--frame", "0", "--format", "text"],
        ] {
            let of = |file: &str| {
                let mut arguments = arguments.to_vec();
                arguments.push(file);
                if arguments[1] == "extract" {
                    arguments.push("particles/position");
                }
                world.ok(&arguments)
            };
            assert_eq!(of(":/traj.gsd"), of("traj.gsd"), "{arguments:?}");
        }
        world.ok(&["gsd", "repack", ":/traj.gsd", "packed.gsd"]);
        assert!(world.ok(&["gsd", "check", "packed.gsd"]).starts_with("sound: 5 frames"));
    }
}

#[test]
fn what_is_not_in_the_store_is_3() {
    let world = World::local();
    let (code, said) = world.refused(&["gsd", "info", ":/gone.gsd"]);
    assert_eq!(code, 3);
    assert!(said.contains("nothing is at /gone.gsd"), "{said}");
    assert_eq!(world.refused(&["gsd", "info", "-"]).0, 2);
}
