//! Parses the supported subset of the rule language: `writeLine("stdout", "…");` and
//! `delay("<PLUSET>1h</PLUSET>") { … }`, in sequence.

/// An action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Rule {
    Line(Line),
    /// Runs the rules of a text after this many seconds.
    Delay {
        seconds: u64,
        text: String,
    },
}

/// A line, and the output that it is written to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) output: Output,
    pub(super) text: String,
}

/// Where a line is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Output {
    /// `stdout`
    Client,
    /// `stderr`
    Error,
    /// `serverLog`
    Log,
}

impl Output {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "stdout" => Self::Client,
            "stderr" => Self::Error,
            "serverLog" => Self::Log,
            _ => return None,
        })
    }
}

/// Parses a text; the error describes what is not supported.
pub(super) fn parse(text: &str) -> Result<Vec<Rule>, String> {
    let mut text = Text(text);
    let mut rules = Vec::new();
    while !text.at_end() {
        rules.push(text.rule()?);
        while text.take(";") {}
    }
    match rules.is_empty() {
        true => Err("there is no rule in this text".to_owned()),
        false => Ok(rules),
    }
}

/// The unparsed rest of a text.
struct Text<'a>(&'a str);

impl<'a> Text<'a> {
    fn at_end(&mut self) -> bool {
        self.0 = self.0.trim_start();
        self.0.is_empty()
    }

    fn take(&mut self, sign: &str) -> bool {
        self.0 = self.0.trim_start();
        let rest = self.0.strip_prefix(sign);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    fn need(&mut self, sign: &str) -> Result<(), String> {
        match self.take(sign) {
            true => Ok(()),
            false => Err(format!("`{sign}` is missing: {:.40}", self.0)),
        }
    }

    fn rule(&mut self) -> Result<Rule, String> {
        let length = self.0.find(|c: char| !c.is_alphanumeric()).unwrap_or(self.0.len());
        let (name, rest) = self.0.split_at(length);
        self.0 = rest;
        match name {
            "writeLine" => self.line().map(Rule::Line),
            "delay" => self.delay(),
            _ => Err(format!("no rule engine has {name:.40}")),
        }
    }

    fn line(&mut self) -> Result<Line, String> {
        self.need("(")?;
        let name = self.quoted()?;
        let output = Output::named(&name).ok_or_else(|| format!("no such output: {name:.40}"))?;
        self.need(",")?;
        let text = self.quoted()?;
        self.need(")")?;
        Ok(Line { output, text })
    }

    fn delay(&mut self) -> Result<Rule, String> {
        self.need("(")?;
        let seconds = delay_of(&self.quoted()?)?;
        self.need(")")?;
        self.need("{")?;
        let length = inside(self.0).ok_or("`}` is missing")?;
        let text = self.0[..length].to_owned();
        self.0 = &self.0[length..];
        self.need("}")?;
        for rule in parse(&text)? {
            if matches!(rule, Rule::Delay { .. }) {
                return Err("a delayed rule cannot delay another one".to_owned());
            }
        }
        Ok(Rule::Delay { seconds, text })
    }

    /// A quoted text, in which a backslash escapes the next character.
    fn quoted(&mut self) -> Result<String, String> {
        self.need("\"")?;
        let length = quoted_length(self.0).ok_or("a quote is not closed")?;
        let mut text = String::with_capacity(length);
        let mut chars = self.0[..length].chars();
        while let Some(c) = chars.next() {
            text.extend(if c == '\\' { chars.next() } else { Some(c) });
        }
        self.0 = &self.0[length + 1..];
        Ok(text)
    }
}

/// The distance to the closing quote.
fn quoted_length(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return Some(at),
            _ => {}
        }
    }
    None
}

/// The distance to the closing brace, skipping quoted texts.
fn inside(text: &str) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = text[at..].find(['"', '}']) {
        at += found;
        if text[at..].starts_with('}') {
            return Some(at);
        }
        at += 1;
        at += quoted_length(&text[at..])? + 1;
    }
    None
}

/// The delay in seconds: `<PLUSET>` with a number and an optional `s`, `m`, `h` or `d`.
fn delay_of(condition: &str) -> Result<u64, String> {
    if condition.contains("<EF>") {
        return Err("repeating a rule is not supported".to_owned());
    }
    let Some((_, rest)) = condition.split_once("<PLUSET>") else { return Ok(0) };
    let (time, _) = rest.split_once("</PLUSET>").ok_or("`</PLUSET>` is missing")?;
    let digits = time.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &time[digits.len()..] {
        "" | "s" => Some(1),
        "m" => Some(60),
        "h" => Some(3_600),
        "d" => Some(86_400),
        _ => None,
    };
    let seconds = digits.parse::<u32>().ok().zip(unit);
    seconds
        .map(|(number, unit)| u64::from(number) * unit)
        .ok_or_else(|| format!("not a time: {time:.40}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn line(output: Output, text: &str) -> Rule {
        Rule::Line(Line { output, text: text.to_owned() })
    }

    #[test]
    fn lines_and_delays_are_parsed() {
        assert_eq!(parse("writeLine(\"stdout\", \"a\")").unwrap(), [line(Output::Client, "a")]);
        let two = r#" writeLine ("stderr","a \"b\"") ; writeLine("serverLog", "}"); "#;
        assert_eq!(parse(two).unwrap(), [line(Output::Error, "a \"b\""), line(Output::Log, "}")]);
        let delay = r#"delay("<INST_NAME>x</INST_NAME><PLUSET>2h</PLUSET>") { writeLine("serverLog", "}"); }"#;
        let text = r#" writeLine("serverLog", "}"); "#.to_owned();
        assert_eq!(parse(delay).unwrap(), [Rule::Delay { seconds: 7_200, text }]);
    }

    #[test]
    fn unsupported_rules_are_an_error() {
        for (text, what) in [
            ("hh", "no rule engine"),
            ("", "no rule"),
            ("writeLine(\"nowhere\", \"x\")", "no such output"),
            ("writeLine(\"stdout\", \"x)", "quote"),
            ("writeLine(\"stdout\" \"x\")", "`,`"),
            ("delay(\"<PLUSET>1y</PLUSET>\") { writeLine(\"stdout\", \"x\") }", "not a time"),
            ("delay(\"<PLUSET>1</PLUSET>\") { hh }", "no rule engine"),
            ("delay(\"<PLUSET>1</PLUSET>\") { writeLine(\"stdout\", \"x\")", "`}`"),
            ("delay(\"<EF>1h</EF>\") { writeLine(\"stdout\", \"x\") }", "repeating"),
            ("delay(\"\") { delay(\"\") { writeLine(\"stdout\", \"x\") } }", "`}`"),
        ] {
            let fault = parse(text).unwrap_err();
            assert!(fault.contains(what), "{text}: {fault}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_rules_or_an_error(text in "\\PC{0,60}") {
            let _ = parse(&text);
        }

        #[test]
        fn any_words_are_rules_or_an_error(words in proptest::collection::vec(prop_oneof![
            "writeLine", "delay", "\\(", "\\)", "\\{", "\\}", "\"stdout\"", "\"<PLUSET>1h</PLUSET>\"", ",", ";", "\""], 0..12)) {
            let _ = parse(&words.join(" "));
        }

        #[test]
        fn a_line_is_the_text_in_quotes(text in "\\PC{0,20}") {
            let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
            let rules = parse(&format!("writeLine(\"stdout\", \"{escaped}\")")).unwrap();
            prop_assert_eq!(rules, [line(Output::Client, &text)]);
        }
    }
}
