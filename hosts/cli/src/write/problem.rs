use std::{fmt, io};

use samedeal::{Error, Failure, FailureKind};

/// What ends the command without an answer.
#[derive(Debug)]
pub enum Problem {
    /// The sampler refused.
    Sampler(Error),
    /// Whoever reads the answer has gone away: no reason to say anything.
    Unheard,
    /// Anything else, in words.
    Message(String),
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        Self::Sampler(error)
    }
}

/// Of standard output; errors of files carry their names, see [`Problem::of`].
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

    /// A refusal of something that is no option: in the words of the library.
    pub fn worded(error: Error) -> Self {
        Self::Message(error.to_string())
    }

    /// An error of a file, by its name.
    pub fn of(path: &std::path::Path, error: impl fmt::Display) -> Self {
        Self::Message(format!("{}: {error}", path.display()))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unheard => Ok(()),
            Self::Message(text) => f.write_str(text),
            Self::Sampler(Error::Failure(Failure { kind, field, value, allowed, .. })) => match kind {
                FailureKind::UnknownName => write!(f, "--{field} is {value:?}; known: {allowed}"),
                FailureKind::Missing => write!(f, "--{field} is missing; needed: {allowed}"),
                FailureKind::OutOfMemory => write!(f, "no memory for --{field} {value}; allowed: {allowed}"),
                _ => write!(f, "--{field} is {value}; allowed: {allowed}"),
            },
            Self::Sampler(error) => error.fmt(f),
        }
    }
}
