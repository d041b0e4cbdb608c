//! Which changes had been made at a moment, and which were made later.
//!
//! A moment is a point in the order of commits, between two of them: of a position, after the commit that it lies in; of a time, before the
//! first commit that was later. Commits that are made at the same time can be recorded in another order than that of their times,
//! by some milliseconds; the point is one of theirs then.

use crate::catalog::{ChangeRecord, Reads, Record, View};
use crate::feed::{self, Position};
use crate::model::Time;
use crate::{Error, ErrorKind, Result};

/// A moment in the past.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// The state at this time.
    Time(Time),
    /// The state after the change at this position of the change feed.
    Position(Position),
}

/// The last commit that counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cut(pub(super) Position);

impl Cut {
    /// # Errors
    /// [`ErrorKind::Invalid`] for a moment in the future and for a position that no change has, [`ErrorKind::Expired`] for one of whose later changes some are forgotten.
    pub(super) fn at(view: &View, moment: Moment, now: Time) -> Result<Self> {
        let position = match moment {
            Moment::Position(position) => position,
            Moment::Time(time) if time > now => return Err(future("the time")),
            Moment::Time(time) => Position::end_of(last_commit(view, time)?),
        };
        let cut = Self(Position::end_of(position.commit()));
        if position.commit() > feed::newest(view)?.commit() {
            return Err(future("the position"));
        }
        require_kept(view, cut.0)?;
        match position == cut.0 || feed::is_position(view, position)? {
            true => Ok(cut),
            false => Err(never_was(position)),
        }
    }

    /// The later changes, in their order.
    pub(super) fn later(self, view: &View) -> impl Iterator<Item = Result<ChangeRecord>> {
        changes_after(view, self.0).map(|change| Ok(change?.1))
    }
}

/// The changes after a position, in their order, each with its own.
pub(super) fn changes_after(
    view: &View,
    position: Position,
) -> impl Iterator<Item = Result<(Position, ChangeRecord)>> {
    let rows = view.snapshot.scan(&feed::after(position), Default::default());
    rows.map(|row| {
        crate::waiting::go_on()?;
        let (key, value) = row?;
        Ok((Position::of_key(&key), ChangeRecord::from_value(&value)?))
    })
}

/// Refuses a position of whose later changes some are forgotten.
pub(super) fn require_kept(view: &View, position: Position) -> Result<()> {
    match position < feed::floor(view)? {
        true => Err(too_early()),
        false => Ok(()),
    }
}

/// The last commit that was not later than a time.
fn last_commit(view: &View, time: Time) -> Result<u64> {
    let floor = feed::floor(view)?;
    let first = at_or_after(view, floor.commit().saturating_add(1))?;
    if floor != Position::default() && first.is_none_or(|(_, at)| at > time) {
        return Err(too_early());
    }
    // Commits up to `low` are not later than the moment, and those from `high` on are.
    let (mut low, mut high) = (floor.commit(), feed::newest(view)?.commit().saturating_add(1));
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        match at_or_after(view, middle)? {
            Some((commit, at)) if commit < high && at <= time => low = commit,
            _ => high = middle,
        }
    }
    Ok(low)
}

/// The first commit from a number on that changed a resource, and when it was made.
fn at_or_after(view: &View, commit: u64) -> Result<Option<(u64, Time)>> {
    let range = feed::after(Position::end_of(commit.saturating_sub(1)));
    let Some((key, value)) = view.rows(&range, 1)?.pop() else { return Ok(None) };
    Ok(Some((Position::of_key(&key).commit(), ChangeRecord::from_value(&value)?.at)))
}

fn future(what: &str) -> Error {
    Error::invalid(format!("{what} is in the future")).with_hint("give a time in the past")
}

fn never_was(position: Position) -> Error {
    Error::invalid(format!("there is no change at position {position}"))
        .with_hint("take a position from `cenote changes --follow`, or give a time")
}

fn too_early() -> Error {
    Error::new(ErrorKind::Expired, "the time is before the first change that is kept")
        .with_hint("give a later time: `keep_changes_days` in the settings of the store says how long changes are kept")
}
