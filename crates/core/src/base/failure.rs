use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use alloc::{format, vec};
use core::fmt::{self, Display};
use core::ops::Deref;

/// The kinds of failures. Programs branch on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A number is outside its range.
    OutOfRange,
    /// A name is not one of those that this version knows.
    UnknownName,
    /// An object of a document has a member that this version does not know.
    UnknownMember,
    /// There is not enough memory for a call: for its result, or for what the call builds on the way.
    OutOfMemory,
    /// A value is not of the type that is needed, such as an environment variable that holds no number.
    WrongType,
    /// A required value is missing.
    Missing,
    /// Values that are each allowed do not fit together.
    Contradiction,
    /// The call needs values that the caller has not given yet. The caller gives them, and calls again.
    Wanted,
    /// A kind for tests alone. It stands for a kind that a later version may add.
    #[cfg(feature = "grown")]
    TooLate,
}

/// One fact about the allowed values, for programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// The name of the fact in the WIT interface.
    pub name: &'static str,
    /// The value of the fact: a number in decimal, or a name.
    pub value: String,
}

/// The numbers or names that are allowed in the place of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Limits {
    /// No limits: only words say what is allowed.
    None,
    Range(i64, u64),
    Least(u64),
    Most(u64),
    Known(Vec<&'static str>),
    Needs(String),
}

impl Limits {
    fn facts(&self) -> Vec<Fact> {
        let fact = |name, value: &dyn Display| Fact { name, value: value.to_string() };
        match self {
            Self::None => Vec::new(),
            Self::Range(least, most) => vec![fact("min", least), fact("max", most)],
            Self::Least(least) => vec![fact("min", least)],
            Self::Most(most) => vec![fact("max", most)],
            Self::Known(names) => names.iter().map(|name| fact("known", name)).collect(),
            Self::Needs(value) => vec![fact("needs", value)],
        }
    }
}

/// Limits as words, for people.
impl Display for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => Ok(()),
            Self::Range(least, most) => write!(f, "{least} to {most}"),
            Self::Least(least) => write!(f, "{least} or more"),
            Self::Most(most) => write!(f, "up to {most}"),
            Self::Known(names) => f.write_str(&names.join(", ")),
            Self::Needs(value) => f.write_str(value),
        }
    }
}

/// The allowed values in the place of a wrong value: limits and the words after them, or words alone.
pub(crate) struct Allowed {
    limits: Limits,
    words: Cow<'static, str>,
}

impl Allowed {
    const fn of(limits: Limits) -> Self {
        Self { limits, words: Cow::Borrowed("") }
    }

    /// Sets the words that follow the limits.
    pub(crate) fn and(self, words: impl Display) -> Self {
        Self { words: Cow::Owned(text(&words)), ..self }
    }

    /// The limits as words, with `words` before them. Programs then get no facts.
    pub(crate) fn after(self, words: &str) -> Self {
        format!("{words}{}{}", self.limits, self.words).into()
    }
}

/// Allowed are the numbers from `least` to `most`.
pub(crate) fn range(least: impl Number, most: impl Number) -> Allowed {
    Allowed::of(Limits::Range(least.wide() as i64, most.wide()))
}

/// Allowed are the numbers from `least` upwards.
pub(crate) fn at_least(least: impl Number) -> Allowed {
    Allowed::of(Limits::Least(least.wide()))
}

/// Allowed are the numbers up to `most`.
pub(crate) fn at_most(most: impl Number) -> Allowed {
    Allowed::of(Limits::Most(most.wide()))
}

/// Allowed is this value alone.
pub(crate) fn only(value: impl Display) -> Allowed {
    Allowed::of(Limits::Needs(text(&value)))
}

/// Allowed is one of these names.
pub(crate) fn known(names: impl IntoIterator<Item = &'static str>) -> Allowed {
    Allowed::of(Limits::Known(names.into_iter().collect()))
}

impl From<&'static str> for Allowed {
    fn from(words: &'static str) -> Self {
        Self { limits: Limits::None, words: Cow::Borrowed(words) }
    }
}

impl From<String> for Allowed {
    fn from(words: String) -> Self {
        Self { limits: Limits::None, words: Cow::Owned(words) }
    }
}

