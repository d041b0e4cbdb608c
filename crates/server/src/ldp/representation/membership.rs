//! What direct and indirect containers state of other resources: which containers do, and when it counts.
//!
//! Source: LDP 1.0, sections 5.4 and 5.5.
//!
//! Invariant: a container states nothing of a resource that its owner may not describe, and nothing with a predicate by which the server
//! decides. SPARQL reads the same definitions by the same two rules.

use cenote_rdf::may_be_membership;
use cenote_store::{
    At, Graph, Kind, Node, Pattern, Quad, Reading, ResourceId, Result, Stat, StorePath, Term, Time,
    iri_of, path_of,
};
use ring::digest::{Context, SHA256};

use crate::ldp::representation::members::value;
use crate::ldp::representation::model::Model;
use crate::ldp::representation::vocabulary::{
    HAS_MEMBER_RELATION, INSERTED_CONTENT_RELATION, IS_MEMBER_OF_RELATION, MEMBER, MEMBER_SUBJECT,
    MEMBERSHIP_RESOURCE,
};

/// The membership that one container defines.
#[derive(Debug, Clone)]
pub(crate) struct Definition {
    /// The container.
    pub(crate) container: Stat,
    /// The IRI of the resource that has the members, as the store has it.
    pub(crate) resource: String,
    pub(crate) relation: String,
    /// Whether the members say it of the resource, and not the resource of the members.
    pub(crate) is_inverse: bool,
    /// The predicate with which each child states what the member is; none if it is the child itself.
    pub(crate) inserted: Option<String>,
}

impl Definition {
    /// That of a container with this description, if it has one that counts.
    pub(crate) fn of(reading: &Reading, stat: &Stat, description: &Graph) -> Result<Option<Self>> {
        let model = Model::of(stat.resource.kind, description);
        if !matches!(model, Model::Direct | Model::Indirect) {
            return Ok(None);
        }
        let inverse = value(description, IS_MEMBER_OF_RELATION);
        let relation = value(description, HAS_MEMBER_RELATION).unwrap_or(MEMBER);
        let own = iri_of(&stat.path);
        let definition = Self {
            container: stat.clone(),
            resource: value(description, MEMBERSHIP_RESOURCE).map_or(own, str::to_owned),
            relation: inverse.unwrap_or(relation).to_owned(),
            is_inverse: inverse.is_some(),
            inserted: value(description, INSERTED_CONTENT_RELATION)
                .filter(|relation| model == Model::Indirect && *relation != MEMBER_SUBJECT)
                .map(str::to_owned),
        };
        let counts = may_be_membership(&definition.relation) && definition.is_owned(reading)?;
        Ok(counts.then_some(definition))
    }

    /// Whether its owner may say this of the resource, or it is of something that is not in the store. Members that say it of the
    /// resource are in the container.
    fn is_owned(&self, reading: &Reading) -> Result<bool> {
        match path_of(&self.resource).filter(|_| !self.is_inverse) {
            Some((path, _)) => reading.owner_may_describe(&self.container, &At::from(&path)),
            None => Ok(true),
        }
    }

    /// Those of other containers that are about a resource at a path.
    pub(crate) fn about(reading: &Reading, path: &StorePath, id: ResourceId) -> Result<Vec<Self>> {
        let pattern = Pattern {
            predicate: Some(MEMBERSHIP_RESOURCE.to_owned()),
            object: Some(Term::Iri(iri_of(path))),
            ..Pattern::default()
        };
        let mut definitions = Vec::new();
        for quad in reading.statements(&pattern)? {
            let is_other = |quad: &Quad| quad.of != id && quad.statement.subject.is_none();
            let Some(quad) = quad?.filter(is_other) else { continue };
            let (stat, description) = reading.graph(&At::Id(quad.of))?;
            definitions.extend(Self::of(reading, &stat, &description)?);
        }
        Ok(definitions.into_iter().filter(|it| !it.is_inverse).collect())
    }

    /// That of a collection whose children say it.
    fn of_children(reading: &Reading, collection: &StorePath) -> Result<Option<Self>> {
        let stat = reading.stat(&At::from(collection))?;
        // Hardly any collection does, and reading the whole description takes longer than looking for this.
        let Some(stat) = stat.filter(|stat| stat.resource.kind == Kind::Collection) else {
            return Ok(None);
        };
        if !reading.states(&stat, IS_MEMBER_OF_RELATION)? {
            return Ok(None);
        }
        let (stat, description) = reading.graph(&At::Id(stat.id))?;
        let definition = Self::of(reading, &stat, &description)?;
        Ok(definition.filter(|definition| definition.is_inverse))
    }

