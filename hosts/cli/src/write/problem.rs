use std::{fmt, io};

use samedeal::{Error, Failure, FailureKind};

/// The reason why the command ends without an answer.
#[derive(Debug)]
pub enum Problem {
    /// A failure of the library.
    Sampler(Error),
    /// The reader of the output has closed the pipe: nothing is printed.
    Unheard,
    /// Anything else, in words.
    Message(String),
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        Self::Sampler(error)
    }
}

/// A problem of standard output. Errors of files need the name of the file, see [`Problem::of`].
impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::Unheard,
            _ => Self::Message(format!("cannot write the answer: {error}")),
        }
    }
}

impl Problem {
    pub fn message(text: impl Into<String>) -> Self {
        Self::Message(text.into())
    }

    /// A failure in the words of the library, without names of options: the value at fault comes from no option.
    pub fn worded(error: Error) -> Self {
        Self::Message(error.to_string())
    }

    /// The problem of a rank or a worker that is not below `count`.
    pub fn not_one_of(option: &str, value: impl fmt::Display, count: u32) -> Self {
        let allowed = format!("0 to {}", count.saturating_sub(1));
        Self::Message(format!("--{option} is {value}; allowed: {allowed}{}", alone(option, &allowed)))
    }

    /// An error of a file, with its name.
    pub fn of(path: &std::path::Path, error: impl fmt::Display) -> Self {
        Self::Message(format!("{}: {error}", path.display()))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unheard => Ok(()),
            Self::Message(text) => f.write_str(text),
            Self::Sampler(Error::Failure(failure)) => {
                let (option, Failure { kind, value, allowed, .. }) = (option_of(failure), &**failure);
                let allowed = in_options(&with_powers(allowed)) + alone(&option, allowed);
                match kind {
                    FailureKind::UnknownName => write!(f, "--{option} is {value:?}; known: {allowed}"),
                    FailureKind::Missing => write!(f, "--{option} is missing; needed: {allowed}"),
                    FailureKind::OutOfMemory => write!(f, "no memory for --{option} {value}; allowed: {allowed}"),
                    _ => write!(f, "--{option} is {value}; allowed: {allowed}"),
                }
            }
            Self::Sampler(error) => error.fmt(f),
        }
    }
}

/// The option that gave the value at fault, without the dashes.
pub fn option_of(failure: &Failure) -> String {
    if failure.path == "order.name" { "order".to_owned() } else { failure.field.replace('_', "-") }
}

/// A hint at the option that is probably missing, if a rank or a worker is named and there is only one.
fn alone(option: &str, allowed: &str) -> &'static str {
    match (option, allowed) {
        ("rank", "0 to 0") => ", as --world-size is 1",
        ("worker", "0 to 0") => ", as --workers is 1",
        _ => "",
    }
}

/// Large limits that people know as powers.
const POWERS: [(&str, &str); 2] = [("9007199254740991", "2^53 - 1"), ("18446744073709551615", "2^64 - 1")];

/// Adds the power to each of these limits in a text.
pub fn with_powers(text: &str) -> String {
    let add = |text: String, (number, power): &(&str, &str)| text.replace(number, &format!("{number} ({power})"));
    POWERS.iter().fold(text.to_owned(), add)
}

/// Replaces the names of members, as the core writes them, by options: `max_tokens` by `--max-tokens`.
fn in_options(text: &str) -> String {
    let is_letter = |letter: char| letter.is_ascii_lowercase() || letter == '_';
    let is_name = |word: &str| word.contains('_') && word.split('_').all(|part| !part.is_empty());
    let (mut written, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(start) = rest.find(is_letter) {
        let (before, word) = rest.split_at(start);
        let end = word.find(|letter| !is_letter(letter)).unwrap_or(word.len());
        let (word, after) = word.split_at(end);
        written += before;
        written += &if is_name(word) { format!("--{}", word.replace('_', "-")) } else { word.to_owned() };
        rest = after;
    }
    written + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_in_the_words_of_the_command_line() {
        for (text, told) in [
            (
                "the most tokens, or max_batch_size and max_length",
                "the most tokens, or --max-batch-size and --max-length",
            ),
            ("0 to 3, as world_size=4", "0 to 3, as --world-size=4"),
            ("1 to 9 with the order feistel: a_, _b, __ and é", "1 to 9 with the order feistel: a_, _b, __ and é"),
        ] {
            assert_eq!(in_options(text), told);
        }
        assert_eq!(with_powers("0 to 9007199254740991, or less"), "0 to 9007199254740991 (2^53 - 1), or less");
    }
}
