//! The columns of quotas, as those of `iquota`.

use super::super::column::Column;
use super::names::{Names, user_type};
use super::row::QuotaRow;

/// The number that iRODS has for "on all storage resources together".
const ALL_RESOURCES: &str = "0";

impl Names<'_> {
    /// The text of a column of a quota; `None` while what it counts is not known. When it was changed is not kept.
    pub(crate) fn of_quota(&self, row: QuotaRow, column: Column) -> Option<String> {
        use Column as C;
        let person = self.persons.get(&row.owner);
        Some(match column {
            C::QuotaUserId | C::QuotaUsageUserId => row.owner.to_string(),
            C::QuotaUserName => self.person(row.owner),
            C::QuotaUserZone => self.zone.name.clone(),
            C::QuotaUserType => person.map(user_type)?.to_owned(),
            C::QuotaRescId | C::QuotaUsageRescId => ALL_RESOURCES.to_owned(),
            C::QuotaLimit => row.limit.to_string(),
            // Negative as long as there is room.
            C::QuotaOver => (i128::from(row.used?) - i128::from(row.limit)).to_string(),
            C::QuotaUsage => row.used?.to_string(),
            _ => String::new(),
        })
    }
}
