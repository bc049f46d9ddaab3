use std::sync::Arc;
use std::{fmt, io};

use crate::engine::{batching_types, planning_types, types};

/// Why a call did not succeed.
///
/// Its `Debug` is the sentence of its `Display`: that is what a `main` that returns it, and an `unwrap`, show.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A value was wrong, or there is no memory for what was asked. The object that was asked still works.
    Failure(Failure),
    /// The engine itself failed, which no argument can cause: a defect, or a machine out of resources. The object
    /// that was asked refuses every later call; build a new one.
    Engine(EngineError),
    /// The log of a ledger could not be read or written. The ledger goes on once it can.
    Log(LogError),
}

impl Error {
    /// The failure, if the arguments are to blame and not the engine.
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Self::Failure(failure) => Some(failure),
            Self::Engine(_) | Self::Log(_) => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failure(failure) => failure.fmt(f),
            Self::Engine(error) => error.fmt(f),
            Self::Log(error) => error.fmt(f),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Log(error) => Some(error.io()),
            Self::Failure(_) | Self::Engine(_) => None,
        }
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

/// The kinds of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FailureKind {
    /// A number is outside its range.
    OutOfRange,
    /// A name is not one of those that this version knows.
    UnknownName,
    /// There is no memory for what was asked. The same object still answers everything that needs less.
    OutOfMemory,
    /// A value of the wrong type, where text should be a number. Rust's own types leave no other room for it.
    WrongType,
    /// A value that is needed is not there.
    Missing,
    /// Values that are each allowed do not fit together.
    Contradiction,
}

impl FailureKind {
    /// The name of the kind, the same in every language, such as `out-of-range`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OutOfRange => "out-of-range",
            Self::UnknownName => "unknown-name",
            Self::OutOfMemory => "out-of-memory",
            Self::WrongType => "wrong-type",
            Self::Missing => "missing",
            Self::Contradiction => "contradiction",
        }
    }
}

/// Which value was wrong and what is allowed: the same in every language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What kind of failure this is.
    pub kind: FailureKind,
    /// The parameter at fault, by its name in the interface that all languages share, such as `batch-size`.
    pub field: String,
    /// Its value, in decimal, or the name that was given (cut after 64 characters),
    /// or the values that contradict each other.
    pub value: String,
    /// What is allowed in its place, for people: a range such as `0 to 9`, or the known names.
    pub allowed: String,
}

impl Failure {
    pub(crate) fn out_of_range(field: &str, value: impl fmt::Display, allowed: impl fmt::Display) -> Self {
        Self::new(FailureKind::OutOfRange, field, value, allowed)
    }

    pub(crate) fn out_of_memory(field: &str, value: impl fmt::Display, allowed: impl fmt::Display) -> Self {
        Self::new(FailureKind::OutOfMemory, field, value, allowed)
    }

    pub(crate) fn unknown_name(field: &str, name: &str, known: impl fmt::Display) -> Self {
        Self::new(FailureKind::UnknownName, field, name.chars().take(64).collect::<String>(), known)
    }

    pub(crate) fn missing(field: &str, needed: impl fmt::Display) -> Self {
        Self::new(FailureKind::Missing, field, "", needed)
    }

    pub(crate) fn contradiction(field: &str, value: impl fmt::Display, allowed: impl fmt::Display) -> Self {
        Self::new(FailureKind::Contradiction, field, value, allowed)
    }

    /// A number that is not one of `count` things.
    pub(crate) fn not_below(field: &str, value: impl fmt::Display, count: u64) -> Self {
        let allowed = count.checked_sub(1).map_or("none, there are none".to_owned(), |last| format!("0 to {last}"));
        Self::out_of_range(field, value, allowed)
    }

    fn new(kind: FailureKind, field: &str, value: impl fmt::Display, allowed: impl fmt::Display) -> Self {
        Self { kind, field: field.to_owned(), value: value.to_string(), allowed: allowed.to_string() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, field, value, allowed } = self;
        let field = field.replace('-', "_");
        match kind {
            FailureKind::OutOfRange | FailureKind::WrongType | FailureKind::Contradiction => {
                write!(f, "{field} is {value}; allowed: {allowed}")
            }
            FailureKind::Missing => write!(f, "{field} is missing; needed: {allowed}"),
            FailureKind::UnknownName => write!(f, "{field} is {value:?}; known: {allowed}"),
            FailureKind::OutOfMemory => write!(f, "no memory for {field} = {value}; allowed: {allowed}"),
        }
    }
}

impl std::error::Error for Failure {}

macro_rules! from {
    ($types:ident) => {
        impl From<$types::Failure> for Failure {
            fn from($types::Failure { kind, field, value, allowed }: $types::Failure) -> Self {
                let kind = match kind {
                    $types::FailureKind::OutOfRange => FailureKind::OutOfRange,
                    $types::FailureKind::UnknownName => FailureKind::UnknownName,
                    $types::FailureKind::OutOfMemory => FailureKind::OutOfMemory,
                    $types::FailureKind::WrongType => FailureKind::WrongType,
                    $types::FailureKind::Missing => FailureKind::Missing,
                    $types::FailureKind::Contradiction => FailureKind::Contradiction,
                };
                Self { kind, field, value, allowed }
            }
        }
    };
}
// The same record, once in each component.
from!(types);
from!(planning_types);
from!(batching_types);

/// What the engine said when it failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineError {
    message: String,
}

impl EngineError {
    pub(crate) fn new(error: &wasmtime::Error) -> Self {
        // The alternate form holds the causes as well, in one line.
        Self { message: format!("the engine failed: {error:#}; build a new one") }
    }

    /// The same, for the calls that come after the one that failed.
    pub(crate) fn repeated(&self) -> Self {
        Self { message: format!("refused, because of an earlier call: {}", self.message) }
    }
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for EngineError {}

/// What the store said that a log is in.
#[derive(Clone, Debug)]
pub struct LogError {
    error: Arc<io::Error>,
}

impl LogError {
    /// The error of the store.
    pub fn io(&self) -> &io::Error {
        &self.error
    }
}

impl From<io::Error> for LogError {
    fn from(error: io::Error) -> Self {
        Self { error: Arc::new(error) }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Log(error.into())
    }
}

/// The same error, not one like it.
impl PartialEq for LogError {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.error, &other.error)
    }
}

impl Eq for LogError {}

impl fmt::Display for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the log of a ledger: {}", self.error)
    }
}

impl std::error::Error for LogError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_main_and_unwrap_show_is_the_sentence() {
        let failure = Failure::out_of_range("batch-size", 0, "1 to 9");
        let error = Error::from(failure.clone());
        assert_eq!(format!("{error:?}"), "batch_size is 0; allowed: 1 to 9");
        // A failure by itself shows its parts, for a program's own eyes.
        assert!(format!("{failure:?}").contains("field: \"batch-size\""));
    }
}