/// The integer types that a limit may have. Each limit is widened to `u64` first, so that the functions for limits have
/// code for one type only. This keeps the component small: every host compiles the component when it starts.
pub(crate) trait Number: Copy {
    /// The number as `u64`, with 2^64 added to a negative one.
    fn wide(self) -> u64;
}

macro_rules! number {
    ($($type:ty)*) => {
        $(impl Number for $type {
            fn wide(self) -> u64 {
                self as u64
            }
        })*
    };
}
number!(i32 u32 i64 u64 usize);

#[cold]
#[inline(never)]
fn text(value: &dyn Display) -> String {
    value.to_string()
}

impl Kind {
    /// The name of the kind in the WIT interface.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OutOfRange => "out-of-range",
            Self::UnknownName => "unknown-name",
            Self::UnknownMember => "unknown-member",
            Self::OutOfMemory => "out-of-memory",
            Self::WrongType => "wrong-type",
            Self::Missing => "missing",
            Self::Contradiction => "contradiction",
            Self::Wanted => "wanted",
            #[cfg(feature = "grown")]
            Self::TooLate => "too-late",
        }
    }
}

/// The only error type of this crate: the value at fault, and the allowed values. It is a single pointer, because
/// nearly all functions return it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure(Box<Parts>);

/// The parts of a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    /// The kind of the failure, by which programs branch.
    pub kind: Kind,
    /// The parameter or the member of a document at fault, by its name in documents.
    pub field: &'static str,
    /// The path of the member in its document, with the name of the member at its end (for an unknown member: the path
    /// of its object); empty if `field` alone is the path. `[]` without an index stands for all objects of a list.
    path: String,
    /// The value at fault: a number in decimal, a name (cut after 64 characters), or values that contradict each other.
    pub value: String,
    /// The allowed values, for people.
    pub allowed: String,
    /// The allowed values, for programs, as far as they are numbers or names.
    limits: Limits,
}

impl Parts {
    /// The path of the value at fault in its document, such as `order.sources[0].weight`. For a parameter, its name.
    pub fn path(&self) -> &str {
        if self.path.is_empty() { self.field } else { &self.path }
    }

    /// The allowed values, for programs: a range, or names.
    pub fn facts(&self) -> Vec<Fact> {
        self.limits.facts()
    }
}

impl Deref for Failure {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

impl Failure {
    /// Makes every failure. It is not generic and not inlined, so that its code exists once: every host compiles the
    /// component when it starts.
    #[cold]
    #[inline(never)]
    fn new(kind: Kind, field: &'static str, value: &dyn Display, Allowed { limits, words }: Allowed) -> Self {
        Self(Box::new(Parts {
            kind,
            field,
            path: String::new(),
            value: value.to_string(),
            allowed: format!("{limits}{words}"),
            limits,
        }))
    }

    /// The parts of this failure, moved out of it.
    pub fn into_parts(self) -> Parts {
        *self.0
    }

    /// This failure with another field, and without a path.
    pub(crate) fn of(mut self, field: &'static str) -> Self {
        self.0.field = field;
        self.0.path.clear();
        self
    }

    /// This failure with `path`, the path of an object, before its own path or field. A failure without a path of its
    /// own stays as it is if its field is no member of this object (`is_member` is false). But a failure of the kind
    /// `UnknownMember` always gets a path, which is the path of the object alone.
    #[cold]
    #[inline(never)]
    pub(crate) fn below(mut self, path: &str, is_member: bool) -> Self {
        let parts = &mut *self.0;
        parts.path = match (&*parts.path, parts.kind) {
            ("", Kind::UnknownMember) => path.into(),
            ("", _) if !is_member => return self,
            ("", _) => format!("{path}.{}", parts.field),
            (own, _) => format!("{path}.{own}"),
        };
        self
    }

    /// This failure with the path of an object of a list before its own.
    #[cold]
    #[inline(never)]
    pub(crate) fn in_element(self, list: &str, index: usize) -> Self {
        self.below(&element(list, index), true)
    }

    /// Whether this failure has a path, and not only a field.
    pub(crate) fn has_path(&self) -> bool {
        !self.path.is_empty()
    }

