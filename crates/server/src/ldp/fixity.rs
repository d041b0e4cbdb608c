//! `fcr:fixity`: all bytes of a binary are read, and their digests compared with those that are kept of it.
//!
//! Source: what fcrepo 6 answers, in the words of PREMIS. Bytes come from copies that have their checksums; so it fails where no copy has.

use axum::http::header;
use axum::response::{IntoResponse, Response};
use cenote_rdf::{Literal, NamedNode, Syntax, Triple, negotiate, write};
use cenote_store::{At, Digests, ErrorKind, Opened, ReadOptions};

use super::external::Elsewhere;
use crate::ldp::representation::html;
use crate::ldp::representation::model::Model;
use crate::ldp::representation::vocabulary::{LDP, PREMIS, RDF_TYPE, XSD};
use crate::ldp::request::call::Call;
use crate::ldp::request::digest::DigestAlgorithm;
use crate::ldp::request::fault::Fault;
use crate::ldp::request::headers::Headers;
use crate::page::Markup;

const METHODS: &str = "GET,HEAD,OPTIONS";

/// What a check found.
pub(crate) struct Checked {
    size: u64,
    /// The digests of the bytes as they are now, that are kept of them; empty if they cannot be read as they were.
    now: Vec<(&'static str, Vec<u8>)>,
    /// Whether all that is kept holds.
    pub(crate) holds: bool,
}

pub(crate) async fn answer(call: Call) -> Result<Response, Fault> {
    match call.method.as_str() {
        "GET" => show(&call, &check(&call).await?),
        // The headers do not depend on the result of a check, so it is skipped.
        "HEAD" | "OPTIONS" => {
            call.blocking(open).await?;
            let mut headers = headers();
            match html::is_preferred(&call) {
                true => headers.add(header::CONTENT_TYPE, "text/html; charset=utf-8"),
                false => headers.syntax(syntax(&call)),
            }
            Ok(headers.0.into_response())
        }
        _ => Err(Fault::method(METHODS)),
    }
}

/// Reads all bytes of the binary that a call names.
pub(crate) async fn check(call: &Call) -> Result<Checked, Fault> {
    let opened = call.blocking(open).await?;
    let (size, kept) = (opened.size(), opened.head.digests.clone());
    let also = DigestAlgorithm::all(&kept)
        .into_iter()
        .filter_map(|(known, ..)| known.algorithm())
        .collect();
    match opened.digests(also).await {
        Ok(now) => Ok(compared(size, &kept, &now)),
        Err(error) if error.kind() == ErrorKind::Damaged => {
            Ok(Checked { size, now: Vec::new(), holds: false })
        }
        Err(error) => Err(error.into()),
    }
}

fn open(store: &cenote_store::Store, call: &Call) -> Result<Opened, Fault> {
    let loaded = call.headings(store)?;
    if loaded.model != Model::Binary {
        return Err(Fault::missing("it has no content whose digest could be checked"));
    }
    if Elsewhere::of(&loaded.description).is_some() {
        return Err(Fault::missing("its content is external: no digest of it is kept"));
    }
    Ok(store.open(&call.caller, &At::Id(loaded.stat.id), &ReadOptions::default())?)
}

fn compared(size: u64, kept: &Digests, now: &Digests) -> Checked {
    let has_same_crc = kept.crc64nvme.is_none() || kept.crc64nvme == now.crc64nvme;
    let compared = DigestAlgorithm::all(kept).into_iter().map(|(known, name, kept)| {
        let now = known.of(now);
        (now.as_deref() == Some(&kept), now.map(|now| (name, now)))
    });
    let (same, now): (Vec<bool>, Vec<_>) = compared.unzip();
    let holds = has_same_crc && same.into_iter().all(|same| same);
    Checked { size, now: now.into_iter().flatten().collect(), holds }
}

fn headers() -> Headers {
    let mut headers = Headers::default();
    for name in Model::Source.types(true) {
        headers.add(header::LINK, &format!("<{LDP}{name}>;rel=\"type\""));
    }
    headers.add(header::ALLOW, METHODS);
    headers.add(header::VARY, "Accept");
    // The next check may have a different result.
    headers.add(header::CACHE_CONTROL, "no-store");
    headers
}

fn syntax(call: &Call) -> Syntax {
    match negotiate(call.header(header::ACCEPT).unwrap_or_default(), None) {
        Some(cenote_rdf::Choice::Graph(syntax)) => syntax,
        _ => Syntax::Turtle,
    }
}

fn show(call: &Call, checked: &Checked) -> Result<Response, Fault> {
    if html::is_preferred(call) {
        return Ok((headers().0, page(call, checked)).into_response());
    }
    let (mut headers, syntax) = (headers(), syntax(call));
    headers.syntax(syntax);
    let triples = triples(&call.address(), checked);
    Ok((headers.0, write(&triples, syntax)?).into_response())
}

/// The result for people.
fn page(call: &Call, checked: &Checked) -> Response {
    let mut body = Markup::default();
    html::way(&mut body, call);
    let result = match checked.holds {
        true => "<p>The bytes are what they were: all digests that are kept of them match.\n",
        false => "<p>The bytes are damaged: they do not match the digests that are kept of them.\n",
    };
    body.raw(result).raw("<table>\n<tr><th scope=\"row\">Bytes</th><td>");
    body.text(&checked.size.to_string()).raw("</td></tr>\n");
    for (name, digest) in &checked.now {
        body.raw("<tr><th scope=\"row\">").text(name).raw("</th><td>");
        body.text(&hex::encode(digest)).raw("</td></tr>\n");
    }
    let description = format!("{}/fcr:metadata", call.address());
    body.raw("</table>\n<p>").link(&description, "The description").raw("\n");
    crate::page::page(&format!("Fixity of {}", call.path()), &body)
}

/// One outcome for each digest, or one alone if there is none.
fn triples(address: &str, checked: &Checked) -> Vec<Triple> {
    let node = |iri: String| NamedNode::new_unchecked(iri);
    let premis = |name: &str| node(format!("{PREMIS}{name}"));
    let outcome = if checked.holds { "SUCCESS" } else { "BAD_CHECKSUM" };
    let size = Literal::new_typed_literal(checked.size.to_string(), node(format!("{XSD}long")));
    let none = [("bytes", Vec::new())];
    let digests = if checked.now.is_empty() { &none[..] } else { &checked.now[..] };
    let mut triples = Vec::new();
    for (name, digest) in digests {
        let of = node(format!("{address}/fcr:fixity#{name}"));
        triples.push(Triple::new(node(address.to_owned()), premis("hasFixity"), of.clone()));
        for class in ["Fixity", "EventOutcomeDetail"] {
            triples.push(Triple::new(of.clone(), node(RDF_TYPE.to_owned()), premis(class)));
        }
        let outcome = Literal::new_simple_literal(outcome);
        triples.push(Triple::new(of.clone(), premis("hasEventOutcome"), outcome));
        triples.push(Triple::new(of.clone(), premis("hasSize"), size.clone()));
        if !digest.is_empty() {
            let digest = node(format!("urn:{name}:{}", hex::encode(digest)));
            triples.push(Triple::new(of, premis("hasMessageDigest"), digest));
        }
    }
    triples
}
