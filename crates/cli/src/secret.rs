//! Passwords: read, asked for, or generated. They are never taken from the command line, where
//! every user of the machine could see them.

use std::io::{BufRead, IsTerminal, Read};

use cenote_store::{Entropy, SystemEntropy};

use crate::error::{CliError, Kind, Result};

/// Without letters and digits that are easily confused.
const ALPHABET: &[u8; 32] = b"23456789abcdefghjkmnpqrstuvwxyzQ";

/// The whole of standard input, without the end of its line.
pub(crate) fn from_stdin() -> Result<String> {
    let mut text = String::new();
    std::io::stdin().lock().take(4_096).read_to_string(&mut text)?;
    let text = text.strip_suffix('\n').map_or(text.as_str(), |line| line.trim_end_matches('\r'));
    match text {
        "" => Err(CliError::new(Kind::Usage, "standard input has no password")
            .hint("for example: cenote … --password-stdin < FILE")),
        text => Ok(text.to_owned()),
    }
}

/// Asks at the terminal.
pub(crate) fn ask(prompt: &str) -> Result<String> {
    if !std::io::stdin().is_terminal() {
        return Err(CliError::new(
            Kind::Unauthenticated,
            "a password is required, and there is no terminal to ask for it",
        )
        .hint("set CENOTE_PASSWORD or CENOTE_TOKEN"));
    }
    Ok(rpassword::prompt_password(prompt)?)
}

/// Asks for a name at the terminal.
pub(crate) fn ask_name(prompt: &str) -> Result<String> {
    if !std::io::stdin().is_terminal() {
        return Err(CliError::new(
            Kind::Usage,
            "a user is required, and there is no terminal to ask for it",
        )
        .hint("use --user NAME, or set CENOTE_USER"));
    }
    eprint!("{prompt}");
    let mut name = String::new();
    std::io::stdin().lock().take(256).read_line(&mut name)?;
    Ok(name.trim().to_owned())
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
    fn made_up_secrets_differ_and_are_long() {
        let (one, other) = (super::made_up(), super::made_up());
        assert_ne!(one, other);
        assert_eq!(one.len(), 23);
    }
}
