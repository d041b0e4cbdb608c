//! Iterating over a key set in order.

use super::pieces::Piece;
use crate::block::Block;
use crate::key::KeyRef;

/// The keys of a set in order.
#[derive(Clone)]
pub struct Iter<'a> {
    pieces: std::slice::Iter<'a, Piece>,
    piece: Option<&'a Piece>,
    at: usize,
    /// The end of the current piece.
    end: usize,
    left: usize,
}

impl<'a> Iter<'a> {
    pub(super) fn new(pieces: &'a [Piece], left: usize) -> Self {
        Self { pieces: pieces.iter(), piece: None, at: 0, end: 0, left }
    }

    /// The keys starting at `skip` within the first piece, `left` in total.
    pub(super) fn within(pieces: &'a [Piece], skip: usize, left: usize) -> Self {
        let mut iter = Self::new(pieces, left);
        iter.next_piece();
        iter.at = skip;
        iter
    }

    fn next_piece(&mut self) {
        self.piece = self.pieces.next();
        self.end = self.piece.map_or(0, Piece::len);
        self.at = 0;
    }
}

/// Adjacent keys of one origin.
#[derive(Clone, Copy)]
pub(crate) struct Stretch<'a>(pub(super) &'a Piece);

impl<'a> Stretch<'a> {
    /// The range of a block's entries that these keys are.
    pub(crate) fn run(self) -> Option<(&'a Block, u32, u32)> {
        match self.0 {
            Piece::Run(block, from, to) => Some((block, *from, *to)),
            Piece::List(_) => None,
        }
    }
}

impl<'a> IntoIterator for Stretch<'a> {
    type Item = KeyRef<'a>;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        Iter::new(std::slice::from_ref(self.0), self.0.len())
    }
}

impl<'a> Iterator for Iter<'a> {
    type Item = KeyRef<'a>;

    #[inline]
    fn next(&mut self) -> Option<KeyRef<'a>> {
        self.left = self.left.checked_sub(1)?;
        if self.at == self.end {
            self.next_piece();
        }
        let key = self.piece?.get(self.at);
        self.at += 1;
        Some(key)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Iter<'_> {}

impl std::fmt::Debug for Iter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}
