use alloc::string::{String, ToString};
use core::fmt;

/// The kinds of failure: what a program branches on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A number is outside its range.
    OutOfRange,
    /// A name is not one of those that this version knows.
    UnknownName,
    /// There is no memory for what was asked.
    OutOfMemory,
    /// A value is not of the type that is needed, such as an environment variable that holds no number.
    WrongType,
    /// A value that is needed is not there.
    Missing,
    /// Values that are each allowed do not fit together.
    Contradiction,
}

impl Kind {
    /// The name of the kind in the WIT interface.
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

/// The one error of this crate: which value was wrong and what is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What kind of failure this is.
    pub kind: Kind,
    /// The parameter or configuration field at fault, by its name in the WIT interface.
    pub field: &'static str,
    /// Its value, in decimal, or the name that was given (cut after 64 characters), or the values that contradict each other.
    pub value: String,
    /// What is allowed in its place, for people.
    pub allowed: String,
}

impl Failure {
    /// All of them are made here, once: every host compiles the component when it starts.
    #[cold]
    #[inline(never)]
    fn new(kind: Kind, field: &'static str, value: &dyn fmt::Display, allowed: &dyn fmt::Display) -> Self {
        Self { kind, field, value: value.to_string(), allowed: allowed.to_string() }
    }

    pub(crate) fn out_of_range(field: &'static str, value: impl fmt::Display, allowed: impl fmt::Display) -> Self {
        Self::new(Kind::OutOfRange, field, &value, &allowed)
    }

    pub(crate) fn unknown_name(field: &'static str, name: &str, known: impl fmt::Display) -> Self {
        Self::new(Kind::UnknownName, field, &shorten(name), &known)
    }

    pub(crate) fn wrong_type(field: &'static str, value: &str, allowed: impl fmt::Display) -> Self {
        Self::new(Kind::WrongType, field, &shorten(value), &allowed)
    }

    pub(crate) fn missing(field: &'static str, allowed: impl fmt::Display) -> Self {
        Self::new(Kind::Missing, field, &"", &allowed)
    }

    pub(crate) fn contradiction(field: &'static str, value: impl fmt::Display, allowed: impl fmt::Display) -> Self {
        Self::new(Kind::Contradiction, field, &value, &allowed)
    }

    pub(crate) fn out_of_memory(field: &'static str, value: impl fmt::Display, allowed: impl fmt::Display) -> Self {
        Self::new(Kind::OutOfMemory, field, &value, &allowed)
    }
}

/// A text comes from outside and may be of any length; what is shown of it may not.
pub(crate) fn shorten(text: &str) -> String {
    text.chars().take(64).collect()
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, field, value, allowed } = self;
        match kind {
            Kind::Missing => write!(f, "{field} is missing; needed: {allowed}"),
            Kind::OutOfRange | Kind::WrongType | Kind::Contradiction => {
                write!(f, "{field} is {value}; allowed: {allowed}")
            }
            Kind::UnknownName => write!(f, "{field} is \"{value}\"; known: {allowed}"),
            Kind::OutOfMemory => write!(f, "no memory for {field} = {value}; allowed: {allowed}"),
        }
    }
}

impl core::error::Error for Failure {}