    /// This failure with the path of the member at fault.
    pub(crate) fn at(mut self, path: impl Into<String>) -> Self {
        self.0.path = path.into();
        self
    }

    /// This failure with a changed value, cut after 64 characters.
    pub(crate) fn with_value(mut self, change: impl FnOnce(&str) -> String) -> Self {
        self.0.value = shorten(&change(&self.0.value));
        self
    }

    /// This failure with more words after the allowed values.
    pub(crate) fn and(mut self, words: &str) -> Self {
        self.0.allowed += words;
        self
    }

    /// This failure with the index of an element of a list added to its value.
    pub(crate) fn at_index(self, index: usize) -> Self {
        self.with_value(|value| format!("{value} (at index {index})"))
    }

    /// This failure, with a range that begins with 1 in place of 0.
    pub(crate) fn starting_at_one(mut self) -> Self {
        let parts = &mut *self.0;
        let words = parts.allowed.split_off(parts.limits.to_string().len());
        if let Limits::Range(least, _) = &mut parts.limits {
            *least = 1;
        }
        parts.allowed = format!("{}{words}", parts.limits);
        self
    }

    pub(crate) fn out_of_range(field: &'static str, value: impl Display, allowed: impl Into<Allowed>) -> Self {
        Self::new(Kind::OutOfRange, field, &value, allowed.into())
    }

    pub(crate) fn unknown_name(field: &'static str, name: &str, known: impl Into<Allowed>) -> Self {
        let (name, mut known) = (shorten(name), known.into());
        if let Limits::Known(names) = &mut known.limits {
            closest_first(&name, names);
        }
        Self::new(Kind::UnknownName, field, &name, known)
    }

    pub(crate) fn unknown_member(section: &'static str, name: &str, known: impl Into<Allowed>) -> Self {
        let failure = Self::unknown_name(section, name, known);
        Self(Box::new(Parts { kind: Kind::UnknownMember, ..failure.into_parts() }))
    }

    pub(crate) fn wrong_type(field: &'static str, value: &str, allowed: impl Into<Allowed>) -> Self {
        Self::new(Kind::WrongType, field, &shorten(value), allowed.into())
    }

    #[cfg(feature = "grown")]
    pub(crate) fn too_late(field: &'static str, value: impl Display, allowed: impl Into<Allowed>) -> Self {
        Self::new(Kind::TooLate, field, &value, allowed.into())
    }

    pub(crate) fn missing(field: &'static str, allowed: impl Into<Allowed>) -> Self {
        Self::new(Kind::Missing, field, &"", allowed.into())
    }

    pub(crate) fn wanted(field: &'static str, value: impl Display) -> Self {
        Self::new(Kind::Wanted, field, &value, "given first, and then asked again".into())
    }

    pub(crate) fn contradiction(field: &'static str, value: impl Display, allowed: impl Into<Allowed>) -> Self {
        Self::new(Kind::Contradiction, field, &value, allowed.into())
    }

    pub(crate) fn out_of_memory(field: &'static str, value: impl Display, allowed: impl Into<Allowed>) -> Self {
        Self::new(Kind::OutOfMemory, field, &value, allowed.into())
    }
}

/// The path of an object in a list.
pub(crate) fn element(list: &str, index: usize) -> String {
    format!("{list}[{index}]")
}

/// The first 64 characters of a text, for a failure: a text of a caller may have any length.
pub(crate) fn shorten(text: &str) -> String {
    text.chars().take(64).collect()
}

/// Moves the known name that was probably meant to the front: the one with the least `distance` from `name`, if this
/// distance is at most two fifths of the length of the known name.
#[cold]
#[inline(never)]
fn closest_first(name: &str, names: &mut [&'static str]) {
    let distances = names.iter().enumerate().map(|(at, known)| (distance(name, known), at));
    if let Some((least, at)) = distances.min()
        && least * 5 <= names[at].len() * 2
    {
        names[..=at].rotate_right(1);
    }
}

/// The edit distance of two names: how many letters to change, leave out or insert. Capitals equal small letters.
fn distance(one: &str, other: &str) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, letter) in one.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = at + 1;
        for (column, known) in other.bytes().enumerate() {
            let changed = diagonal + usize::from(!letter.eq_ignore_ascii_case(&known));
            diagonal = row[column + 1];
            row[column + 1] = changed.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

impl Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Parts { kind, value, allowed, .. } = &**self;
        let field = self.path();
        match kind {
            Kind::Missing => write!(f, "{field} is missing; needed: {allowed}"),
            Kind::Wanted => write!(f, "{field} ({value}) are wanted: {allowed}"),
            Kind::OutOfRange | Kind::WrongType | Kind::Contradiction => {
                write!(f, "{field} is {value}; allowed: {allowed}")
            }
            #[cfg(feature = "grown")]
            Kind::TooLate => write!(f, "{field} is {value}, which is too late; allowed: {allowed}"),
            Kind::UnknownName => write!(f, "{field} is \"{value}\"; known: {allowed}"),
            Kind::UnknownMember => write!(f, "{field} has no member \"{value}\"; known: {allowed}"),
            Kind::OutOfMemory => write!(f, "no memory for {field} = {value}; allowed: {allowed}"),
        }
    }
}

