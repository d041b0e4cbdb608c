//! Server-managed triples sent by a client: accepted if they are true, otherwise refused or left out.
//!
//! Invariant: no managed triple is ever stored, but for the class of a container, which is a statement of its description.

use std::collections::HashSet;

use axum::response::{IntoResponse, Response};
use cenote_rdf::{
    NamedNode, NamedOrBlankNode, Term, Triple, is_managed_predicate, is_managed_type,
    managed_terms, may_be_membership,
};
use cenote_store::Store;
use serde_json::json;

use crate::ldp::external;
use crate::ldp::representation::members::Members;
use crate::ldp::representation::model::Model;
use crate::ldp::representation::resource::LoadedResource;
use crate::ldp::representation::vocabulary::{
    HAS_MEMBER_RELATION, HAS_MIME_TYPE, IS_MEMBER_OF_RELATION, LDP, RDF_TYPE,
};
use crate::ldp::representation::web::OwnIris;
use crate::ldp::request::call::Call;
use crate::ldp::request::fault::Fault;
use crate::ldp::versions;
use crate::statements::triple;

/// Whether the server states the same as a triple.
pub(crate) fn is_managed(triple: &Triple) -> bool {
    let predicate = triple.predicate.as_str();
    let is_type = |object: &Term| match object {
        Term::NamedNode(class) => is_managed_type(class.as_str()),
        _ => false,
    };
    is_managed_predicate(predicate) || (predicate == RDF_TYPE && is_type(&triple.object))
}

/// Whether a triple says another media type of bytes than the server does, among the triples that it manages.
pub(crate) struct OtherType<'a>(Option<&'a Triple>);

impl<'a> OtherType<'a> {
    pub(crate) fn among(managed: &'a HashSet<Triple>) -> Self {
        Self(managed.iter().find(|triple| triple.predicate.as_str() == HAS_MIME_TYPE))
    }

    pub(crate) fn is(&self, triple: &Triple) -> bool {
        let is_about =
            |own: &&Triple| own.predicate == triple.predicate && own.subject == triple.subject;
        self.0.filter(is_about).is_some_and(|own| own.object != triple.object)
    }
}

/// The class of container that the triples about a resource name.
pub(crate) fn class(triples: &[Triple], address: &str) -> Option<Model> {
    let own = NamedOrBlankNode::from(NamedNode::new_unchecked(address));
    let is = |name: &str| {
        let class = Term::from(NamedNode::new_unchecked(format!("{LDP}{name}")));
        triples
            .iter()
            .any(|it| it.subject == own && it.predicate.as_str() == RDF_TYPE && it.object == class)
    };
    let classes = [("IndirectContainer", Model::Indirect), ("DirectContainer", Model::Direct)];
    classes.into_iter().find_map(|(name, model)| is(name).then_some(model))
}

/// Separates the triples of a graph that the client may state about a resource.
pub(crate) struct Sieve<'a> {
    call: &'a Call,
    /// The triples that hold anyway.
    so: HashSet<Triple>,
    /// The predicates of that: hardly any triple has one of them.
    predicates: HashSet<String>,
}

impl<'a> Sieve<'a> {
    /// For an existing resource: all server-managed triples may be sent back. Containment and members are read only if
    /// these triples describe them.
    pub(crate) fn existing(
        call: &'a Call,
        store: &Store,
        loaded: &LoadedResource,
        triples: &[Triple],
    ) -> Result<Self, Fault> {
        let mut so: HashSet<Triple> = loaded.managed(call.dialect, &call.web).into_iter().collect();
        so.extend(types(&call.address(), loaded.model, call));
        let reading = call.reading(store)?;
        so.extend(versions::mention(&reading, call, loaded)?);
        let iris = OwnIris::new(&call.web, loaded.path());
        let elsewhere = external::kept(&loaded.description);
        so.extend(elsewhere.iter().map(|statement| triple(statement.clone(), &iris)));
        let mut members = Members::all(&reading, loaded, &call.web)?;
        members.retain(|members| triples.iter().any(|triple| members.matches(triple)));
        for members in members {
            for page in members.pages(store, &call.caller, &call.web) {
                so.extend(page?);
            }
        }
        Ok(Self::so(call, so))
    }

    /// For a resource that is to be created: its future types may be stated.
    pub(crate) fn new(call: &'a Call, address: &str, model: Model) -> Self {
        Self::so(call, types(address, model, call).collect())
    }

    fn so(call: &'a Call, so: HashSet<Triple>) -> Self {
        let predicates = so.iter().map(|triple| triple.predicate.as_str().to_owned()).collect();
        Self { call, so, predicates }
    }

    fn is_so(&self, triple: &Triple) -> bool {
        self.predicates.contains(triple.predicate.as_str()) && self.so.contains(triple)
    }

    /// The triples that are to be stored.
    ///
    /// # Errors
    /// The dialect's refusal of a managed triple that is not so, unless the client prefers lenient handling.
    pub(crate) fn sift(&self, triples: Vec<Triple>) -> Result<Vec<Triple>, Fault> {
        let other_type = OtherType::among(&self.so);
        let mut kept = Vec::with_capacity(triples.len());
        for triple in triples {
            if self.is_so(&triple) {
                continue;
            }
            match is_managed(&triple) || other_type.is(&triple) {
                false => kept.push(valid(self.call, triple)?),
                true if self.call.preferences.lenient => {}
                true => {
                    return Err(self
                        .call
                        .violation(format!("this triple is managed by the server: {triple}")));
                }
            }
        }
        Ok(kept)
    }
}

/// Refuses a type that is not an IRI, and members stated with what the server manages, or decides by.
pub(crate) fn valid(call: &Call, triple: Triple) -> Result<Triple, Fault> {
    let relation = triple.predicate.as_str();
    let is_relation = relation == HAS_MEMBER_RELATION || relation == IS_MEMBER_OF_RELATION;
    if is_relation
        && let Term::NamedNode(stated) = &triple.object
        && !may_be_membership(stated.as_str())
    {
        return Err(call.violation(format!("members cannot be stated with {}", stated.as_str())));
    }
    match triple.predicate.as_str() == RDF_TYPE && matches!(triple.object, Term::Literal(_)) {
        true => Err(call.violation(format!("a type must be an IRI: {triple}"))),
        false => Ok(triple),
    }
}

/// The types that may be stated for a resource of this model.
fn types<'a>(address: &str, model: Model, call: &Call) -> impl Iterator<Item = Triple> + use<'a> {
    let own = NamedNode::new_unchecked(address);
    let fedora = if model.is_container() { &["Resource", "Container"][..] } else { &["Resource"] };
    let fedora = fedora.iter().map(|name| format!("{}{name}", call.dialect.fedora));
    let ldp = model.types(true).iter().map(|name| format!("{LDP}{name}"));
    let classes: Vec<String> = ldp.chain(fedora).collect();
    classes.into_iter().map(move |class| {
        Triple::new(
            own.clone(),
            NamedNode::new_unchecked(RDF_TYPE),
            NamedNode::new_unchecked(class),
        )
    })
}

/// `GET /info/ldp_constraints`: what a client may not set.
pub(crate) fn constraints() -> Response {
    let (predicates, types) = managed_terms();
    axum::Json(json!({
        "srv_mgd_predicates": predicates,
        "srv_mgd_subjects": ["info:fcsystem/root"],
        "srv_mgd_types": types,
    }))
    .into_response()
}
