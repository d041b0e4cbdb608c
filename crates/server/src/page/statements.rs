//! Terms and statements in pages.

use cenote_rdf::{NamedOrBlankNode, Term, Triple};

use super::Markup;

const XSD: &str = "http://www.w3.org/2001/XMLSchema#";

impl Markup {
    /// A term: an address of the web as a link, a literal with its language, or its datatype unless that is `xsd:string`.
    pub(crate) fn term(&mut self, term: &Term) -> &mut Self {
        let literal = match term {
            Term::NamedNode(node) => return self.link(node.as_str(), node.as_str()),
            Term::BlankNode(node) => return self.text(&node.to_string()),
            Term::Literal(literal) => literal,
        };
        self.text(literal.value());
        let datatype = literal.datatype();
        let datatype = datatype.as_str().strip_prefix(XSD).unwrap_or(datatype.as_str());
        match literal.language() {
            Some(language) => self.raw(" (").text(language).raw(")"),
            None if datatype == "string" => self,
            None => self.raw(" (").text(datatype).raw(")"),
        }
    }

    /// A table of statements about one resource, without it.
    pub(crate) fn statements_about<'a>(
        &mut self,
        statements: impl IntoIterator<Item = &'a Triple>,
    ) -> &mut Self {
        self.raw("<table>\n<thead><tr><th scope=\"col\">Predicate</th><th scope=\"col\">Object</th></tr></thead>\n");
        for statement in statements {
            self.raw("<tr><td>").pair(statement);
        }
        self.raw("</table>\n")
    }

    /// A table of statements.
    pub(crate) fn statements<'a>(
        &mut self,
        statements: impl IntoIterator<Item = &'a Triple>,
    ) -> &mut Self {
        self.raw("<table>\n<thead><tr><th scope=\"col\">Subject</th><th scope=\"col\">Predicate</th><th scope=\"col\">Object</th></tr></thead>\n");
        for statement in statements {
            self.raw("<tr><td>");
            match &statement.subject {
                NamedOrBlankNode::NamedNode(node) => self.link(node.as_str(), node.as_str()),
                NamedOrBlankNode::BlankNode(node) => self.text(&node.to_string()),
            };
            self.raw("</td><td>").pair(statement);
        }
        self.raw("</table>\n")
    }

    fn pair(&mut self, statement: &Triple) -> &mut Self {
        let predicate = statement.predicate.as_str();
        self.link(predicate, predicate).raw("</td><td>").term(&statement.object);
        self.raw("</td></tr>\n")
    }
}
