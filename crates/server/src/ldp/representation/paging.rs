//! A container in parts: LDP Paging, for clients that prefer that.
//!
//! Source: the W3C's Note "LDP Paging 1.0". `Prefer: return=representation; max-member-count="500"` of a container is answered 303 with the
//! address of its first page, `?members=500`; each page has links to the next one and to the container, whose tag they name. What is
//! not about members is in the first page. Pages are in the order of names and keep their place: what is created or removed between two
//! requests is in none or one of them, and nothing else is left out or comes twice.
//!
//! A resource that also has the members of other containers is not paged, which the preference allows.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use cenote_rdf::{Choice, Syntax, Triple, Writer, negotiate};
use cenote_store::{ListOptions, Name, Reading, Store};

use crate::layer::conditional::quoted;
use crate::ldp::methods::read;
use crate::ldp::representation::graph::{inbound, own};
use crate::ldp::representation::members::Members;
use crate::ldp::representation::resource::LoadedResource;
use crate::ldp::representation::vocabulary::LDP;
use crate::ldp::request::call::Call;
use crate::ldp::request::fault::Fault;
use crate::ldp::request::headers::{Headers, PREFERENCE_APPLIED};
use crate::ldp::request::target::Part;

/// A part of the members of a container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Page {
    limit: usize,
    after: Option<Name>,
}

impl Page {
    /// The one that the query of an address names, if it names one.
    pub(crate) fn read(query: &str) -> Result<Option<Self>, Fault> {
        let (mut limit, mut after) = (None, None);
        for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
            match &*name {
                "members" => limit = Some(members(&value)?),
                "after" => after = Some(Name::new(&*value)?),
                _ => {}
            }
        }
        Ok(limit.map(|limit| Self { limit, after }))
    }

    /// The first of so many.
    pub(crate) fn first(limit: usize) -> Self {
        Self { limit: limit.clamp(1, ListOptions::MAX), after: None }
    }

    pub(crate) fn is_first(&self) -> bool {
        self.after.is_none()
    }

    pub(crate) fn next(&self, after: Name) -> Self {
        Self { after: Some(after), ..self.clone() }
    }

    pub(crate) fn options(&self) -> ListOptions {
        ListOptions { after: self.after.clone(), limit: self.limit }
    }

    /// The address of this part of the container with an address.
    pub(crate) fn address(&self, container: &str) -> String {
        let mut address = format!("{container}?members={}", self.limit);
        if let Some(after) = &self.after {
            address += "&after=";
            address.extend(url::form_urlencoded::byte_serialize(after.as_str().as_bytes()));
        }
        address
    }
}

fn members(value: &str) -> Result<usize, Fault> {
    match value.parse() {
        Ok(number) if (1..=ListOptions::MAX).contains(&number) => Ok(number),
        _ => Err(Fault::bad(format!("members must be a number up to {}", ListOptions::MAX))),
    }
}

/// Whether a GET prefers a part of a container, or names one.
pub(crate) fn is_wanted(call: &Call) -> bool {
    call.target.part == Part::Whole
        && (call.preferences.max_members.is_some_and(|most| most > 0)
            || call.query.contains("members="))
}

/// The page, or a redirection to the first one; the whole resource if it is not paged.
pub(crate) async fn answer(call: Call) -> Result<Response, Fault> {
    match call.blocking(page).await? {
        Some(answer) => Ok(answer),
        None => read::read(call).await,
    }
}

fn page(store: &Store, call: &Call) -> Result<Option<Response>, Fault> {
    let wanted = Page::read(&call.query)?;
    let reading = store.reading(&call.caller)?.ruled(call.dialect.dangling);
    let loaded = call.load_in(&reading, store)?;
    let members = members_of(&reading, call, &loaded)?;
    let (Some(members), Some(syntax)) = (members, syntax(call)) else { return Ok(None) };
    let Some(wanted) = wanted else {
        let first = Page::first(call.preferences.max_members.unwrap_or(ListOptions::MAX));
        return Ok(Some(see_other(call, &loaded, &first)));
    };
    let (triples, next) = triples((&reading, store, call, &loaded), &members, &wanted)?;
    let mut headers = headers(call, &loaded, &wanted, next);
    headers.syntax(syntax);
    let mut writer = Writer::new(syntax, &triples);
    triples.iter().for_each(|triple| writer.triple(triple));
    if wanted.is_first() && call.preferences.inbound {
        inbound(call, store, &mut writer)?;
    }
    Ok(Some((headers.0, writer.finish()?).into_response()))
}

