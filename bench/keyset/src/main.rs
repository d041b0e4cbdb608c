//! The counterparts of libelektra's `benchmark_plugingetset` and
//! `benchmark_storage`, and the generator of their key sets. `bench/keyset/run`
//! drives them.
//!
//! ```text
//! bench-keyset generate <keys> <directory>
//! bench-keyset getset   <directory> <parent> <format> [get|index]
//! bench-keyset storage  <directories> <keys> <file> <format>
//! bench-keyset append   <directory> <parent> <format> <rounds>
//! bench-keyset micro    <directory> <parent> <format>
//! ```
#![allow(clippy::unwrap_used, reason = "a measurement stops at what it does not expect")]

use std::fs::File;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use cenote_keyset::file::Snapshot;
use cenote_keyset::{Format, Key, KeyName, KeySet, ReadOptions, WriteOptions, read, write};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["generate", keys, directory] => generate(keys.parse().unwrap(), directory),
        ["getset", directory, parent, format] => get_set(directory, parent, format),
        ["getset", directory, parent, format, "get"] => touch(&load(directory, parent, format)),
        ["getset", directory, parent, format, "index"] => drop(load(directory, parent, format)),
        ["storage", directories, keys, file, format] => {
            storage(directories.parse().unwrap(), keys.parse().unwrap(), file, format);
        }
        ["append", directory, parent, format, rounds] => {
            append(directory, parent, format, rounds.parse().unwrap());
        }
        ["micro", directory, parent, format] => micro(&load(directory, parent, format), parent),
        _ => panic!("see the head of main.rs"),
    }
}

fn format(name: &str) -> Format {
    Format::from_name(name).unwrap()
}

fn name(name: &str) -> KeyName {
    KeyName::new(name).unwrap()
}

fn load(directory: &str, parent: &str, plugin: &str) -> KeySet {
    get(&Path::new(directory).join(format!("test.{plugin}.in")), parent, plugin)
}

fn get(path: &Path, parent: &str, plugin: &str) -> KeySet {
    let (bytes, _) = Snapshot::read(path).unwrap();
    read(bytes.unwrap(), &name(parent), format(plugin), ReadOptions::default()).unwrap()
}

fn set(keys: &KeySet, path: &Path, parent: &str, plugin: &str) {
    let file = File::create(path).unwrap();
    write(keys, &name(parent), format(plugin), WriteOptions::default(), file).unwrap();
}

/// Reads every byte of every name, value and metakey.
fn touch(keys: &KeySet) {
    let mut sum = 0_u64;
    let mut add = |bytes: &[u8]| sum += bytes.iter().map(|byte| u64::from(*byte)).sum::<u64>();
    for key in keys {
        key.name().pieces().into_iter().for_each(&mut add);
        add(key.value().as_bytes());
        for meta in key.meta() {
            add(meta.name());
            add(meta.value());
        }
    }
    black_box(sum);
}

fn get_set(directory: &str, parent: &str, plugin: &str) {
    let keys = load(directory, parent, plugin);
    set(&keys, &Path::new(directory).join(format!("test.{plugin}.out")), parent, plugin);
}

/// Key i is called `_` (digits - 1 times) and its digits, with a value and four
/// metakeys of 15 characters each; all random, but the same each time.
fn generate(count: u64, directory: &str) {
    let parent = name("dir:/tests/bench");
    let mut random = Random(1);
    let keys: KeySet = (0..count)
        .map(|index| {
            let digits = index.to_string();
            let part = format!("{}{digits}", "_".repeat(digits.len() - 1));
            let mut key = Key::new(parent.child(part).unwrap());
            key.set_string(random.word()).unwrap();
            for meta in 0..4 {
                key.set_meta(format!("meta/{meta}"), random.word()).unwrap();
            }
            key
        })
        .collect();
    std::fs::create_dir_all(directory).unwrap();
    for plugin in ["quickdump", "dump"] {
        let path = Path::new(directory).join(format!("test.{plugin}.in"));
        set(&keys, &path, "dir:/tests/bench", plugin);
    }
}

/// A linear congruential generator: enough for values that do not compress.
struct Random(u64);

impl Random {
    fn word(&mut self) -> String {
        const LETTERS: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
        let mut letter = || {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            char::from(LETTERS[(self.0 >> 33) as usize % LETTERS.len()])
        };
        (0..15).map(|_| letter()).collect()
    }
}

