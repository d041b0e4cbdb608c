//! Rows about what was removed and is shown in iRODS' trash.

use cenote_store::{Kind, StorePath};

use super::super::trash::Trash;
use super::source::{Source, Take};
use crate::Result;

impl<'a> Source<'a> {
    /// What was removed and is shown in or below a collection.
    pub(super) fn removed(
        &self,
        path: &StorePath,
        deep: bool,
        kind: Kind,
        take: Take<'_>,
    ) -> Result<()> {
        self.trash()?.below(path, deep, &mut |stat| self.all(std::iter::once(Ok(stat)), kind, take))
    }

    /// What was removed, read when it is needed for the first time.
    pub(crate) fn trash(&self) -> Result<&Trash<'a>> {
        if self.trash.get().is_none() {
            let mut items = Vec::new();
            for item in self.reading.removed() {
                self.meter.step()?;
                items.extend(item?);
            }
            // No other thread can have filled it.
            let _ = self.trash.set(Trash::new(self.reading, items)?);
        }
        Ok(self.trash.get().expect("it was filled just now"))
    }
}
