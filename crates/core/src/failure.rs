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
}

impl Kind {
    /// The name of the kind in the WIT interface.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OutOfRange => "out-of-range",
            Self::UnknownName => "unknown-name",
            Self::OutOfMemory => "out-of-memory",
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
    /// Its value, in decimal, or the name that was given (cut after 64 characters).
    pub value: String,
    /// What is allowed in its place, for people.
    pub allowed: String,
}

impl Failure {
    pub(crate) fn out_of_range(field: &'static str, value: impl fmt::Display, allowed: impl fmt::Display) -> Self {
        Self { kind: Kind::OutOfRange, field, value: value.to_string(), allowed: allowed.to_string() }
    }

    pub(crate) fn unknown_name(field: &'static str, name: &str, known: impl fmt::Display) -> Self {
        // A name comes from outside and may be of any length; what is shown of it may not.
        let value = name.chars().take(64).collect();
        Self { kind: Kind::UnknownName, field, value, allowed: known.to_string() }
    }

    pub(crate) fn out_of_memory(field: &'static str, value: impl fmt::Display, allowed: impl fmt::Display) -> Self {
        Self { kind: Kind::OutOfMemory, field, value: value.to_string(), allowed: allowed.to_string() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, field, value, allowed } = self;
        match kind {
            Kind::OutOfRange => write!(f, "{field} is {value}; allowed: {allowed}"),
            Kind::UnknownName => write!(f, "{field} is \"{value}\"; known: {allowed}"),
            Kind::OutOfMemory => write!(f, "no memory for {field} = {value}; allowed: {allowed}"),
        }
    }
}

impl core::error::Error for Failure {}
