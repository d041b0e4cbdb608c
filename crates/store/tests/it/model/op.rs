//! The operations of a history.

use super::*;

#[derive(Debug, Clone)]
pub(super) enum Op {
    Create(StorePath, Kind, bool),
    Put(StorePath, usize, bool),
    Append(StorePath, usize),
    Patch(StorePath, usize, usize),
    Truncate(StorePath, usize),
    Move(StorePath, StorePath, bool),
    Copy(StorePath, StorePath, bool),
    CopyDescription(StorePath, StorePath),
    Remove(StorePath, bool),
    Describe(StorePath, AvuChange),
    Keep(StorePath, bool),
    Restore(StorePath, usize),
    KeepNow(StorePath),
    Prune(StorePath, usize),
    Retain(Option<StorePath>, bool),
    /// Limits the bytes kept in the trash.
    Limit(Option<StorePath>, Option<u64>),
    /// Purges what is over the limits.
    Fit,
    Undo(usize, Option<StorePath>, bool),
    Empty(usize),
    EmptyAll,
    Expire,
    PutIn(StorePath, usize, usize),
    Replicate(StorePath, usize),
    Trim(StorePath, usize),
    Drain(usize, usize),
    /// Makes a place the default.
    Default(usize),
    Upload(StorePath, Parts),
    /// Creates a stage from the existing content, or an empty one.
    Stage(StorePath, bool),
    /// Changes one of the stages.
    Edit(usize, Edit),
    /// Publishes one of the stages, by force or not.
    Publish(usize, bool),
    GiveUp(usize),
    Digest(StorePath),
    Sweep,
    Reopen,
}

/// Parts of an upload by offset and length, without a gap, in the order in which they are sent.
pub(super) type Parts = Vec<(usize, usize)>;

/// The sizes of contents, and the names.
#[derive(Clone)]
pub(super) struct Scale {
    pub(super) paths: &'static str,
    pub(super) sizes: BoxedStrategy<usize>,
    /// The bytes of a write in place: at least one.
    pub(super) runs: BoxedStrategy<usize>,
}

/// Contents above 64 bytes are blobs here: see [`crate::world::LIMITS`].
pub(super) fn small() -> Scale {
    Scale { paths: "(/[abc]){1,3}", sizes: (0usize..150).boxed(), runs: (1usize..80).boxed() }
}

/// Sizes within two bytes of the boundaries, and any up to 3 MB.
pub(super) fn real() -> Scale {
    let edges = select(vec![64 << 10, 512 << 10, 1 << 20, 2 << 20, 8 << 20]);
    let edges = (edges, 0usize..5).prop_map(|(edge, more): (usize, usize)| edge + more - 2);
    let sizes = prop_oneof![3 => edges, 3 => 0usize..3_000_000, 1 => 0usize..100].boxed();
    let runs = prop_oneof![1usize..100, 1usize..200_000, 1usize..1_500_000].boxed();
    Scale { paths: "/[abc]", sizes, runs }
}

/// Consecutive or overlapping parts with distinct offsets, in any order.
pub(super) fn parts(scale: &Scale) -> impl Strategy<Value = Parts> + use<> {
    vec((scale.runs.clone(), 0usize..4), 1..5)
        .prop_map(|runs| {
            let (mut free, mut end) = (0, 0);
            let part = |(length, overlap): (usize, usize)| {
                // No overlap, or a quarter or half of the part.
                let overlap = (length * overlap / 4).saturating_sub(length / 4);
                let start = free.max(end.max(overlap) - overlap);
                (free, end) = (start + 1, end.max(start + length));
                (start, length)
            };
            runs.into_iter().map(part).collect::<Vec<_>>()
        })
        .prop_shuffle()
}

