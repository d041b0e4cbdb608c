//! Splits a query into tokens.

use crate::{Error, Result};

/// A token, and its byte offset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) at: usize,
    pub(crate) kind: TokenKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A name, a keyword or a number.
    Word(String),
    /// A quoted text; a quote in it is doubled.
    Text(String),
    /// A comma, a parenthesis, or an operator.
    Sign(&'static str),
}

/// The longest first, so that `<=` is not read as `<`.
const SIGNS: [&str; 14] =
    ["||", "&&", "<>", "!=", "<=", ">=", "=", "<", ">", ",", "(", ")", ";", "?"];

pub(crate) fn tokens(text: &str) -> Result<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let (kind, length) = match first {
            _ if first.is_whitespace() => {
                at += first.len_utf8();
                continue;
            }
            '\'' | '"' => {
                quoted(rest, first).ok_or_else(|| fault(text, at, "a quote is not closed"))?
            }
            _ if is_word(first) => {
                let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
                (TokenKind::Word(rest[..length].to_owned()), length)
            }
            _ => sign(rest).ok_or_else(|| fault(text, at, "no word of the language"))?,
        };
        tokens.push(Token { at, kind });
        at += length;
    }
    Ok(tokens)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.')
}

fn quoted(rest: &str, quote: char) -> Option<(TokenKind, usize)> {
    let mut text = String::new();
    let mut chars = rest.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if c != quote {
            text.push(c);
        } else if chars.next_if(|(_, next)| *next == quote).is_some() {
            text.push(quote);
        } else {
            return Some((TokenKind::Text(text), at + 1));
        }
    }
    None
}

fn sign(rest: &str) -> Option<(TokenKind, usize)> {
    let sign = SIGNS.into_iter().find(|sign| rest.starts_with(sign))?;
    Some((TokenKind::Sign(sign), sign.len()))
}

/// A syntax error, and its position.
pub(crate) fn fault(text: &str, at: usize, what: &str) -> Error {
    let near: String = text[at.min(text.len())..].chars().take(24).collect();
    match near.is_empty() {
        true => Error::Syntax(format!("{what} at the end of the query")),
        false => Error::Syntax(format!("{what} at byte {at}: {near:?}")),
    }
}
