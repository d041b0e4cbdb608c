//! States of an object that were kept.

use axum::extract::State;
use cenote_store::{At, Caller, Prune, Store};

use crate::app::App;
use crate::layer::{Asker, Changer};
use crate::native::json::{
    ChangeVersions, Names, Resource, Target, Version, VersionOp, VersionOutcome, Versions,
};
use crate::native::request::address::at;
use crate::native::request::extract::Json;
use crate::problem::Problem;

/// The versions of an object, the newest first.
#[utoipa::path(get, path = "/v1/versions", tag = "versions", params(Target),
    responses((status = 200, body = Versions)))]
pub(crate) async fn list(
    State(app): State<App>,
    Asker(caller): Asker,
    at: At,
) -> Result<Json<Versions>, Problem> {
    app.ask(move |store| {
        let versions = store.versions(&caller, &at)?.into_iter();
        let mut names = Names::new(store);
        let items = versions.map(|version| Version::of(version, &mut names));
        Ok(Json(Versions { items: items.collect::<Result<_, _>>()? }))
    })
    .await
}

/// Keeps, restores or drops.
#[utoipa::path(post, path = "/v1/versions", tag = "versions", request_body = ChangeVersions,
    responses((status = 200, body = VersionOutcome)))]
pub(crate) async fn change(
    State(app): State<App>,
    Changer(caller): Changer,
    Json(question): Json<ChangeVersions>,
) -> Result<Json<VersionOutcome>, Problem> {
    let at = at(question.path.as_deref(), question.id)?;
    let change = Change::try_from(question)?;
    app.ask(move |store| change.make(store, &caller, &at).map(Json)).await
}

enum Change {
    Keep(Option<String>),
    Restore(u64),
    Prune(Prune),
}

impl TryFrom<ChangeVersions> for Change {
    type Error = Problem;

    fn try_from(question: ChangeVersions) -> Result<Self, Problem> {
        let ChangeVersions { op, version, label, keep, .. } = question;
        match (op, version, label, keep) {
            (VersionOp::Keep, None, label, None) => Ok(Self::Keep(label)),
            (VersionOp::Restore, Some(version), None, None) => Ok(Self::Restore(version)),
            (VersionOp::Prune, Some(version), None, None) => Ok(Self::Prune(Prune::One(version))),
            (VersionOp::Prune, None, None, Some(keep)) => {
                Ok(Self::Prune(Prune::KeepNewest(keep as usize)))
            }
            _ => Err(Problem::invalid("`op` does not go with what else is said")
                .with_hint("keep takes a label; restore a version; prune a version or keep")),
        }
    }
}

impl Change {
    fn make(self, store: &Store, caller: &Caller, at: &At) -> cenote_store::Result<VersionOutcome> {
        let mut names = Names::new(store);
        Ok(match self {
            Self::Keep(label) => {
                let version = store.keep_version(caller, at, label.as_deref())?;
                VersionOutcome::Version(Version::of(version, &mut names)?)
            }
            Self::Restore(version) => {
                let stat = store.restore_version(caller, at, version)?;
                VersionOutcome::Resource(Box::new(Resource::of(&stat, &mut names)?))
            }
            Self::Prune(prune) => VersionOutcome::Pruned(store.prune_versions(caller, at, &prune)?),
        })
    }
}
