//! The description of one member of a document: its name, its type and range, where it belongs, and its default. Each
//! member is described once; one reader checks all of them.

use alloc::format;
use alloc::string::String;

use crate::base::failure::{Allowed, known, range};
use crate::base::{Failure, MAX_EXACT};

/// A member that an object may have.
#[derive(Clone, Copy)]
pub(crate) struct Member {
    /// Its name in the document.
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// When the member may be given; otherwise it is refused.
    pub(crate) place: Place,
    pub(crate) default: Default,
    /// A description of the member, for people. The component does not contain it.
    #[cfg(feature = "texts")]
    pub(crate) text: &'static str,
}

/// The type of a member, and its range.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// A whole number that is not negative. If `most` is 2^64 - 1, numbers beyond 2^53 - 1 stand in quotes.
    Natural {
        least: u64,
        most: u64,
    },
    /// A whole number of 64 bits, of either sign.
    Integer,
    /// A text of `least` to `most` bytes.
    Text {
        least: usize,
        most: usize,
    },
    /// One of these names. By default, the first one.
    Name(&'static [&'static str]),
    /// `true` or `false`.
    Flag,
    /// A list of whole numbers, or its hash. If `beside`, the list of a member of a section may come beside the
    /// document.
    Numbers {
        most: u64,
        beside: bool,
    },
    /// Lengths of samples, a list of 32-bit numbers, or its hash. The list comes beside the document by calls of its
    /// own, and the stage `batch` checks it.
    Lengths,
    /// A number from 0 to 2^53 - 1, which may have a fraction or an exponent. The weights of all objects of a list are
    /// converted to whole numbers together.
    Weight,
    /// A list of numbers as of `Weight`, which are converted to whole numbers together.
    Weights,
    Section(&'static [Member]),
    /// A list of at most `most` objects.
    Objects {
        of: &'static [Member],
        most: usize,
    },
    /// A member that belongs to another kind of documents, and is refused here. The text is what a failure says is
    /// allowed.
    Elsewhere(&'static str),
}

/// When a member may be given: a list of alternatives. An alternative holds if all its `Need`s hold. An empty list:
/// always.
pub(crate) type Place = &'static [&'static [Need]];

/// A condition on the name that another member of the same object has: it is one of `names`, or, without `is_one`, none
/// of them.
#[derive(Clone, Copy)]
pub(crate) struct Need {
    pub(crate) member: &'static str,
    pub(crate) names: &'static [&'static str],
    pub(crate) is_one: bool,
}