impl core::error::Error for Failure {}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(allowed: impl Into<Allowed>) -> (String, Vec<(&'static str, String)>) {
        let failure = Failure::out_of_range("count", 7, allowed);
        let facts = failure.facts().into_iter().map(|fact| (fact.name, fact.value)).collect();
        (failure.into_parts().allowed, facts)
    }

    fn facts(facts: &[(&'static str, &str)]) -> Vec<(&'static str, String)> {
        facts.iter().map(|&(name, value)| (name, value.to_string())).collect()
    }

    #[test]
    fn people_and_programs_are_told_the_same() {
        assert_eq!(told(range(1, u64::MAX)).0, "1 to 18446744073709551615");
        assert_eq!(told(range(1, u64::MAX)).1, facts(&[("min", "1"), ("max", "18446744073709551615")]));
        assert_eq!(told(range(i32::MIN, 4_u32).and(" here")).0, "-2147483648 to 4 here");
        assert_eq!(told(range(i32::MIN, 4_u32)).1, facts(&[("min", "-2147483648"), ("max", "4")]));
        assert_eq!(told(at_least(3)), ("3 or more".into(), facts(&[("min", "3")])));
        assert_eq!(told(at_most(3).and(" at once")), ("up to 3 at once".into(), facts(&[("max", "3")])));
        assert_eq!(told(only("b").and(", not a")), ("b, not a".into(), facts(&[("needs", "b")])));
        assert_eq!(told(known(["a", "b"])), ("a, b".into(), facts(&[("known", "a"), ("known", "b")])));
        assert_eq!(told("each name once"), ("each name once".into(), facts(&[])));
    }

    #[test]
    fn the_name_that_was_probably_meant_comes_first() {
        let names = ["feistel", "fisher-yates", "torch", "torch-2.5"];
        let first = |name| Failure::unknown_name("name", name, known(names)).into_parts().allowed;
        assert_eq!(first("fisher-yate"), "fisher-yates, feistel, torch, torch-2.5");
        assert_eq!(first("TORCH"), "torch, feistel, fisher-yates, torch-2.5");
        assert_eq!(first("torsch-2.5"), "torch-2.5, feistel, fisher-yates, torch");
        for other in ["", "random", "fei", &"feistel".repeat(20)] {
            assert_eq!(first(other), "feistel, fisher-yates, torch, torch-2.5");
        }
        let failure = Failure::unknown_name("name", "torhc", known(names));
        assert_eq!(failure.facts()[0], Fact { name: "known", value: "torch".into() });
        let member = Failure::unknown_member("deal", "wrld", known(["world_size"]));
        assert_eq!(member.to_string(), "deal has no member \"wrld\"; known: world_size");
    }

    #[test]
    fn a_range_from_one_on_is_so_for_programs_too() {
        let failure =
            Failure::out_of_range("samples", 9, range(0, 8).and(" with the order")).starting_at_one().of("chunks");
        assert_eq!(failure.to_string(), "chunks is 9; allowed: 1 to 8 with the order");
        assert_eq!(failure.facts()[0], Fact { name: "min", value: "1".into() });
    }
}
