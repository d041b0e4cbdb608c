//! What asks for words: a pattern with [`TEXT_QUERY`] is answered as if each subject stated its words.
//!
//! A subject has the words of the literals that one description states of it, and a resource those of its name. With a property, or a
//! language, only such literals count.

use std::collections::HashMap;

use cenote_rdf::{SoughtText, TEXT_QUERY, Term};
use cenote_store::{Fact, Node as Stored, ResourceId, TextQuery, is_text};

use super::Graph;
use super::described::{Like, Triple};
use super::found::{Found, Which};
use super::lakesuperior::part::Part;
use super::node::{Node, What};
use crate::{Error, Result};

/// Words that are sought, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sought {
    query: TextQuery,
    property: Option<String>,
    language: Option<String>,
}

/// So many candidates are counted.
const COUNTED: usize = 1_024;
/// What is estimated where nothing is known.
const MANY: u64 = 1 << 32;

impl<'a> Graph<'a> {
    /// What a pattern asks for; none for any other.
    ///
    /// # Errors
    /// [`Error::Syntax`] without words, and [`Error::Store`] for a text that has none.
    pub(super) fn sought_text(
        &self,
        predicate: Option<&Node>,
        object: Option<&Node>,
    ) -> Result<Option<Sought>> {
        if !predicate.is_some_and(is_text_query) {
            return Ok(None);
        }
        let Some(What::Term(Term::Literal(literal))) = object.map(Node::what) else {
            return Err(Error::Syntax("text:query needs words as its object".to_owned()));
        };
        let SoughtText { words, property, language } = SoughtText::of(literal);
        let property = property.map(|iri| self.words.inward(&iri).into_owned());
        Ok(Some(Sought { query: words.parse()?, property, language }))
    }

    /// The descriptions in which the words may be.
    pub(super) fn candidates(&'a self, sought: &Sought) -> Result<Found<'a>> {
        let led = self.lead.map(|lead| self.data.holding(lead, &sought.query)).transpose()?;
        Ok(match led.flatten() {
            Some(ids) => Box::new(ids.map(|id| Ok((id?, Which::Stated)))),
            None => self.all(Which::Stated),
        })
    }

    /// Roughly how many subjects have the words; many, if another pattern has yet to say which words.
    pub(super) fn text_estimate(
        &self,
        predicate: Option<&Node>,
        object: Option<&Node>,
    ) -> Result<u64> {
        let sought = object.map(|object| self.sought_text(predicate, Some(object))).transpose()?;
        let (Some(sought), Some(lead)) = (sought.flatten(), self.lead) else { return Ok(MANY) };
        let found = lead.holding(&sought.query, None, COUNTED)?.len();
        Ok(if found < COUNTED { found as u64 } else { MANY })
    }

    /// The subjects in the description of a resource that have the words; none if the caller may not see it.
    pub(super) fn worded(
        &self,
        id: ResourceId,
        sought: &Sought,
        like: &Like,
    ) -> Result<Vec<Triple>> {
        let Some(seen) = self.data.resource(id)? else { return Ok(Vec::new()) };
        let facts = self.data.literals(id, sought.property.as_deref())?;
        let mut texts: HashMap<&Stored, Vec<&str>> = HashMap::new();
        for fact in &facts {
            if let Some(text) = sought.text(fact) {
                texts.entry(&fact.subject).or_default().push(text);
            }
        }
        let own = Stored::Resource { id, part: String::new() };
        if sought.property.is_none() && sought.language.is_none() {
            texts.entry(&own).or_default().push(&seen.record()?.name);
        }
        texts.retain(|_, texts| sought.query.holds(texts.iter().copied()));
        let found = texts.into_keys().map(|subject| self.having(id, subject.clone(), like));
        Ok(found.flatten().filter(|triple| like.matches(triple)).collect())
    }

    /// The triple that a subject has the words of a pattern.
    fn having(&self, of: ResourceId, subject: Stored, like: &Like) -> Option<Triple> {
        let (predicate, object) = (like.predicate.clone()?, like.object.clone()?);
        Some(Triple { subject: self.stored(of, subject), predicate, object, part: Part::Main })
    }
}

/// Whether a predicate is that of patterns that ask for words.
pub(super) fn is_text_query(predicate: &Node) -> bool {
    matches!(predicate.what(), What::Term(Term::NamedNode(node)) if node.as_str() == TEXT_QUERY)
}

impl Sought {
    /// The text of a fact in which words are sought.
    fn text<'f>(&self, fact: &'f Fact) -> Option<&'f str> {
        let Stored::Literal { value, datatype, language } = &fact.object else { return None };
        let is_of = |wanted: &String| {
            language.as_ref().is_some_and(|language| language.eq_ignore_ascii_case(wanted))
        };
        let is_wanted = self.language.as_ref().is_none_or(is_of);
        (is_wanted && is_text(datatype.as_deref())).then_some(value)
    }
}
