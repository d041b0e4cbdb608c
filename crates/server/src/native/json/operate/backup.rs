//! Backups.

use serde::Deserialize;
use utoipa::IntoParams;

/// How the rows of a backup are sent.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct BackupQuery {
    /// After the last row, go on until the client ends the answer: contents that these rows name are not erased as long as it lasts.
    #[serde(default)]
    pub(crate) hold: bool,
}
