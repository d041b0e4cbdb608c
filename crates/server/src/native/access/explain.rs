//! What decides the rights of a user.

use axum::extract::State;
use cenote_store::{Effect, Explanation, Reason, Rights, Source};

use crate::app::App;
use crate::layer::Viewer;
use crate::native::json::{
    EffectWord, ExplainQuery, ExplainedAccess, OnlyLine, ReasonLine, RightLine, SourceWord, Target,
};
use crate::native::request::address::About;
use crate::native::request::extract::Json;
use crate::problem::Problem;

/// What a user may do with a resource, and what decides each right. The caller needs control of the resource
/// to query those of others.
#[utoipa::path(get, path = "/v1/access/why", tag = "access", params(Target, ExplainQuery),
    responses((status = 200, body = ExplainedAccess)))]
pub(crate) async fn why(
    State(app): State<App>,
    Viewer(caller): Viewer,
    About(at, query): About<ExplainQuery>,
) -> Result<Json<ExplainedAccess>, Problem> {
    app.blocking(move |store| {
        let user = query.user.as_deref().unwrap_or(caller.name());
        Ok(Json(store.explain_access(&caller, user, &at)?.into()))
    })
    .await
}

impl From<Explanation> for ExplainedAccess {
    fn from(explanation: Explanation) -> Self {
        let rights = Rights::ALL.words().zip(Rights::ALL.each());
        let line = |(word, right): (&'static str, Rights)| RightLine {
            right: word,
            granted: explanation.rights.contains(right),
            by: explanation.by(right).map(ReasonLine::from).collect(),
        };
        let idle = explanation.reasons.iter().filter(|reason| reason.effect != Effect::Gives);
        Self {
            rights: rights.map(line).collect(),
            without_effect: idle.map(ReasonLine::from).collect(),
            level: explanation.rights.to_string(),
            token: explanation.token.map(|rights| rights.to_string()),
            path: explanation.stat.path.to_string(),
            user: explanation.user,
        }
    }
}

impl From<&Reason> for ReasonLine {
    fn from(reason: &Reason) -> Self {
        let (level, effect) = (reason.rights.to_string(), reason.effect.into());
        let of =
            |kind, name| Self { kind, name, level, scope: None, only: None, from: None, effect };
        match &reason.source {
            Source::Role(role) => of(SourceWord::Role, Some(role.as_str().to_owned())),
            Source::Ticket => of(SourceWord::Ticket, None),
            Source::Line(line) => Self {
                scope: Some(line.scope.into()),
                only: line.only.as_ref().map(OnlyLine::from),
                from: Some(line.from.to_string()),
                ..of(SourceWord::Grant, Some(line.name.clone()))
            },
        }
    }
}

impl From<Effect> for EffectWord {
    fn from(effect: Effect) -> Self {
        match effect {
            Effect::Gives => Self::Gives,
            Effect::Elsewhere => Self::Elsewhere,
            Effect::Closed => Self::Closed,
            Effect::Farther => Self::Farther,
            Effect::OtherClass => Self::OtherClass,
        }
    }
}
