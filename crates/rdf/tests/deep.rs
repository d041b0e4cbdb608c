//! Text that nests deeply, or whose terms depend on each other, is read or refused on the stack of any reading
//! thread.

use cenote_rdf::{Limits, Query, Syntax, Update, read};

const LIMITS: Limits = Limits { triples: 100_000, term: 1 << 20 };
const DEPTHS: [usize; 3] = [20, 120, 20_000];

/// Runs on a stack of two mebibytes, like the threads of a server. An overflow would abort this program.
fn on_a_small_stack<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(work);
    thread.expect("a thread starts").join().expect("it ends")
}

fn reads(syntax: Syntax, text: String) -> bool {
    on_a_small_stack(move || read(text.as_bytes(), syntax, "http://h/", LIMITS).is_ok())
}

#[test]
fn deep_nesting_is_read_or_refused() {
    for (syntax, before, open, close, after) in [
        (Syntax::Turtle, "<a:> <a:p> ", "[ <a:p> ", "] ", "."),
        (Syntax::Turtle, "<a:> <a:p> ", "( ", ") ", "."),
        (Syntax::N3, "<a:> <a:p> ", "{ ", "} ", "."),
        (Syntax::NTriples, "<a:> <a:p> ", "<< ", ">> ", "."),
        (Syntax::RdfXml, "", "<a xmlns='a:'><p>", "</p></a>", ""),
        (Syntax::JsonLd, "", "{\"a:p\":", "}", ""),
        (Syntax::JsonLd, "", "[", "]", ""),
        (Syntax::JsonLd, "{\"a:p\":", "{\"@list\":", "}", "}"),
        (Syntax::JsonLd, "{\"@context\":", "[", "]", "}"),
        (Syntax::JsonLd, "", "{\"@context\":{\"t\":\"a:t\"},\"t\":", "}", ""),
        (Syntax::JsonLd, "{\"@context\":", "{\"t\":{\"@id\":\"a:t\",\"@context\":", "}}", "}"),
    ] {
        for (depth, inner) in
            DEPTHS.iter().flat_map(|depth| ["", "1", "\"x\"", "{}"].map(|inner| (*depth, inner)))
        {
            let text =
                format!("{before}{}{inner}{}{after}", open.repeat(depth), close.repeat(depth));
            reads(syntax, text);
        }
    }
}

#[test]
fn nested_nodes_are_read_to_a_usual_depth() {
    let nodes = |open: &str, inner: &str, close: &str| {
        format!("{}{inner}{}", open.repeat(50), close.repeat(50))
    };
    assert!(reads(Syntax::JsonLd, nodes("{\"a:p\":", "1", "}")));
    assert!(reads(Syntax::Turtle, format!("<a:> <a:p> {} .", nodes("[ <a:p> ", "1", "]"))));
    assert!(reads(Syntax::RdfXml, nodes("<a xmlns='a:'><p>", "", "</p></a>")));
}

#[test]
fn terms_that_depend_on_each_other_are_read_or_refused() {
    for (count, is_read) in [(20, true), (20_000, false)] {
        let terms: Vec<_> = (0..count).map(|n| format!("\"t{n}\":\"t{}:x\"", n + 1)).collect();
        let terms = terms.join(",");
        let text = format!("{{\"@context\":{{{terms},\"t{count}\":\"http://h/\"}},\"t0\":1}}");
        assert_eq!(reads(Syntax::JsonLd, text), is_read, "{count}");
    }
}

#[test]
fn queries_and_updates_that_nest_deep_are_read_or_refused() {
    for (open, close) in
        [("{ ", "} "), ("[ <a:p> ", "] "), ("( ", ") "), ("<a:s> <a:p> ", "; "), ("<< ", ">> ")]
    {
        for depth in DEPTHS {
            let pattern = format!("{{ {}1{} }}", open.repeat(depth), close.repeat(depth));
            on_a_small_stack(move || {
                let _ = Query::parse(&format!("ASK {pattern}"), "http://h/");
                let _ = Update::parse(&format!("INSERT {{ }} WHERE {pattern}"), "http://h/");
                let _ = Update::parse(&format!("INSERT DATA {pattern}"), "http://h/");
            });
        }
    }
}

/// XML entities that refer to others, each several times, would expand a short text to gigabytes.
#[test]
fn entity_expansion_is_limited() {
    let mut entities = "<!ENTITY e0 \"0123456789\">".to_owned();
    for n in 1..12 {
        entities += &format!("<!ENTITY e{n} \"{}\">", format!("&e{};", n - 1).repeat(10));
    }
    let text = format!("<!DOCTYPE d [{entities}]><d xmlns='a:'><p>&e11;</p></d>");
    assert!(!reads(Syntax::RdfXml, text));
}
