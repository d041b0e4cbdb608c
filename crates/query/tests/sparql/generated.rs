//! Random statements, and random queries of the same few terms.

use cenote_store::{Statement, Term};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::world::PATHS;

const XSD: &str = "http://www.w3.org/2001/XMLSchema#";
const TYPE: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
const LDP: &str = "http://www.w3.org/ns/ldp#";
const PREDICATES: [&str; 3] = ["p:a", "p:b", "p:c"];

const MOMENTS: [&str; 3] =
    ["2020-01-02T00:00:00Z", "2020-01-02T03:00:00", "2020-01-01T20:00:00-05:00"];
const MOMENT: &str = "'2020-01-02T01:00:00Z'^^<http://www.w3.org/2001/XMLSchema#dateTime>";

fn path() -> impl Strategy<Value = String> {
    select(&PATHS[..]).prop_map(|path| format!("cenote:{path}"))
}

fn iri() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => path(),
        1 => path().prop_map(|path| path + "#part"),
        1 => Just("cenote:/open/none".to_owned()),
        1 => Just("cenote:/".to_owned()),
        2 => select(&["http://e/x", "http://e/y"][..]).prop_map(str::to_owned),
    ]
}

fn literal() -> impl Strategy<Value = (String, Option<String>, Option<String>)> {
    let value = select(&["1", "2", "10", "x", "a b", "2020-01-02T00:00:00Z", "true"][..]);
    let plain = value.clone().prop_map(|value| (value.to_owned(), None, None));
    let moment = (select(&MOMENTS[..]), Just("dateTime"));
    let number = (select(&["1", "2", "10"][..]), select(&["integer", "decimal", "string"][..]));
    let close =
        (select(&["1.00000000001", "2.5", "-1e0", "INF"][..]), select(&["float", "double"][..]));
    let typed = prop_oneof![6 => number, 1 => moment, 2 => close];
    let typed = typed.prop_filter_map("a string has no datatype", |(value, datatype)| {
        let datatype = (datatype != "string").then(|| format!("{XSD}{datatype}"));
        Some((value.to_owned(), datatype, None))
    });
    let tagged = value.prop_map(|value| (value.to_owned(), None, Some("en".to_owned())));
    prop_oneof![3 => plain, 3 => typed, 1 => tagged]
}

fn object() -> impl Strategy<Value = Term> {
    let literal = literal().prop_map(|(value, datatype, language)| Term::Literal {
        value,
        datatype,
        language,
    });
    let own = select(&["", "#part"][..]).prop_map(|iri| Term::Iri(iri.to_owned()));
    prop_oneof![
        3 => literal,
        3 => iri().prop_map(Term::Iri),
        1 => own,
        1 => Just(Term::Blank("n".to_owned())),
    ]
}

/// Statements with the index of the resource whose description they are in.
pub(crate) fn planted() -> impl Strategy<Value = Vec<(usize, Statement)>> {
    let subject = prop_oneof![
        6 => Just(None),
        1 => Just(Some("#part".to_owned())),
        1 => Just(Some("_:n".to_owned())),
        2 => iri().prop_map(Some),
    ];
    let unit = proptest::option::weighted(0.2, Just("u".to_owned()));
    let stated = (subject, select(&PREDICATES[..]), object(), unit);
    let stated = stated.prop_map(|(subject, predicate, object, unit)| Statement {
        subject,
        predicate: predicate.to_owned(),
        object,
        unit,
    });
    // Server-managed properties may be stated, too, and a collection may have a class.
    let managed = prop_oneof![
        class("DirectContainer"),
        class("Resource"),
        class("IndirectContainer"),
        Just(("membershipResource", Term::Iri("cenote:/open/d".to_owned()))),
        Just(("hasMemberRelation", Term::Iri("m:a".to_owned()))),
        Just(("isMemberOfRelation", Term::Iri("m:b".to_owned()))),
        Just(("insertedContentRelation", Term::Iri("p:b".to_owned()))),
    ];
    let managed = managed.prop_map(|(predicate, object)| Statement {
        subject: None,
        predicate: match predicate {
            "type" => TYPE.to_owned(),
            name => format!("{LDP}{name}"),
        },
        object,
        unit: None,
    });
    vec((0..PATHS.len(), prop_oneof![5 => stated, 1 => managed]), 0..24)
}