pub(super) fn op(scale: &Scale) -> impl Strategy<Value = Op> + use<> {
    let names = scale.paths;
    let paths = move || names.prop_map(|text| path(&text));
    let sizes = || scale.sizes.clone();
    let runs = || scale.runs.clone();
    let kinds = prop_oneof![3 => Just(Kind::Collection), 1 => Just(Kind::Link), 1 => Just(Kind::Description)];
    // Two large values do not fit into one record.
    let values = prop_oneof![3 => Just("v".to_owned()), 1 => Just("w".repeat(20_000))];
    let change = ("[kl]", values, 0..3).prop_map(|(k, v, which)| match which {
        0 => AvuChange::Add(avu(&k, &v)),
        1 => AvuChange::Remove(avu(&k, &v)),
        _ => AvuChange::Set(avu(&k, &v)),
    });
    prop_oneof![
        4 => (paths(), kinds, any::<bool>()).prop_map(|(p, k, b)| Op::Create(p, k, b)),
        5 => (paths(), sizes(), any::<bool>()).prop_map(|(p, n, b)| Op::Put(p, n, b)),
        2 => (paths(), runs()).prop_map(|(p, n)| Op::Append(p, n)),
        1 => paths().prop_map(|p| Op::Append(p, 0)),
        3 => (paths(), sizes(), runs()).prop_map(|(p, at, n)| Op::Patch(p, at, n)),
        2 => (paths(), sizes()).prop_map(|(p, n)| Op::Truncate(p, n)),
        2 => (paths(), parts(scale)).prop_map(|(p, parts)| Op::Upload(p, parts)),
        3 => (paths(), any::<bool>()).prop_map(|(p, b)| Op::Stage(p, b)),
        6 => (0usize..2, stages::edit(scale)).prop_map(|(n, edit)| Op::Edit(n, edit)),
        3 => (0usize..2, any::<bool>()).prop_map(|(n, b)| Op::Publish(n, b)),
        1 => (0usize..2).prop_map(Op::GiveUp),
        2 => paths().prop_map(Op::Digest),
        3 => (paths(), paths(), any::<bool>()).prop_map(|(p, q, b)| Op::Move(p, q, b)),
        3 => (paths(), paths(), any::<bool>()).prop_map(|(p, q, b)| Op::Copy(p, q, b)),
        2 => (paths(), paths()).prop_map(|(p, q)| Op::CopyDescription(p, q)),
        2 => (paths(), any::<bool>()).prop_map(|(p, b)| Op::Remove(p, b)),
        3 => (paths(), change).prop_map(|(p, c)| Op::Describe(p, c)),
        2 => (paths(), any::<bool>()).prop_map(|(p, b)| Op::Keep(p, b)),
        1 => (paths(), 0usize..3).prop_map(|(p, n)| Op::Restore(p, n)),
        2 => paths().prop_map(Op::KeepNow),
        2 => (paths(), 0usize..4).prop_map(|(p, n)| Op::Prune(p, n)),
        2 => (of(paths()), any::<bool>()).prop_map(|(p, b)| Op::Retain(p, b)),
        2 => (of(paths()), of(sizes())).prop_map(|(p, n)| Op::Limit(p, n.map(|n| n as u64))),
        2 => Just(Op::Fit),
        3 => (0usize..3, of(paths()), any::<bool>()).prop_map(|(n, p, b)| Op::Undo(n, p, b)),
        1 => (0usize..3).prop_map(Op::Empty),
        1 => Just(Op::EmptyAll),
        1 => Just(Op::Expire),
        2 => (paths(), 0usize..4, sizes()).prop_map(|(p, at, n)| Op::PutIn(p, at, n)),
        3 => (paths(), 0usize..4).prop_map(|(p, at)| Op::Replicate(p, at)),
        2 => (paths(), 0usize..3).prop_map(|(p, n)| Op::Trim(p, n)),
        1 => (0usize..3, 0usize..3).prop_map(|(from, to)| Op::Drain(from, to)),
        2 => (0usize..4).prop_map(Op::Default),
        1 => Just(Op::Sweep),
        1 => Just(Op::Reopen),
    ]
}

impl Op {
    /// The object whose bytes it changes.
    pub(super) fn target(&self) -> Option<&StorePath> {
        match self {
            Self::Put(to, ..)
            | Self::PutIn(to, ..)
            | Self::Append(to, _)
            | Self::Patch(to, ..)
            | Self::Truncate(to, _)
            | Self::Upload(to, _)
            | Self::Restore(to, _)
            | Self::Copy(_, to, _)
            | Self::Replicate(to, _) => Some(to),
            _ => None,
        }
    }
}
