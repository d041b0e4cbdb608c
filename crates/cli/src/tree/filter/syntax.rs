//! From a pattern to a regular expression over paths below the root of a tree.

use std::iter::Peekable;
use std::str::Chars;

/// The regular expression that a pattern means, or what is wrong with the pattern.
pub(super) fn translate(pattern: &str) -> Result<String, String> {
    let (start, rest) = match pattern.strip_prefix('/') {
        Some(rest) => ("^", rest),
        None => ("(?:^|/)", pattern),
    };
    if rest.is_empty() {
        return Err("it is empty".to_owned());
    }
    let mut translation =
        Translation { rest: rest.chars().peekable(), regex: String::new(), braces: 0 };
    translation.run()?;
    Ok(format!("(?s){start}{}$", translation.regex))
}

/// The classes that have names, all of ASCII.
const NAMED: [&str; 14] = [
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct",
    "space", "upper", "word", "xdigit",
];

struct Translation<'a> {
    rest: Peekable<Chars<'a>>,
    regex: String,
    /// Alternatives that are open.
    braces: usize,
}

impl Translation<'_> {
    fn run(&mut self) -> Result<(), String> {
        while let Some(next) = self.rest.next() {
            self.one(next)?;
        }
        if self.braces > 0 { Err("a `{` has no `}`".to_owned()) } else { Ok(()) }
    }

    fn one(&mut self, next: char) -> Result<(), String> {
        match next {
            '*' => self.stars()?,
            '?' => self.regex.push_str("[^/]"),
            '[' => self.class()?,
            ']' => return Err("a `]` has no `[`".to_owned()),
            '{' => self.open()?,
            '}' => self.close()?,
            ',' if self.braces > 0 => self.regex.push('|'),
            '\\' => match escape(self.rest.next())? {
                Item::Char(literal) => self.literal(literal),
                Item::Class(class) => self.regex.push_str(&format!("[[{class}]&&[^/]]")),
            },
            literal => self.literal(literal),
        }
        Ok(())
    }

    fn literal(&mut self, literal: char) {
        self.regex.push_str(&regex::escape(literal.encode_utf8(&mut [0; 4])));
    }

    fn stars(&mut self) -> Result<(), String> {
        match (self.rest.next_if_eq(&'*'), self.rest.peek()) {
            (None, _) => self.regex.push_str("[^/]*"),
            (Some(_), Some('*')) => return Err("more than two `*` in a row".to_owned()),
            (Some(_), _) => self.regex.push_str(".*"),
        }
        Ok(())
    }

    fn open(&mut self) -> Result<(), String> {
        if self.rest.peek() == Some(&'{') {
            return Err("regular expressions in `{{…}}` are not supported".to_owned());
        }
        self.braces += 1;
        self.regex.push_str("(?:");
        Ok(())
    }

    fn close(&mut self) -> Result<(), String> {
        self.braces = self.braces.checked_sub(1).ok_or("a `}` has no `{`")?;
        self.regex.push(')');
        Ok(())
    }

    /// A class, behind its `[`. It never matches a `/`.
    fn class(&mut self) -> Result<(), String> {
        let negated = self.rest.next_if(|next| matches!(next, '!' | '^')).is_some();
        let mut items = String::new();
        loop {
            match self.item()? {
                None if items.is_empty() => return Err("an empty `[]`".to_owned()),
                None => break,
                Some(Item::Class(class)) => items.push_str(&class),
                Some(Item::Char(low)) => items.push_str(&self.range(low)?),
            }
        }
        let not = if negated { "^" } else { "" };
        self.regex.push_str(&format!("[[{not}{items}]&&[^/]]"));
        Ok(())
    }

    /// The next member of a class; none at its end.
    fn item(&mut self) -> Result<Option<Item>, String> {
        match self.rest.next() {
            None => Err("a `[` has no `]`".to_owned()),
            Some(']') => Ok(None),
            Some('[') => self.named().map(Some),
            Some('\\') => escape(self.rest.next()).map(Some),
            Some(literal) => Ok(Some(Item::Char(literal))),
        }
    }

    /// A class with a name, such as `[:alpha:]`, behind its `[`.
    fn named(&mut self) -> Result<Item, String> {
        let mut name = String::new();
        while let Some(next) = self.rest.next_if(|next| *next != ']') {
            name.push(next);
        }
        let class = name.strip_prefix(':').and_then(|name| name.strip_suffix(':'));
        match (self.rest.next(), class) {
            (Some(_), Some(class)) if NAMED.contains(&class.trim_start_matches('^')) => {
                Ok(Item::Class(format!("[{name}]")))
            }
            (Some(_), Some(class)) => Err(format!("no such class: `{class}`")),
            _ => Err("a `[` within `[…]` is written `\\[`".to_owned()),
        }
    }

    /// The member `low`, or the range that starts with it.
    fn range(&mut self, low: char) -> Result<String, String> {
        let mut ahead = self.rest.clone();
        let is_range = ahead.next() == Some('-') && !matches!(ahead.next(), None | Some(']'));
        if !is_range {
            return Ok(quoted(low));
        }
        self.rest.next();
        match self.item()? {
            Some(Item::Char(high)) if low <= high => {
                Ok(format!("{}-{}", quoted(low), quoted(high)))
            }
            _ => Err(format!("not a range: it begins with `{low}-`")),
        }
    }
}