fn class(name: &'static str) -> impl Strategy<Value = (&'static str, Term)> {
    Just(("type", Term::Iri(format!("{LDP}{name}"))))
}

/// A term of a pattern: one of a few variables, or a term that may exist.
fn node(variables: &'static [&'static str]) -> impl Strategy<Value = String> {
    let constant = iri().prop_map(|iri| format!("<{iri}>"));
    prop_oneof![3 => select(variables).prop_map(str::to_owned), 1 => constant]
}

fn value(variables: &'static [&'static str]) -> impl Strategy<Value = String> {
    let literal = literal().prop_map(|literal| match literal {
        (value, Some(datatype), _) => format!("'{value}'^^<{datatype}>"),
        (value, _, Some(language)) => format!("'{value}'@{language}"),
        (value, ..) => format!("'{value}'"),
    });
    let class =
        select(&["Container", "Resource", "NonRDFSource", "DirectContainer", "BasicContainer"][..]);
    prop_oneof![
        4 => node(variables),
        2 => literal,
        1 => class.prop_map(|name| format!("<{LDP}{name}>")),
        1 => Just(format!("'6'^^<{XSD}long>")),
        1 => select(&["'text/plain'", "'application/octet-stream'", "'rods'"][..]).prop_map(str::to_owned),
    ]
}

fn predicate() -> impl Strategy<Value = String> {
    let managed = [
        TYPE,
        "http://www.w3.org/ns/ldp#contains",
        "http://www.w3.org/ns/ldp#member",
        "m:a",
        "m:b",
        "f:hasParent",
        "f:created",
        "f:createdBy",
        "f:lastModified",
        "http://www.loc.gov/premis/rdf/v1#hasSize",
        "http://www.loc.gov/premis/rdf/v1#hasMessageDigest",
        "http://www.ebu.ch/metadata/ontologies/ebucore/ebucore#hasMimeType",
    ];
    prop_oneof![
        4 => select(&PREDICATES[..]).prop_map(|iri| format!("<{iri}>")),
        3 => select(managed.to_vec()).prop_map(|iri| format!("<{iri}>")),
        1 => Just("?p".to_owned()),
    ]
}

fn path_expression() -> impl Strategy<Value = String> {
    let step =
        select(&["<p:a>", "<p:b>", "<http://www.w3.org/ns/ldp#contains>", "^<f:hasParent>"][..]);
    (step.clone(), step, select(&["+", "*", "?", "", "/", "|"][..])).prop_map(
        |(one, other, how)| match how {
            "/" | "|" => format!("({one}{how}{other})"),
            _ => format!("({one}){how}"),
        },
    )
}

fn triple(variables: &'static [&'static str]) -> impl Strategy<Value = String> {
    let plain = (node(variables), predicate(), value(variables));
    let path = (node(variables), path_expression(), node(variables));
    let text = |(subject, predicate, object)| format!("{subject} {predicate} {object} . ");
    prop_oneof![8 => plain.prop_map(text), 1 => path.prop_map(text)]
}

/// Triples connected by a variable.
fn group() -> impl Strategy<Value = String> {
    let first = (predicate(), value(&["?b", "?c"]));
    let first = first.prop_map(|(predicate, object)| format!("?a {predicate} {object} . "));
    let more = vec(triple(&["?a"]), 0..2);
    (first, more, value(&["?b", "?a"]), predicate()).prop_map(|(first, more, object, predicate)| {
        format!("{first}{}?a {predicate} {object} . ", more.concat())
    })
}

