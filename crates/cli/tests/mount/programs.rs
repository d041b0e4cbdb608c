//! Ordinary programs in a mount.

use crate::support::{World, can_mount};

#[test]
fn shell_tools_edit_copy_and_move_files() {
    if !can_mount() {
        return;
    }
    let world = World::new();
    let mount = world.mount(&["--write"]);
    mount.sh("mkdir -p $SCRATCH/tree/sub; seq 1000 > $SCRATCH/tree/a; seq 9 > $SCRATCH/tree/sub/b
        cp -a $SCRATCH/tree .; diff -r $SCRATCH/tree tree
        sed -i s/5/five/ tree/sub/b; grep -q five tree/sub/b
        dd if=/dev/urandom of=$SCRATCH/random bs=1M count=9 2>/dev/null
        dd if=$SCRATCH/random of=random bs=1M conv=fsync 2>/dev/null; cmp random $SCRATCH/random
        dd if=$SCRATCH/random of=random bs=1k seek=3 skip=7 count=5 conv=notrunc 2>/dev/null
        dd if=$SCRATCH/random of=$SCRATCH/random2 bs=1k skip=7 count=5 2>/dev/null
        tail -c +3073 random | head -c 5120 | cmp - $SCRATCH/random2
        tar -cf t.tar tree; mkdir out; tar -xf t.tar -C out; diff -r tree out/tree
        echo one > saved; echo two > saved.tmp; mv saved.tmp saved; grep -q two saved
        : > empty; test -f empty; test ! -s empty; echo x >> empty; rm -r tree out
        find . | wc -l");
    assert_eq!(mount.sh("ls"), "empty\nrandom\nsaved\nt.tar\n");
    assert_eq!(mount.log(), "");
}

#[test]
fn git_clones_commits_and_checks() {
    if !can_mount() {
        return;
    }
    let world = World::new();
    let mount = world.mount(&["--write"]);
    mount.sh("git config --global user.email a@example.org; git config --global user.name a
        git init -q $SCRATCH/r; cd $SCRATCH/r; for n in $(seq 20); do echo $n > f$n; done
        git add .; git commit -qm one; cd -
        git clone -q $SCRATCH/r clone; cd clone; git fsck --strict; test -z \"$(git status --porcelain)\"
        echo more >> f1; git commit -qam two; git gc -q; git fsck --strict
        test -z \"$(git status --porcelain)\"; git push -q origin HEAD:refs/heads/two
        git -C $SCRATCH/r fsck --strict; git -C $SCRATCH/r log --oneline two | wc -l");
    assert_eq!(mount.log(), "");
}

#[test]
fn a_project_in_c_is_unpacked_and_built() {
    if !can_mount() {
        return;
    }
    let world = World::new();
    let mount = world.mount(&["--write"]);
    mount.sh("mkdir -p $SCRATCH/p; cd $SCRATCH/p
        for n in $(seq 5); do echo \"int f$n(void){return $n;}\" > f$n.c; done
        echo 'int f5(void); int main(void){return f5()-5;}' > main.c
        printf 'main: main.o f1.o f2.o f3.o f4.o f5.o\\n\\tcc -o $@ $^\\n' > Makefile
        tar -cf ../p.tar .; cd -; tar -xf $SCRATCH/p.tar; make -s; ./main; make -q");
    assert_eq!(mount.log(), "");
}

#[test]
fn sqlite_in_rollback_mode_keeps_its_database_consistent() {
    if !can_mount() || std::process::Command::new("sqlite3").arg("-version").output().is_err() {
        return;
    }
    let world = World::new();
    let mount = world.mount(&["--write"]);
    let out = mount.sh("sqlite3 db 'create table t(a); insert into t values(1),(2); update t set a=a+1;'
        sqlite3 db 'begin; insert into t values(10); rollback; pragma integrity_check; select sum(a) from t;'
        sqlite3 db 'insert into t select a+1 from t; vacuum; pragma integrity_check; select sum(a) from t;'");
    assert_eq!(out, "ok\n5\nok\n12\n");
    let stored = world.cenote(&["cat", "/db"]).output().unwrap().stdout;
    assert!(stored.starts_with(b"SQLite format 3"));
}
