//! The ordered sequence under a key set. A loaded file is one run of its block's entries; changes split small lists
//! of keys off it.
//!
//! Invariants: no piece is empty; all keys are in order and unique across pieces; a list holds at most [`MAX_LIST`]
//! keys, so the cost of an insertion is bounded whatever the size of the set.

use std::sync::Arc;

use super::iter::Iter;
use super::search::{search, search_run};
use crate::block::Block;
use crate::key::{Key, KeyRef, Place};
use crate::name::NameRef;

const MAX_LIST: usize = 256;
/// A run is split at multiples of this, so that there are few pieces.
const WINDOW: u32 = 128;

/// Adjacent keys.
#[derive(Clone)]
pub(super) enum Piece {
    /// A range of a block's entries.
    Run(Arc<Block>, u32, u32),
    /// Individual keys.
    List(Arc<Vec<Key>>),
}

/// The position of a key, or where it would be inserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) piece: usize,
    pub(super) at: usize,
}

#[derive(Clone, Default)]
pub(super) struct Pieces {
    pieces: Vec<Piece>,
    len: usize,
}

impl Piece {
    #[inline]
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Run(_, from, to) => (to - from) as usize,
            Self::List(keys) => keys.len(),
        }
    }

    #[inline]
    pub(super) fn get(&self, at: usize) -> KeyRef<'_> {
        match self {
            Self::Run(block, from, _) => KeyRef(Place::Packed(block, from + at as u32)),
            Self::List(keys) => keys[at].borrow(),
        }
    }

    fn last_name(&self) -> NameRef<'_> {
        self.get(self.len() - 1).name()
    }

    /// The index of the key with this name.
    fn find(&self, name: NameRef<'_>) -> Option<usize> {
        if name < self.get(0).name() {
            return None;
        }
        if let Self::Run(block, from, to) = self
            && let Some(found) = block.find(name)
        {
            return found.filter(|at| (*from..*to).contains(at)).map(|at| (at - from) as usize);
        }
        self.search(name).ok()
    }

    fn search(&self, name: NameRef<'_>) -> Result<usize, usize> {
        match self {
            Self::Run(block, from, to) => {
                search_run(block, &block.entries[*from as usize..*to as usize], name)
            }
            Self::List(keys) => search(keys, |key| key.name().cmp(&name)),
        }
    }

    /// The part of this piece in a range of indices.
    fn part(&self, from: usize, to: usize) -> Option<Self> {
        match self {
            _ if from == to => None,
            Self::Run(block, start, _) => {
                Some(Self::Run(Arc::clone(block), start + from as u32, start + to as u32))
            }
            Self::List(keys) => Some(Self::List(Arc::new(keys[from..to].to_vec()))),
        }
    }
}

impl Pieces {
    pub(super) fn of_block(block: Arc<Block>) -> Self {
        let len = block.len();
        let pieces = if len == 0 { Vec::new() } else { vec![Piece::Run(block, 0, len)] };
        Self { pieces, len: len as usize }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    pub(super) fn iter(&self) -> Iter<'_> {
        Iter::new(&self.pieces, self.len)
    }

