//! Kept states of a resource.

use axum::extract::State;
use cenote_store::{At, Caller, NewVersion, Prune, Retention, Store};

use crate::app::App;
use crate::layer::{Changer, Viewer};
use crate::native::json::{
    ChangeVersions, CompareQuery, Names, Resource, Target, Version, VersionDifference, VersionOp,
    VersionOutcome, Versions,
};
use crate::native::request::address::{About, at};
use crate::native::request::extract::Json;
use crate::problem::{Problem, unanswered};

/// The versions of a resource, the newest number first.
#[utoipa::path(get, path = "/v1/versions", tag = "versions", params(Target),
    responses((status = 200, body = Versions)))]
pub(crate) async fn list(
    State(app): State<App>,
    Viewer(caller): Viewer,
    at: At,
) -> Result<Json<Versions>, Problem> {
    app.blocking(move |store| {
        let versions = store.versions(&caller, &at)?.into_iter();
        let mut names = Names::new(store);
        let items = versions.map(|version| Version::of(version, &mut names));
        Ok(Json(Versions { items: items.collect::<Result<_, _>>()? }))
    })
    .await
}

/// The differences between a version and another one, or the current state.
#[utoipa::path(get, path = "/v1/versions/diff", tag = "versions", params(Target, CompareQuery),
    responses((status = 200, body = VersionDifference)))]
pub(crate) async fn compare(
    State(app): State<App>,
    Viewer(caller): Viewer,
    About(at, query): About<CompareQuery>,
) -> Result<Json<VersionDifference>, Problem> {
    app.blocking(move |store| {
        let difference = store.compare_versions(&caller, &at, query.from, query.to)?;
        Ok(Json(difference.into()))
    })
    .await
}

/// Keeps, labels, restores or prunes versions.
#[utoipa::path(post, path = "/v1/versions", tag = "versions", request_body = ChangeVersions,
    responses((status = 200, body = VersionOutcome)))]
pub(crate) async fn change(
    State(app): State<App>,
    Changer(caller): Changer,
    Json(question): Json<ChangeVersions>,
) -> Result<Json<VersionOutcome>, Problem> {
    let at = at(question.path.as_deref(), question.id)?;
    let change = Change::try_from(question)?;
    app.blocking(move |store| change.make(store, &caller, &at).map(Json)).await
}

enum Change {
    Keep(NewVersion),
    Restore(u64),
    Prune(Prune),
    Label(u64, Option<String>),
}

impl TryFrom<ChangeVersions> for Change {
    type Error = Problem;

    fn try_from(question: ChangeVersions) -> Result<Self, Problem> {
        let rules = Retention {
            last: question.keep,
            daily: question.keep_daily,
            weekly: question.keep_weekly,
            monthly: question.keep_monthly,
        };
        let rules = Some(rules).filter(|rules| !rules.is_unlimited());
        let ChangeVersions { op, version, label, time, another, .. } = question;
        let time = time.map(|time| time.0);
        match (op, version, label, time, rules) {
            (VersionOp::Keep, None, label, time, None) => {
                Ok(Self::Keep(NewVersion { label, time, another, ..NewVersion::default() }))
            }
            _ if another => Err(Problem::invalid("only `keep` takes `another`")),
            (VersionOp::Restore, Some(version), None, None, None) => Ok(Self::Restore(version)),
            (VersionOp::Prune, Some(version), None, None, None) => {
                Ok(Self::Prune(Prune::One(version)))
            }
            (VersionOp::Prune, None, None, None, Some(rules)) => Ok(Self::Prune(Prune::All(rules))),
            (VersionOp::Label, Some(version), label, None, None) => Ok(Self::Label(version, label)),
            _ => Err(Problem::invalid("`op` does not match the other fields").with_hint(
                "keep takes a label and a time; restore a version; label a version and a label; prune a version or rules",
            )),
        }
    }
}

impl Change {
    fn make(self, store: &Store, caller: &Caller, at: &At) -> cenote_store::Result<VersionOutcome> {
        Ok(match self {
            Self::Keep(new) => version_outcome(store, store.keep_version(caller, at, &new)?)?,
            Self::Label(version, label) => {
                version_outcome(store, store.label_version(caller, at, version, label.as_deref())?)?
            }
            Self::Restore(version) => {
                let stat = store.restore_version(caller, at, version)?;
                VersionOutcome::Resource(Box::new(Resource::changed(&stat, store, caller)?))
            }
            Self::Prune(prune) => VersionOutcome::Pruned(store.prune_versions(caller, at, &prune)?),
        })
    }
}

/// A version as a change has left it.
fn version_outcome(
    store: &Store,
    version: cenote_store::Version,
) -> cenote_store::Result<VersionOutcome> {
    let version = Version::of(version, &mut Names::new(store)).map_err(unanswered)?;
    Ok(VersionOutcome::Version(version))
}
