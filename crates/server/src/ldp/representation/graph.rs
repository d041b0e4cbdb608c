//! Representations of a resource as a graph: written page by page, so that a container of any number of children takes the memory of a
//! page.

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use cenote_rdf::{NamedOrBlankNode, Syntax, Term, Triple, Writer};
use cenote_store::{LinksQuery, Query, Reading, Store};
use futures_util::stream;

use crate::ldp::representation::members::{Members, member_of};
use crate::ldp::representation::resource::LoadedResource;
use crate::ldp::representation::web::OwnIris;
use crate::ldp::request::call::Call;
use crate::ldp::request::fault::Fault;
use crate::ldp::request::headers::Headers;
use crate::ldp::versions;
use crate::statements::triple;

/// Resources that link to one, in a page.
const LINKING: usize = 1_000;

/// A graph being written.
pub(crate) struct Representation {
    syntax: Syntax,
    writer: Writer,
    rest: Vec<Members>,
}

impl Representation {
    /// What a request prefers to see of a resource: the part that does not grow with the number of its children.
    pub(crate) fn begin(
        call: &Call,
        reading: &Reading,
        store: &Store,
        loaded: LoadedResource,
        syntax: Syntax,
    ) -> Result<Self, Fault> {
        let (preferences, web) = (&call.preferences, &call.web);
        let mut rest = Vec::new();
        if preferences.membership {
            rest = Members::of(reading, &loaded, web)?;
        }
        if preferences.containment && loaded.model.is_container() {
            rest.push(Members::contained(&loaded, web));
        }
        let triples = own(call, reading, loaded)?;
        let mut writer = Writer::new(syntax, &triples);
        triples.iter().for_each(|triple| writer.triple(triple));
        if preferences.inbound {
            inbound(call, store, &mut writer)?;
        }
        Ok(Self { syntax, writer, rest })
    }

    /// The next bytes; none at the end of the members.
    fn page(&mut self, call: &Call, store: &Store) -> Result<Option<Vec<u8>>, Fault> {
        while let Some(members) = self.rest.last_mut() {
            let Some(triples) = members.page(store, &call.caller, &call.web)? else {
                self.rest.pop();
                continue;
            };
            triples.iter().for_each(|triple| self.writer.triple(triple));
            return Ok(Some(self.writer.take()?));
        }
        Ok(None)
    }

    /// The whole text, if it ends with this page; or what there is of it, to be continued.
    pub(crate) fn first(mut self, call: &Call, store: &Store) -> Result<Written, Fault> {
        let mut text = self.writer.take()?;
        while text.len() < WHOLE {
            match self.page(call, store)? {
                Some(mut page) => text.append(&mut page),
                None => {
                    text.append(&mut self.writer.finish()?);
                    return Ok(Written::Whole(text));
                }
            }
        }
        self.look_ahead(call, store)?;
        Ok(Written::Begun(text, Box::new(self)))
    }

    /// Refuses what [`first`](Self::first) refuses, without writing it.
    pub(crate) fn check(mut self, call: &Call, store: &Store) -> Result<(), Fault> {
        self.writer.take()?;
        self.look_ahead(call, store)
    }

    /// Refuses a graph whose rest the syntax cannot express, as long as nothing is sent: only RDF/XML needs the look. What is contained
    /// can always be expressed.
    fn look_ahead(&self, call: &Call, store: &Store) -> Result<(), Fault> {
        if self.syntax != Syntax::RdfXml {
            return Ok(());
        }
        for members in self.rest.iter().filter(|members| !members.is_containment()) {
            for page in members.clone().pages(store, &call.caller, &call.web) {
                page?.iter().try_for_each(|triple| Writer::check(self.syntax, triple))?;
            }
        }
        Ok(())
    }
}

