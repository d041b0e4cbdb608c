//! Passwords: read, asked for, or generated. They are never taken from the command line, where
//! every user of the machine could see them.

use std::fs::File;
use std::io::{BufRead, IsTerminal, Read};
use std::path::Path;

use cenote_store::{Entropy, SystemEntropy};

use crate::error::{CliError, Kind, Result};

/// Without letters and digits that are easily confused.
const ALPHABET: &[u8; 32] = b"23456789abcdefghjkmnpqrstuvwxyzQ";

/// The whole of standard input, without the end of its line.
pub(crate) fn from_stdin() -> Result<String> {
    line_of(std::io::stdin().lock())?.ok_or_else(|| {
        CliError::new(Kind::Usage, "standard input has no password")
            .hint("for example: cenote … --password-stdin < FILE")
    })
}

/// The password that `--password-stdin` or `--password-file` names, if one of them was given.
pub(crate) fn given(from_stdin: bool, file: Option<&Path>) -> Result<Option<String>> {
    match file {
        Some(file) => from_file(file).map(Some),
        None => from_stdin.then(self::from_stdin).transpose(),
    }
}

fn from_file(path: &Path) -> Result<String> {
    let shown = path.display();
    let wrong = |what: String| {
        CliError::new(Kind::Usage, what)
            .hint("--password-file names a file with the password, and nothing else")
    };
    let read = || line_of(File::open(path)?);
    let text = read().map_err(|error| wrong(format!("the password file {shown}: {error}")))?;
    text.ok_or_else(|| wrong(format!("the password file {shown} is empty")))
}

/// A text without the end of its line, if anything is left.
fn line_of(from: impl Read) -> std::io::Result<Option<String>> {
    let mut text = String::new();
    from.take(4_096).read_to_string(&mut text)?;
    let text = text.strip_suffix('\n').map_or(text.as_str(), |line| line.trim_end_matches('\r'));
    Ok((!text.is_empty()).then(|| text.to_owned()))
}

/// Prompts for a password at the terminal.
pub(crate) fn prompt_password(prompt: &str) -> Result<String> {
    if !has_terminal() {
        return Err(CliError::new(
            Kind::Unauthenticated,
            "a password is required, and there is no terminal to ask for it",
        )
        .hint("set CENOTE_PASSWORD or CENOTE_TOKEN"));
    }
    Ok(rpassword::prompt_password(prompt)?)
}

/// Prompts for a new password at the terminal: twice, unless it is empty.
pub(crate) fn prompt_new_password(prompt: &str) -> Result<String> {
    let password = prompt_password(prompt)?;
    if password.is_empty() || prompt_password("once more: ")? == password {
        return Ok(password);
    }
    Err(CliError::new(Kind::Usage, "the two passwords differ").hint("try again"))
}

/// Whether there is a terminal to prompt at.
pub(crate) fn has_terminal() -> bool {
    std::io::stdin().is_terminal()
}

/// Prompts for a name at the terminal.
pub(crate) fn prompt_name(prompt: &str) -> Result<String> {
    if !has_terminal() {
        return Err(CliError::new(
            Kind::Usage,
            "a user is required, and there is no terminal to ask for it",
        )
        .hint("use --user NAME, or set CENOTE_USER"));
    }
    prompt_line(prompt)
}

/// Prompts for a line at the terminal, which the caller has made sure to have.
pub(crate) fn prompt_line(prompt: &str) -> Result<String> {
    eprint!("{prompt}");
    let mut line = String::new();
    std::io::stdin().lock().take(256).read_line(&mut line)?;
    Ok(line.trim().to_owned())
}

/// Generates a password of 100 bits.
pub(crate) fn made_up() -> String {
    let mut bytes = [0; 20];
    SystemEntropy.fill(&mut bytes);
    let letters = bytes.map(|byte| char::from(ALPHABET[usize::from(byte % 32)]));
    letters.chunks(5).map(String::from_iter).collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    #[test]
    fn generated_secrets_are_distinct_and_long() {
        let (one, other) = (super::made_up(), super::made_up());
        assert_ne!(one, other);
        assert_eq!(one.len(), 23);
    }
}