/// The value of a member that was not given.
#[derive(Clone, Copy)]
pub(crate) enum Default {
    /// No default here. The module that uses the member, such as `batch`, may compute one.
    None,
    /// The member is required where it may be given. The text says what is missing.
    Required(&'static str),
    Number(u64),
    Flag(bool),
    /// An object without members.
    Empty,
}

/// A `Place`: alternatives, each a list of `Need`s that must all hold.
macro_rules! place {
    ($([$($need:expr),*]),*) => {
        const { &[$(&[$($need),*]),*] }
    };
}
pub(crate) use place;

/// The description of a member. Only generators need it, so other builds leave it out.
macro_rules! text {
    ($text:literal) => {
        if cfg!(feature = "texts") { $text } else { "" }
    };
}
pub(crate) use text;

/// The names of a table of names and values.
pub(crate) const fn names<T: Copy, const N: usize>(known: &[(&'static str, T); N]) -> [&'static str; N] {
    let (mut names, mut at) = ([""; N], 0);
    while at < N {
        names[at] = known[at].0;
        at += 1;
    }
    names
}

/// The need that a member has one of these names.
pub(crate) const fn is(member: &'static str, names: &'static [&'static str]) -> Need {
    Need { member, names, is_one: true }
}

/// The need that a member has none of these names.
pub(crate) const fn is_not(member: &'static str, names: &'static [&'static str]) -> Need {
    Need { member, names, is_one: false }
}

impl Failure {
    /// This failure with `path`, the path of an object with the members `members`, before its own path. A failure
    /// without a path gets one only if its field is one of `members`, or if it is of the kind `UnknownMember`.
    pub(crate) fn under(self, path: &str, members: &[Member]) -> Self {
        let is_member = members.iter().any(|member| member.name == self.field);
        self.below(path, is_member)
    }
}

impl Member {
    pub(crate) const fn new(name: &'static str, kind: Kind) -> Self {
        Self {
            name,
            kind,
            place: &[],
            default: Default::None,
            #[cfg(feature = "texts")]
            text: "",
        }
    }

    pub(crate) const fn of(self, kind: Kind) -> Self {
        Self { kind, ..self }
    }

    pub(crate) const fn with(self, place: Place) -> Self {
        Self { place, ..self }
    }

    /// Makes the member required; failures describe it by `what`.
    pub(crate) const fn required(self, what: &'static str) -> Self {
        self.or(Default::Required(what))
    }

    pub(crate) const fn or(self, default: Default) -> Self {
        Self { default, ..self }
    }

    pub(crate) const fn or_number(self, number: u64) -> Self {
        self.or(Default::Number(number))
    }

    /// This member, as one that belongs to another kind of documents and is refused here.
    pub(crate) const fn elsewhere(self, allowed: &'static str) -> Self {
        Self { kind: Kind::Elsewhere(allowed), default: Default::None, ..self }
    }

    #[cfg(feature = "texts")]
    pub(crate) const fn text(self, text: &'static str) -> Self {
        Self { text, ..self }
    }

    #[cfg(not(feature = "texts"))]
    pub(crate) const fn text(self, _: &'static str) -> Self {
        self
    }
}

/// A table of the members `own`, and of `others`, which belong to another kind of documents and are refused here.
pub(crate) const fn with_elsewhere<const OWN: usize, const ALL: usize>(
    own: [Member; OWN],
    others: &[Member],
    allowed: &'static str,
) -> [Member; ALL] {
    let (mut all, mut at) = ([own[0]; ALL], 0);
    while at < ALL {
        all[at] = if at < OWN { own[at] } else { others[at - OWN].elsewhere(allowed) };
        at += 1;
    }
    all
}

impl Kind {
    /// A number up to 2^53 - 1.
    pub(crate) const COUNT: Self = Self::up_to(MAX_EXACT);
    /// A number from 1 to 2^53 - 1.
    pub(crate) const POSITIVE: Self = Self::Natural { least: 1, most: MAX_EXACT };
    /// A number of 32 bits.
    pub(crate) const SHORT: Self = Self::up_to(u32::MAX as u64);
    /// A number of 32 bits from 1 on.
    pub(crate) const SHORT_POSITIVE: Self = Self::from_one(u32::MAX);
    /// A number of 64 bits.
    pub(crate) const LONG: Self = Self::up_to(u64::MAX);
    pub(crate) const TEXT: Self = Self::Text { least: 0, most: usize::MAX };
    pub(crate) const NUMBERS: Self = Self::Numbers { most: u64::MAX, beside: true };
    /// A list of numbers of 32 bits.
    pub(crate) const SHORT_NUMBERS: Self = Self::Numbers { most: u32::MAX as u64, beside: true };

    pub(crate) const fn up_to(most: u64) -> Self {
        Self::Natural { least: 0, most }
    }

    pub(crate) const fn from_one(most: u32) -> Self {
        Self::Natural { least: 1, most: most as u64 }
    }

    pub(crate) const fn objects(of: &'static [Member]) -> Self {
        Self::Objects { of, most: usize::MAX }
    }

    /// Whether the kind allows numbers beyond 2^53 - 1.
    pub(super) fn is_wide(&self) -> bool {
        matches!(self, Self::Integer | Self::Natural { most: u64::MAX, .. })
    }

    /// The range of the whole numbers of the kind, if they are not negative.
    pub(super) fn ends(&self) -> Option<(u64, u64)> {
        match self {
            Self::Natural { least, most } => Some((*least, *most)),
            Self::Weight => Some((0, MAX_EXACT)),
            _ => None,
        }
    }

    pub(super) fn allowed(&self) -> Allowed {
        match self {
            Self::Natural { least, most } => range(*least, *most),
            Self::Weight => range(0, MAX_EXACT),
            Self::Weights => "a list of numbers".into(),
            Self::Integer => range(i64::MIN, i64::MAX),
            Self::Text { .. } => "a text".into(),
            Self::Name(names) => known(names.iter().copied()),
            Self::Flag => "true or false".into(),
            Self::Numbers { .. } | Self::Lengths => {
                "a list of whole numbers, or the 64 hexadecimal digits of their hash".into()
            }
            Self::Section(_) => "an object".into(),
            Self::Objects { .. } => "a list of objects".into(),
            Self::Elsewhere(allowed) => (*allowed).into(),
        }
    }
}

/// The words of a `Place`, for a failure.
#[cold]
#[inline(never)]
pub(super) fn words(place: Place) -> String {
    let need = |need: &Need| {
        let but = if need.is_one { "" } else { "other than " };
        format!(
            "{} {but}{}",
            decider(need.member),
            joined(&mut need.names.iter().map(|&name| name.into()), ", ", " or ")
        )
    };
    let all = |all: &&[Need]| joined(&mut all.iter().map(need), " and ", " and ");
    joined(&mut place.iter().map(all), "; or ", "; or ")
}

/// The word for a member that a `Need` is about: `name` is the name of an order, so its word is `order`.
pub(super) fn decider(member: &str) -> &str {
    if member == "name" { "order" } else { member }
}

/// Words joined by `between`, and by `last` before the last word.
#[cold]
#[inline(never)]
pub(crate) fn joined(words: &mut dyn Iterator<Item = String>, between: &str, last: &str) -> String {
    let mut words = words.peekable();
    let mut text = String::new();
    while let Some(word) = words.next() {
        if !text.is_empty() {
            text += if words.peek().is_some() { between } else { last };
        }
        text += &word;
    }
    text
}
