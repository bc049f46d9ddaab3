use std::sync::Arc;
use std::{fmt, io};

use crate::Fact;

/// The reason why a call failed.
///
/// `Debug` shows the same sentence as `Display`, because `unwrap`, and a `main` that returns the error, use `Debug`.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A value was wrong, or there is not enough memory for the call. The object still works.
    Failure(Box<Failure>),
    /// The engine itself failed: a defect, or a machine out of resources. No argument can cause this. The object
    /// refuses every later call; build a new one.
    Engine(EngineError),
    /// The log of a ledger could not be read or written. The ledger can be used again as soon as the log works.
    Log(LogError),
    /// The function that gives lengths failed ([`Lengths::from_fn`](crate::Lengths::from_fn)). The batcher can be used
    /// again as soon as the function works.
    Lengths(LengthsError),
}

// Clippy would warn about a larger error type in every function of users that returns it.
const _: () = assert!(size_of::<Error>() < 128);

impl Error {
    /// The failure, if the error is one of arguments or memory; none for the other variants.
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Self::Failure(failure) => Some(failure),
            Self::Engine(_) | Self::Log(_) | Self::Lengths(_) => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failure(failure) => failure.fmt(f),
            Self::Engine(error) => error.fmt(f),
            Self::Log(error) => error.fmt(f),
            Self::Lengths(error) => error.fmt(f),
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
            Self::Lengths(error) => Some(error.cause()),
            Self::Failure(_) | Self::Engine(_) => None,
        }
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        Self::Failure(Box::new(failure))
    }
}

/// The kinds of failure.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize), serde(from = "String", into = "String"))]
#[non_exhaustive]
pub enum FailureKind {
    /// A number is outside its range.
    OutOfRange,
    /// A name is unknown to this version.
    UnknownName,
    /// An object of a recipe has a member that this version does not know.
    UnknownMember,
    /// There is not enough memory for the call. Calls of the same object that need less still work.
    OutOfMemory,
    /// A value has the wrong type, such as a text in place of a number. In Rust, this only happens with texts, such as
    /// recipes and states.
    WrongType,
    /// A required value is missing.
    Missing,
    /// Values are allowed one by one, but not together.
    Contradiction,
    /// A kind that this version of the crate does not know, with its name.
    Other(String),
}

impl FailureKind {
    /// The name of the kind, the same in every language, such as `out-of-range`.
    pub fn name(&self) -> &str {
        match self {
            Self::OutOfRange => "out-of-range",
            Self::UnknownName => "unknown-name",
            Self::UnknownMember => "unknown-member",
            Self::OutOfMemory => "out-of-memory",
            Self::WrongType => "wrong-type",
            Self::Missing => "missing",
            Self::Contradiction => "contradiction",
            Self::Other(name) => name,
        }
    }
}

impl From<String> for FailureKind {
    fn from(name: String) -> Self {
        match name.as_str() {
            "out-of-range" => Self::OutOfRange,
            "unknown-name" => Self::UnknownName,
            "unknown-member" => Self::UnknownMember,
            "out-of-memory" => Self::OutOfMemory,
            "wrong-type" => Self::WrongType,
            "missing" => Self::Missing,
            "contradiction" => Self::Contradiction,
            _ => Self::Other(name),
        }
    }
}

impl From<FailureKind> for String {
    fn from(kind: FailureKind) -> Self {
        kind.name().into()
    }
}

/// The value that was wrong, and the values that are allowed. A failure is the same in every language.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[non_exhaustive]
pub struct Failure {
    /// The kind of the failure.
    pub kind: FailureKind,
    /// The name of the parameter or the member of a recipe at fault, the same in every language, such as `batch_size`.
    pub field: String,
    /// The path of a member in its recipe or state, such as `deal.world_size`, which ends with `field`. For other
    /// values, the path is `field`.
    pub path: String,
    /// The value that was wrong: a number in decimal, a name (cut after 64 characters), or the values that contradict
    /// each other.
    pub value: String,
    /// The allowed values, for people: a range such as `0 to 9`, or the known names.
    pub allowed: String,
    /// The allowed values, for programs: `min` and `max` of a range, a `known` for each known name, or `needs` with
    /// the only allowed value. Empty if the allowed values are none of these.
    pub facts: Vec<Fact>,
}

impl Failure {
    /// The smallest number that is allowed, if the failure says it.
    pub fn min(&self) -> Option<i128> {
        self.fact("min")?.parse().ok()
    }

    /// The largest number that is allowed, if the failure says it.
    pub fn max(&self) -> Option<i128> {
        self.fact("max")?.parse().ok()
    }

    /// The known names, if the failure lists them.
    pub fn known(&self) -> impl Iterator<Item = &str> {
        self.facts.iter().filter(|fact| fact.name == "known").map(|fact| fact.value.as_str())
    }

    /// The only value that is allowed, if there is one.
    pub fn needs(&self) -> Option<&str> {
        self.fact("needs")
    }

    fn fact(&self, name: &str) -> Option<&str> {
        self.facts.iter().find(|fact| fact.name == name).map(|fact| fact.value.as_str())
    }