/// The syntax of a page; none, if a page for people is wanted.
fn syntax(call: &Call) -> Option<Syntax> {
    match negotiate(call.header(header::ACCEPT).unwrap_or_default(), Some("text/html")) {
        Some(Choice::Other) => None,
        Some(Choice::Graph(syntax)) => Some(syntax),
        None => Some(Syntax::Turtle),
    }
}

/// What is paged: the children of a container, and the membership that follows from them. None for resources that are not paged.
fn members_of(
    reading: &Reading,
    call: &Call,
    loaded: &LoadedResource,
) -> Result<Option<Vec<Members>>, Fault> {
    if !loaded.model.is_container() {
        return Ok(None);
    }
    let all = Members::all(reading, loaded, &call.web)?;
    let is_own = all.iter().all(|members| members.are_in(loaded.stat.id));
    Ok(is_own.then_some(all))
}

fn see_other(call: &Call, loaded: &LoadedResource, first: &Page) -> Response {
    let mut headers = Headers::about(call, loaded);
    headers.add(header::LOCATION, &first.address(&call.address()));
    headers.add(header::VARY, "Accept, Prefer");
    (StatusCode::SEE_OTHER, headers.0).into_response()
}

/// The triples of a page, and where the next one begins.
fn triples(
    (reading, store, call, loaded): (&Reading, &Store, &Call, &LoadedResource),
    members: &[Members],
    page: &Page,
) -> Result<(Vec<Triple>, Option<Name>), Fault> {
    let mut triples = Vec::new();
    if page.is_first() {
        triples = own(call, reading, loaded.clone())?;
    }
    let (mut parts, mut next) = (Vec::new(), None::<Name>);
    for members in members {
        let part = members.part(store, &call.caller, &call.web, &page.options())?;
        // Each lists the same children, so that all continue after the name at which the shortest ends.
        next = [next, part.next].into_iter().flatten().min();
        let wanted = match members.is_containment() {
            true => call.preferences.containment,
            false => call.preferences.membership,
        };
        parts.extend(part.triples.into_iter().filter(|_| wanted));
    }
    let here = parts.into_iter().filter(|(name, _)| next.as_ref().is_none_or(|next| name <= next));
    triples.extend(here.map(|(_, triple)| triple));
    Ok((triples, next))
}

fn headers(call: &Call, loaded: &LoadedResource, page: &Page, next: Option<Name>) -> Headers {
    let mut headers = Headers::about(call, loaded);
    let address = call.address();
    let mut link = |to: &str, rel: &str| headers.add(header::LINK, &format!("<{to}>;{rel}"));
    link(&format!("{LDP}Page"), "rel=\"type\"");
    link(&Page { after: None, ..page.clone() }.address(&address), "rel=\"first\"");
    if let Some(next) = next {
        link(&page.next(next).address(&address), "rel=\"next\"");
    }
    link(&address, &format!("rel=\"canonical\";etag={}", quoted(&loaded.tag())));
    headers.add(header::VARY, "Accept, Prefer");
    if let Some(applied) = &call.preferences.applied {
        headers.add(PREFERENCE_APPLIED, applied);
    }
    headers
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn invalid_page_parameters_are_refused_or_ignored() {
        for query in
            ["members=0", "members=10001", "members=x", "members=1&after=", "members=1&after=a%2fb"]
        {
            assert!(Page::read(query).is_err(), "{query}");
        }
        for query in ["", "x=1", "after=a"] {
            assert_eq!(Page::read(query).unwrap(), None, "{query}");
        }
    }

    proptest! {
        #[test]
        fn the_address_of_a_page_identifies_it(limit in 1_usize..10_000, name in "[^/\\x00]{1,8}") {
            let Ok(name) = Name::new(name) else { return Ok(()) };
            let page = Page::first(limit).next(name);
            let address = page.address("http://h/a");
            let (_, query) = address.split_once('?').unwrap();
            prop_assert_eq!(Page::read(query).unwrap(), Some(page));
        }
    }
}
