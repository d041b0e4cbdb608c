//! The `cenote` program: one file per command under `commands/`.

fn main() {}