    /// Adds these limits to the facts of the failure.
    pub(crate) fn within(mut self, least: Option<u64>, most: Option<u64>) -> Self {
        let fact = |name: &str, value: u64| Fact { name: name.to_owned(), value: value.to_string() };
        self.facts.extend(least.map(|least| fact("min", least)));
        self.facts.extend(most.map(|most| fact("max", most)));
        self
    }

    pub(crate) fn out_of_range(field: &str, value: impl fmt::Display, allowed: impl fmt::Display) -> Self {
        Self::new(FailureKind::OutOfRange, field, value, allowed)
    }

    pub(crate) fn out_of_memory(field: &str, value: impl fmt::Display, allowed: impl fmt::Display) -> Self {
        Self::new(FailureKind::OutOfMemory, field, value, allowed)
    }

    pub(crate) fn unknown_name(field: &str, name: &str, known: &[&str]) -> Self {
        let name = name.chars().take(64).collect::<String>();
        let facts = known.iter().map(|&name| Fact { name: "known".to_owned(), value: name.to_owned() }).collect();
        Self { facts, ..Self::new(FailureKind::UnknownName, field, name, known.join(", ")) }
    }

    pub(crate) fn missing(field: &str, needed: impl fmt::Display) -> Self {
        Self::new(FailureKind::Missing, field, "", needed)
    }

    pub(crate) fn contradiction(field: &str, value: impl fmt::Display, allowed: impl fmt::Display) -> Self {
        Self::new(FailureKind::Contradiction, field, value, allowed)
    }

    /// The failure of a number that has to be below `count`.
    pub(crate) fn not_below(field: &str, value: impl fmt::Display, count: u64) -> Self {
        let allowed = count.checked_sub(1).map_or("none, there are none".to_owned(), |last| format!("0 to {last}"));
        let most = count.checked_sub(1);
        Self::out_of_range(field, value, allowed).within(most.map(|_| 0), most)
    }

    fn new(kind: FailureKind, field: &str, value: impl fmt::Display, allowed: impl fmt::Display) -> Self {
        Self {
            kind,
            field: field.to_owned(),
            path: field.to_owned(),
            value: value.to_string(),
            allowed: allowed.to_string(),
            facts: Vec::new(),
        }
    }
}

/// A path as sentences show it: without the section, because users set its members as arguments. The path `order.name`
/// becomes `order`.
fn spoken(path: &str) -> &str {
    match path.split_once('.') {
        Some((section, "name")) => section,
        Some((_, within)) => within,
        None => path,
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, value, allowed, .. } = self;
        let field = spoken(&self.path);
        match kind {
            FailureKind::OutOfRange | FailureKind::WrongType | FailureKind::Contradiction | FailureKind::Other(_) => {
                write!(f, "{field} is {value}; allowed: {allowed}")
            }
            FailureKind::Missing => write!(f, "{field} is missing; needed: {allowed}"),
            FailureKind::UnknownName => write!(f, "{field} is {value:?}; known: {allowed}"),
            FailureKind::UnknownMember => write!(f, "{field} has no member {value:?}; known: {allowed}"),
            FailureKind::OutOfMemory => write!(f, "no memory for {field} = {value}; allowed: {allowed}"),
        }
    }
}

impl std::error::Error for Failure {}

/// The error of an engine that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineError {
    message: String,
}

/// Only the component has these errors: the linked core fails only by its arguments.
#[cfg(feature = "component")]
impl EngineError {
    pub(crate) fn new(error: &wasmtime::Error) -> Self {
        // The alternate form (`#`) also shows the causes, in one line.
        Self { message: format!("the engine failed: {error:#}; build a new one") }
    }

    /// The error of every call after the call that failed.
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

/// The error of the store that contains a log.
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

/// There is no `From<io::Error>`: an I/O error of the program's own files is no error of this library.
impl From<LogError> for Error {
    fn from(error: LogError) -> Self {
        Self::Log(error)
    }
}

/// Equal only if both are clones of the same error: I/O errors cannot be compared by content.
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

/// The error of a function that gives lengths.
#[derive(Clone, Debug)]
pub struct LengthsError {
    error: Arc<dyn std::error::Error + Send + Sync>,
}

impl LengthsError {
    pub(crate) fn new(error: Box<dyn std::error::Error + Send + Sync>) -> Self {
        Self { error: error.into() }
    }

    /// The error of the function.
    pub fn cause(&self) -> &(dyn std::error::Error + Send + Sync + 'static) {
        &*self.error
    }
}

/// Equal only if both are clones of the same error: errors of callers cannot be compared by content.
impl PartialEq for LengthsError {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.error, &other.error)
    }
}

impl Eq for LengthsError {}

impl fmt::Display for LengthsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the lengths of samples: {}", self.error)
    }
}

impl std::error::Error for LengthsError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_main_and_unwrap_show_is_the_sentence() {
        let failure = Failure::out_of_range("batch_size", 0, "1 to 9");
        let error = Error::from(failure.clone());
        assert_eq!(format!("{error:?}"), "batch_size is 0; allowed: 1 to 9");
        // `Debug` of a failure alone shows its fields.
        assert!(format!("{failure:?}").contains("field: \"batch_size\""));
    }
}