/// A comparison with a number or a moment.
fn bound() -> impl Strategy<Value = String> {
    let value = select(&["1", "2", "2.5", "1e1", "-1", "'2'", MOMENT][..]);
    let comparison = select(&["<", "<=", ">", ">=", "=", "!="][..]);
    let variable = select(&["?b", "?b", "?c"][..]);
    (variable, comparison, value, any::<bool>()).prop_map(
        |(variable, comparison, value, turned)| match turned {
            true => format!("{value} {comparison} {variable}"),
            false => format!("{variable} {comparison} {value}"),
        },
    )
}

fn filter() -> impl Strategy<Value = String> {
    prop_oneof![
        value(&["?a", "?b"]).prop_map(|value| format!("FILTER(?b = {value}) ")),
        value(&["?a", "?b"]).prop_map(|value| format!("FILTER(?a != {value}) ")),
        bound().prop_map(|bound| format!("FILTER({bound}) ")),
        (bound(), bound()).prop_map(|(one, other)| format!("FILTER({one} && {other}) ")),
        (triple(&["?a", "?c"]), bound())
            .prop_map(|(triple, bound)| format!("OPTIONAL {{ {triple} FILTER({bound}) }} ")),
        Just("FILTER(isIRI(?b) || isBlank(?b)) ".to_owned()),
        Just("FILTER(STRSTARTS(STR(?a), 'cenote:/open')) ".to_owned()),
        Just("FILTER(REGEX(STR(?b), 'X', 'i')) ".to_owned()),
        Just("BIND(REPLACE(STR(?b), '[0-9]', 'n$0') AS ?r) ".to_owned()),
        Just("BIND(IRI(CONCAT(STR(?a), '#part')) AS ?i) OPTIONAL { ?i ?q ?r } ".to_owned()),
        triple(&["?a", "?b"]).prop_map(|triple| format!("FILTER NOT EXISTS {{ {triple} }} ")),
        triple(&["?a", "?b"]).prop_map(|triple| format!("FILTER EXISTS {{ {triple} }} ")),
        triple(&["?a", "?c"]).prop_map(|triple| format!("OPTIONAL {{ {triple} }} ")),
        triple(&["?a", "?c"]).prop_map(|triple| format!("MINUS {{ {triple} }} ")),
        (triple(&["?a"]), triple(&["?a", "?b"]))
            .prop_map(|(one, other)| format!("{{ {one} }} UNION {{ {other} }} ")),
        triple(&["?a", "?b"]).prop_map(|triple| format!("GRAPH ?g {{ {triple} }} ")),
        (path(), triple(&["?a"])).prop_map(|(path, it)| format!("GRAPH <{path}> {{ {it} }} ")),
        vec(iri(), 1..4).prop_map(|iris| {
            let iris: String = iris.iter().map(|iri| format!("<{iri}> ")).collect();
            format!("VALUES ?a {{ {iris} }} ")
        }),
        triple(&["?a", "?s"])
            .prop_map(|it| format!("{{ SELECT ?a (COUNT(*) AS ?n) {{ {it} }} GROUP BY ?a }} ")),
    ]
}

/// A query whose result has no order.
pub(crate) fn query() -> impl Strategy<Value = String> {
    let body = (group(), vec(filter(), 0..3)).prop_map(|(group, more)| group + &more.concat());
    let form = select(
        &[
            "SELECT * { BODY}",
            "SELECT DISTINCT ?a { BODY}",
            "SELECT (COUNT(*) AS ?n) { BODY}",
            "SELECT ?a (COUNT(DISTINCT ?b) AS ?n) (MIN(?b) AS ?m) { BODY} GROUP BY ?a",
            "ASK { BODY}",
        ][..],
    );
    let text = (form, body).prop_map(|(form, body)| form.replace("BODY", &body));
    let is_query = |text: &String| spargebra::SparqlParser::new().parse_query(text).is_ok();
    text.prop_filter("a variable is bound once", is_query)
}