/// The time since the last call, printed in the format of `benchmark_storage`.
struct Clock<'a> {
    plugin: &'a str,
    last: Instant,
}

impl Clock<'_> {
    fn row(&mut self, operation: &str) {
        println!("{};{operation};{}", self.plugin, self.last.elapsed().as_micros());
        self.last = Instant::now();
    }
}

fn storage(directories: u32, keys: u32, file: &str, plugin: &str) {
    let parent = name("user:/benchmark");
    let mut large = KeySet::new();
    let mut add = |name: KeyName| {
        let mut key = Key::new(name);
        key.set_string("data").unwrap();
        large.append(key);
    };
    for directory in 0..directories {
        let directory = parent.child(format!("dir{directory}")).unwrap();
        (0..keys).for_each(|key| add(directory.child(format!("key{key}")).unwrap()));
        add(directory);
    }
    println!("plugin;operation;microseconds");
    for _ in 0..7 {
        storage_run(&large, Path::new(file), plugin);
    }
}

fn storage_run(large: &KeySet, file: &Path, plugin: &str) {
    let parent = "user:/benchmark";
    let mut clock = Clock { plugin, last: Instant::now() };
    set(large, file, parent, plugin);
    clock.row("write keyset");
    let keys = get(file, parent, plugin);
    clock.row("read keyset");
    for key in &keys {
        black_box(key);
    }
    clock.row("iterate keyset");
    drop(keys);
    clock.row("delete keyset");
    let keys = get(file, parent, plugin);
    clock.row("re-read keyset");
    clock.last = Instant::now();
    for key in &keys {
        let [head, tail] = key.name().pieces();
        black_box(if head.is_empty() { tail } else { head }.starts_with(b"foo"));
    }
    clock.row("strcmp key name");
    for key in &keys {
        black_box(key.value().as_bytes().starts_with(b"bar"));
    }
    clock.row("strcmp key value");
}

/// Reads, adds one key and writes, repeatedly in one process, which keeps the keys until it has
/// read the new ones.
fn append(directory: &str, parent: &str, plugin: &str, rounds: u32) {
    let file = Path::new(directory).join(format!("test.{plugin}.append"));
    set(&load(directory, parent, plugin), &file, parent, plugin);
    let mut old = KeySet::new();
    for round in 0..rounds {
        let (wall, cpu) = (Instant::now(), cpu_time());
        let mut keys = get(&file, parent, plugin);
        keys.append(Key::new(name(parent).child(format!("more{round}")).unwrap()));
        set(&keys, &file, parent, plugin);
        old = keys;
        println!("{round};{};{:.0}", wall.elapsed().as_micros(), (cpu_time() - cpu) / 1000.0);
    }
    black_box(old);
}

/// Operations on keys and key sets, in nanoseconds of CPU time each.
fn micro(keys: &KeySet, parent: &str) {
    let names: Vec<KeyName> = keys.iter().map(|key| key.name().to_name()).collect();
    let mut random = Random(7);
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by_cached_key(|_| random.word());
    let cascading: Vec<_> =
        names.iter().map(|name| name.with_namespace(cenote_keyset::Namespace::Cascading)).collect();

    let count = order.len();
    per("lookup by name", count, || {
        order.iter().for_each(|at| assert!(black_box(keys.get(&names[*at])).is_some()));
    });
    let mut looked = keys.clone();
    per("cascading lookup", count, || {
        order.iter().for_each(|at| assert!(looked.lookup(&cascading[*at]).is_some()));
    });
    let mut owned = Vec::new();
    per("new key", count, || owned.extend(order.iter().map(|at| Key::new(names[*at].clone()))));
    let mut set = KeySet::new();
    per("append in random order", count, || owned.drain(..).for_each(|key| set.append(key)));
    let mut loaded = keys.clone();
    per("replace in a loaded set", count, || {
        order.iter().for_each(|at| loaded.append(Key::new(names[*at].clone())));
    });
    per("copy, cut all", 1, || drop(black_box(keys.clone().cut(&name(parent)))));
}

fn per(what: &str, count: usize, operations: impl FnOnce()) {
    let start = cpu_time();
    operations();
    println!("{what};{:.1}", (cpu_time() - start) / count as f64);
}

/// The CPU time of this process so far, in nanoseconds.
fn cpu_time() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}