    /// The keys in a range of positions.
    pub(super) fn range(&self, from: Position, to: Position) -> Iter<'_> {
        let left = self.rank(to) - self.rank(from);
        Iter::within(&self.pieces[from.piece..], from.at, left)
    }

    /// The number of keys before a position.
    fn rank(&self, position: Position) -> usize {
        self.pieces[..position.piece].iter().map(Piece::len).sum::<usize>() + position.at
    }

    pub(super) fn at(&self, mut index: usize) -> Option<KeyRef<'_>> {
        for piece in &self.pieces {
            match index.checked_sub(piece.len()) {
                None => return Some(piece.get(index)),
                Some(rest) => index = rest,
            }
        }
        None
    }

    /// The first piece that does not end before this name.
    fn piece_of(&self, name: NameRef<'_>) -> usize {
        search(&self.pieces, |piece| piece.last_name().cmp(&name)).unwrap_or_else(|at| at)
    }

    /// The position of the key with this name, or where it would be inserted.
    pub(super) fn locate(&self, name: NameRef<'_>) -> Result<Position, Position> {
        let piece = self.piece_of(name);
        let position = |at| Position { piece, at };
        match self.pieces.get(piece) {
            Some(found) => found.search(name).map(position).map_err(position),
            None => Err(position(0)),
        }
    }

    /// The position of the key with this name.
    pub(super) fn find(&self, name: NameRef<'_>) -> Option<Position> {
        let piece = self.piece_of(name);
        self.pieces.get(piece)?.find(name).map(|at| Position { piece, at })
    }

    /// The key at a position that was found.
    pub(super) fn key(&self, Position { piece, at }: Position) -> KeyRef<'_> {
        self.pieces[piece].get(at)
    }

    /// The first position at which `goes_left` no longer holds; it must hold for all keys before that and for none
    /// after.
    pub(super) fn partition(&self, goes_left: impl Fn(KeyRef<'_>) -> bool) -> Position {
        let piece = self.pieces.partition_point(|piece| goes_left(piece.get(piece.len() - 1)));
        let Some(found) = self.pieces.get(piece) else { return Position { piece, at: 0 } };
        let (mut from, mut to) = (0, found.len());
        while from < to {
            let middle = (from + to) / 2;
            if goes_left(found.get(middle)) { from = middle + 1 } else { to = middle }
        }
        Position { piece, at: from }
    }

    pub(super) fn insert(&mut self, key: Key) {
        match self.locate(key.name()) {
            Ok(position) => {
                let Position { piece, at } = self.carve(position);
                self.list(piece)[at] = key;
            }
            Err(position) if position.piece == self.pieces.len() => self.push(key),
            Err(position) => {
                let Position { piece, at } = self.carve(position);
                self.list(piece).insert(at, key);
                self.len += 1;
                self.split_if_full(piece);
            }
        }
    }

    /// Adds a key after all others.
    fn push(&mut self, key: Key) {
        self.len += 1;
        match self.pieces.last_mut() {
            Some(Piece::List(keys)) if keys.len() < MAX_LIST => Arc::make_mut(keys).push(key),
            _ => self.pieces.push(Piece::List(Arc::new(vec![key]))),
        }
    }

    pub(super) fn remove(&mut self, position: Position) -> Key {
        let Position { piece, at } = self.carve(position);
        let key = self.list(piece).remove(at);
        if self.pieces[piece].len() == 0 {
            self.pieces.remove(piece);
        }
        self.len -= 1;
        key
    }

    /// Adds all keys of another sequence, which take precedence.
    pub(super) fn append(&mut self, other: &Self) {
        let follows = match (self.pieces.last(), other.pieces.first()) {
            (Some(last), Some(first)) => last.last_name() < first.get(0).name(),
            _ => true,
        };
        if follows {
            self.pieces.extend(other.pieces.iter().cloned());
            self.len += other.len;
        } else {
            other.iter().for_each(|key| self.insert(key.to_key()));
        }
    }

    /// Removes the keys in a range of positions and returns them.
    pub(super) fn cut(&mut self, from: Position, to: Position) -> Self {
        let cut = self.copy(from, to);
        if cut.len == 0 {
            return cut;
        }
        let before = self.pieces[from.piece].part(0, from.at);
        let last = self.pieces.get(to.piece);
        let after = last.and_then(|piece| piece.part(to.at, piece.len()));
        let end = self.pieces.len().min(to.piece + 1);
        self.pieces.splice(from.piece..end, before.into_iter().chain(after));
        self.len -= cut.len;
        cut
    }

    /// The keys in a range of positions, as a new sequence.
    pub(super) fn copy(&self, from: Position, to: Position) -> Self {
        let len = self.rank(to) - self.rank(from);
        let end = self.pieces.len().min(to.piece + 1);
        let parts = (from.piece..end).filter_map(|at| {
            let piece = &self.pieces[at];
            let start = if at == from.piece { from.at } else { 0 };
            let stop = if at == to.piece { to.at } else { piece.len() };
            piece.part(start, stop.max(start))
        });
        Self { pieces: parts.collect(), len }
    }

    /// Turns the surroundings of a position into a list, and returns the new position.
    fn carve(&mut self, position: Position) -> Position {
        let Position { piece, at } = position;
        let Piece::Run(block, from, to) = &self.pieces[piece] else { return position };
        let (from, to) = (*from, *to);
        let window = (from + at as u32) / WINDOW * WINDOW;
        let (start, end) = (window.max(from), (window + WINDOW).min(to));
        let keys = (start..end).map(|index| Key::packed(block, index)).collect();
        let run = &self.pieces[piece];
        let before = run.part(0, (start - from) as usize);
        let after = run.part((end - from) as usize, run.len());
        let carved = Position {
            piece: piece + usize::from(before.is_some()),
            at: at - (start - from) as usize,
        };
        let list = Piece::List(Arc::new(keys));
        self.pieces.splice(piece..=piece, before.into_iter().chain([list]).chain(after));
        carved
    }

    fn list(&mut self, piece: usize) -> &mut Vec<Key> {
        match &mut self.pieces[piece] {
            Piece::List(keys) => Arc::make_mut(keys),
            Piece::Run(..) => unreachable!("a carved piece is a list"),
        }
    }

    fn split_if_full(&mut self, piece: usize) {
        let keys = self.list(piece);
        if keys.len() > MAX_LIST {
            let half = keys.split_off(keys.len() / 2);
            self.pieces.insert(piece + 1, Piece::List(Arc::new(half)));
        }
    }
}