    /// That of the collection of a path, if the children say it.
    pub(crate) fn above(reading: &Reading, path: &StorePath) -> Result<Option<Self>> {
        match path.split_last() {
            Some((above, _)) => Self::of_children(reading, &above),
            None => Ok(None),
        }
    }
}

/// What of the graph of a resource follows from others: a tag of it, and when it last changed.
#[derive(Debug, Clone)]
pub(crate) struct Inferred {
    pub(crate) tag: String,
    pub(crate) changed: Time,
}

impl Inferred {
    /// For a resource with this description; none if nothing follows.
    ///
    /// Cost: one look at the index, and the description of the collection; where indirect containers are concerned, of each child of theirs.
    pub(crate) fn of(reading: &Reading, stat: &Stat, description: &Graph) -> Result<Option<Self>> {
        let mut definitions = Definition::about(reading, &stat.path, stat.id)?;
        definitions.extend(Definition::above(reading, &stat.path)?);
        // What a container's own children insert follows from their descriptions.
        let own = Definition::of(reading, stat, description)?;
        definitions.extend(own.filter(|own| own.inserted.is_some()));
        Self::from(reading, &definitions)
    }

    /// For a resource that is about to be created at a path.
    pub(crate) fn of_new(reading: &Reading, path: &StorePath) -> Result<Option<Self>> {
        let above = Definition::above(reading, path)?;
        Self::from(reading, above.as_slice())
    }

    /// For one that is about to be created in a collection.
    pub(crate) fn of_child(reading: &Reading, collection: &StorePath) -> Result<Option<Self>> {
        let definition = Definition::of_children(reading, collection)?;
        Self::from(reading, definition.as_slice())
    }

    fn from(reading: &Reading, definitions: &[Definition]) -> Result<Option<Self>> {
        if definitions.is_empty() {
            return Ok(None);
        }
        let mut state = State { digest: Context::new(&SHA256), changed: Time::default() };
        definitions.iter().try_for_each(|definition| state.take(reading, definition))?;
        let tag = hex::encode(&state.digest.finish().as_ref()[..8]);
        Ok(Some(Self { tag, changed: state.changed }))
    }
}

/// What is known of what follows from others.
#[derive(Debug, Clone)]
pub(crate) enum Others {
    /// It was not looked for.
    Unknown,
    Nothing,
    Something(Inferred),
}

impl Others {
    pub(crate) fn inferred(&self) -> Option<&Inferred> {
        match self {
            Self::Something(inferred) => Some(inferred),
            Self::Unknown | Self::Nothing => None,
        }
    }
}

impl From<Option<Inferred>> for Others {
    fn from(found: Option<Inferred>) -> Self {
        found.map_or(Self::Nothing, Self::Something)
    }
}

/// What goes into the tag.
struct State {
    digest: Context,
    changed: Time,
}

impl State {
    fn take(&mut self, reading: &Reading, definition: &Definition) -> Result<()> {
        let container = &definition.container;
        self.add(&container.path.to_string());
        self.add(&definition.resource);
        self.add(&container.description_tag());
        self.changed = self.changed.max(container.resource.described().time);
        if definition.is_inverse {
            return Ok(());
        }
        if let Some(membership) = reading.membership(container)? {
            self.add(&membership.changes.to_string());
            self.changed = self.changed.max(membership.changed);
        }
        match &definition.inserted {
            Some(relation) => self.take_inserted(reading, container, relation),
            None => Ok(()),
        }
    }

    fn take_inserted(&mut self, reading: &Reading, container: &Stat, relation: &str) -> Result<()> {
        let dataset = reading.dataset();
        for child in reading.children(&At::Id(container.id))? {
            let Some(child) = child? else { continue };
            let own = Node::Resource { id: child.id, part: String::new() };
            let facts = dataset.facts(child.id, Some(relation))?;
            for fact in facts.into_iter().filter(|fact| fact.subject == own) {
                self.add(&format!("{:?}", fact.object));
                self.changed = self.changed.max(child.resource.described().time);
            }
        }
        Ok(())
    }

    fn add(&mut self, text: &str) {
        self.digest.update(text.as_bytes());
        self.digest.update(b"\n");
    }
}