/// What a request prefers to see of a resource, without what it contains and its members.
pub(crate) fn own(
    call: &Call,
    reading: &Reading,
    loaded: LoadedResource,
) -> Result<Vec<Triple>, Fault> {
    let (preferences, web) = (&call.preferences, &call.web);
    let mut computed = Vec::new();
    if preferences.managed {
        computed.extend(loaded.managed(call.dialect, web));
        computed.extend(versions::mention(reading, call, &loaded)?);
    }
    if preferences.membership {
        computed.extend(member_of(reading, &loaded, web)?);
    }
    let iris = OwnIris::new(web, &loaded.stat.path);
    let stated = loaded.description.into_iter().filter(|_| preferences.stated);
    let mut triples: Vec<Triple> = stated.map(|statement| triple(statement, &iris)).collect();
    triples.append(&mut computed);
    // Statements with one subject are adjacent, and duplicates (with two units, or also made by the server) appear once. The
    // description is nearly in this order already, of which a stable sort makes use.
    triples.sort_by(|one, other| order(one).cmp(&order(other)));
    triples.dedup();
    Ok(triples)
}

/// What triples are sorted by.
fn order(triple: &Triple) -> impl Ord + '_ {
    let subject = match &triple.subject {
        NamedOrBlankNode::NamedNode(node) => (0, node.as_str()),
        NamedOrBlankNode::BlankNode(node) => (1, node.as_str()),
    };
    let object = match &triple.object {
        Term::NamedNode(node) => (0, node.as_str(), "", ""),
        Term::BlankNode(node) => (1, node.as_str(), "", ""),
        Term::Literal(it) => {
            (2, it.value(), it.datatype().as_str(), it.language().unwrap_or_default())
        }
    };
    (subject, triple.predicate.as_str(), object)
}

/// Texts of up to this many bytes are sent at once, with their length.
const WHOLE: usize = 64 << 10;

/// A text, or the beginning of one.
pub(crate) enum Written {
    Whole(Vec<u8>),
    Begun(Vec<u8>, Box<Representation>),
}

impl Written {
    /// An answer with this text.
    pub(crate) fn answer(self, call: Call, mut headers: Headers, syntax: Syntax) -> Response {
        headers.syntax(syntax);
        match self {
            Self::Whole(text) => (headers.0, text).into_response(),
            Self::Begun(text, rest) => (headers.0, going_on(call, text, *rest)).into_response(),
        }
    }
}

/// A body that continues from where it was started. A page that cannot be read interrupts it.
fn going_on(call: Call, begun: Vec<u8>, rest: Representation) -> Body {
    let state = (call, Some(rest), Some(begun));
    Body::from_stream(stream::try_unfold(state, async |(call, rest, begun)| {
        if let Some(begun) = begun {
            return Ok(Some((Bytes::from(begun), (call, rest, None))));
        }
        let Some(mut rest) = rest else { return Ok(None) };
        let paged = call.blocking(move |store, call| Ok((rest.page(call, store)?, rest))).await;
        match paged.map_err(|fault| std::io::Error::other(fault.to_string()))? {
            (Some(page), rest) => {
                Ok::<_, std::io::Error>(Some((page.into(), (call, Some(rest), None))))
            }
            (None, rest) => {
                let end = rest.writer.finish().map_err(std::io::Error::other)?;
                Ok(Some((end.into(), (call, None, None))))
            }
        }
    }))
}

/// The triples of other resources whose object is this one.
pub(crate) fn inbound(call: &Call, store: &Store, writer: &mut Writer) -> Result<(), Fault> {
    let mut after = None;
    loop {
        let query = LinksQuery { to: call.at(), after, limit: LINKING, effort: Query::EFFORT };
        let page = store.links(&call.caller, &query)?;
        for linking in page.items.into_iter().filter(|linking| linking.from.path != *call.path()) {
            let iris = OwnIris::new(&call.web, &linking.from.path);
            linking.statements.into_iter().for_each(|it| writer.triple(&triple(it, &iris)));
        }
        match page.next {
            Some(next) => after = Some(next),
            None => return Ok(()),
        }
    }
}
