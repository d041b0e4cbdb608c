//! Checks a file for corruption: examines every structure and reports each problem with its offset.
//!
//! Opening a file validates some twenty entries of the index; this validates all of them, the name list, and how the
//! bytes of the file are used. The format has no checksums, so changed chunk data cannot be detected.

use std::ops::Range;

use crate::entry::{ENTRY_SIZE, RawEntry};
use crate::error::Result;
use crate::header::{HEADER_SIZE, NAME_CELL};
use crate::reader::Reader;
use crate::source::Source;

/// Problems reported individually; the rest are only counted.
const LISTED: usize = 100;

/// A problem with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Offset of the faulty structure, in bytes.
    pub at: u64,
    /// What is wrong.
    pub what: String,
}

/// What [`Reader::check`] found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The first hundred problems, in the order of the checks.
    pub problems: Vec<Problem>,
    /// The total number of problems.
    pub found: u64,
    /// Bytes of the file used by the header, index, names or chunk data.
    pub used: u64,
    /// Unreferenced bytes: outgrown blocks, data of lost frames.
    pub unreachable: u64,
}

impl Report {
    /// Whether no problem was found. Unreachable bytes are not a problem.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.found == 0
    }

    fn problem(&mut self, at: u64, what: impl Into<String>) {
        self.found += 1;
        if self.problems.len() < LISTED {
            self.problems.push(Problem { at, what: what.into() });
        }
    }
}

impl<S: Source> Reader<S> {
    /// Checks every index entry and name, and which bytes belong to what.
    ///
    /// # Errors
    /// [`crate::Error::Io`]: problems of the file itself are in the report.
    pub fn check(&self) -> Result<Report> {
        let mut report = Report::default();
        self.check_names(&mut report);
        let mut areas = self.blocks();
        self.check_entries(&mut report, &mut areas)?;
        self.check_end_of_index(&mut report)?;
        self.check_areas(&mut report, areas);
        Ok(report)
    }

    /// Checks that every index entry is valid, in order, and does not share its bytes with another.
    ///
    /// # Errors
    /// [`crate::Error::Corrupt`], with the first problem; [`crate::Error::Io`].
    pub(crate) fn check_index(&self) -> Result<()> {
        let mut report = Report::default();
        let mut areas = self.blocks();
        self.check_entries(&mut report, &mut areas)?;
        self.check_end_of_index(&mut report)?;
        self.check_areas(&mut report, areas);
        match report.problems.into_iter().next() {
            Some(Problem { at, what }) => Err(crate::Error::corrupt(at, what)),
            None => Ok(()),
        }
    }

    fn check_names(&self, report: &mut Report) {
        for (id, name) in (0..).zip(self.names().iter()) {
            let at = self.header().names_location;
            if std::str::from_utf8(name).is_err() {
                report.problem(at, format!("name {id} is not UTF-8: {}", name.escape_ascii()));
            }
            if self.names().id(name) != Some(id) {
                let what = format!("name {id} repeats an earlier one: {}", name.escape_ascii());
                report.problem(at, what);
            }
        }
    }

    fn blocks(&self) -> Vec<Range<u64>> {
        let (index, entries) = self.header().index_block();
        let (names, cells) = self.header().name_block();
        vec![
            0..HEADER_SIZE as u64,
            index..index + entries * ENTRY_SIZE as u64,
            names..names + cells * NAME_CELL,
        ]
    }

    fn check_entries(&self, report: &mut Report, areas: &mut Vec<Range<u64>>) -> Result<()> {
        let limits = self.limits();
        let mut last: Option<RawEntry> = None;
        for (i, raw) in (0..).zip(self.raw_entries()) {
            let raw = raw?;
            let at = self.header().index_location + i * ENTRY_SIZE as u64;
            if raw.location == 0 {
                report.problem(at, format!("index entry {i}: hole before the end of the index"));
                continue;
            }
            match raw.check(&limits) {
                Err(what) => report.problem(at, format!("index entry {i}: {what}")),
                Ok(_) if raw.columns == 0 => {
                    report.problem(at, format!("index entry {i}: a chunk without columns"));
                }
                Ok(entry) => areas.push(entry.location..entry.location + entry.byte_size()),
            }
            if let Some(what) = last.and_then(|last| self.misplaced(&last, &raw)) {
                report.problem(at, format!("index entry {i}: {what}"));
            }
            last = Some(raw);
        }
        Ok(())
    }

    /// What is wrong with the order of two consecutive entries.
    fn misplaced(&self, last: &RawEntry, entry: &RawEntry) -> Option<String> {
        if entry.frame < last.frame {
            return Some(format!("frame {} after frame {}", entry.frame, last.frame));
        }
        let v1 = self.header().gsd_version.is_v1();
        if v1 || entry.frame != last.frame || entry.id > last.id {
            return None;
        }
        let what = if entry.id == last.id { "twice in" } else { "out of order in" };
        Some(format!("name {} {what} frame {}", entry.id, entry.frame))
    }

    /// After the last entry there must be only zeros.
    fn check_end_of_index(&self, report: &mut Report) -> Result<()> {
        let (location, allocated) = self.header().index_block();
        let mut at = location + self.chunks() * ENTRY_SIZE as u64;
        let end = location + allocated * ENTRY_SIZE as u64;
        let mut bytes = vec![0; 1 << 16];
        while at < end {
            let part = &mut bytes[..(end - at).min(1 << 16) as usize];
            self.source().read_at(at, part)?;
            if let Some(found) = part.iter().position(|&byte| byte != 0) {
                let entry = (at + found as u64 - location) / ENTRY_SIZE as u64;
                report.problem(at + found as u64, format!("index entry {entry}: after the end"));
                return Ok(());
            }
            at += part.len() as u64;
        }
        Ok(())
    }

    fn check_areas(&self, report: &mut Report, mut areas: Vec<Range<u64>>) {
        areas.retain(|area| !area.is_empty());
        areas.sort_unstable_by_key(|area| (area.start, area.end));
        let mut end = 0;
        for area in areas {
            if area.start < end {
                let what = format!("bytes {}..{} have two owners", area.start, area.end.min(end));
                report.problem(area.start, what);
            }
            report.unreachable += area.start.saturating_sub(end);
            report.used += area.end.saturating_sub(area.start.max(end));
            end = end.max(area.end);
        }
        report.unreachable += self.size().saturating_sub(end);
    }
}