/// A member of a class.
enum Item {
    Char(char),
    /// Members in the words of regular expressions.
    Class(String),
}

/// The element after a `\`. The classes are those of ASCII, as in rclone.
fn escape(escaped: Option<char>) -> Result<Item, String> {
    let class = match escaped {
        Some('d') => "0-9",
        Some('D') => "[^0-9]",
        Some('s') => "\\t\\n\\f\\r\\x20",
        Some('S') => "[^\\t\\n\\f\\r\\x20]",
        Some('w') => "0-9A-Za-z_",
        Some('W') => "[^0-9A-Za-z_]",
        Some(letter) if letter.is_ascii_alphanumeric() => {
            return Err(format!("`\\{letter}` means nothing"));
        }
        Some(literal) => return Ok(Item::Char(literal)),
        None => return Err("it ends in a `\\`".to_owned()),
    };
    Ok(Item::Class(class.to_owned()))
}

/// A character in a class of a regular expression.
fn quoted(character: char) -> String {
    format!("\\x{{{:x}}}", u32::from(character))
}

#[cfg(test)]
mod tests {
    use regex::Regex;

    use super::*;

    #[track_caller]
    fn check(pattern: &str, matches: &[&str], others: &[&str]) {
        let regex = Regex::new(&translate(pattern).unwrap()).unwrap();
        for path in matches {
            assert!(regex.is_match(path), "{pattern} does not match {path}");
        }
        for path in others {
            assert!(!regex.is_match(path), "{pattern} matches {path}");
        }
    }

    /// Examples from rclone's documentation of each element.
    #[test]
    fn each_element_means_the_same_as_in_rclone() {
        check(
            "file.jpg",
            &["file.jpg", "dir/file.jpg"],
            &["afile.jpg", "dir/afile.jpg", "file.jpg/x"],
        );
        check("/file.jpg", &["file.jpg"], &["afile.jpg", "dir/file.jpg"]);
        check("*.jpg", &["file.jpg", "dir/file.jpg", ".jpg"], &["file.png", "dir/file.png"]);
        check("/*.jpg", &["file.jpg", "file2.jpg"], &["file.png", "dir/file.jpg"]);
        check("*.{jpg,png}", &["file.jpg", "dir/file.png"], &["file.gif", "dir/file.gif"]);
        check("dir/**", &["dir/any", "sub/dir/deep/any"], &["file.png", "sub/file.png", "adir/x"]);
        check("*.t?t", &["file.txt", "dir/file.tzt"], &["file.qxt", "dir/file.png", "file.t/t"]);
        check("*.[a-z]", &["file.a", "dir/file.b"], &["file.0", "dir/file.1"]);
        check("*.\\?\\?\\?", &["file.???", "dir/file.???"], &["file.abc", "dir/file.def"]);
        check("*.\\d\\d\\d", &["file.012", "dir/file.345"], &["file.abc", "dir/file.def"]);
        check("??[^[:punct:]]*", &["abc", "ab1x"], &["ab-x", "ab"]);
        check("*\\[{JP,KR,HK}\\]*", &["a[JP]b", "[HK]"], &["aJPb", "a[DE]b"]);
        check("{A,B}/**", &["A/x", "B/x/y", "c/A/x"], &["C/x", "A"]);
        check("a/**/b", &["a/x/b", "a/x/y/b"], &["a/b", "a/xb"]);
        check("a**b", &["ab", "axb", "a/x/b"], &["a", "b/a"]);
        check("potato,sausage", &["potato,sausage"], &["potato", "sausage"]);
        check("{a,{b,c}d}e", &["ae", "bde", "cde"], &["ade", "be", "ce"]);
        check("(a|b)+.^$", &["(a|b)+.^$"], &["a", "aa"]);
        check("[!a-c]", &["d", "!"], &["a", "c", "dd"]);
        check("x[^a]y", &["xby"], &["xay", "x/y"]);
        check("[a-]x", &["ax", "-x"], &["bx"]);
        check("[a\\]\\-z]", &["a", "]", "-", "z"], &["b", "\\"]);
        check("[\\d_]", &["7", "_"], &["x", "٣"]);
        check("\\w", &["a", "_", "7"], &["-", "ä"]);
        check("a\nb*", &["a\nb", "a\nbc"], &["a"]);
        check("ü*", &["über"], &["uber"]);
    }

    #[test]
    fn an_invalid_pattern_is_refused_with_the_reason() {
        for (pattern, reason) in [
            ("", "empty"),
            ("/", "empty"),
            ("***", "more than two"),
            ("a***b", "more than two"),
            ("ab]c", "`]` has no"),
            ("ab[c", "`[` has no"),
            ("[]", "empty"),
            ("[!]", "empty"),
            ("[[a]]", "within"),
            ("[b-a]", "range"),
            ("[a-\\d]", "range"),
            ("ab{c", "`{` has no"),
            ("ab}c", "`}` has no"),
            ("ab{}}", "`}` has no"),
            ("{{a+}}", "regular expressions"),
            ("a\\", "ends in"),
            ("a\\q", "means nothing"),
            ("[[:nothing:]]", "no such class"),
        ] {
            let error = translate(pattern).unwrap_err();
            assert!(error.contains(reason), "{pattern}: {error}");
        }
    }
}
