//! The description of one member of a document: its name, its type and range, where it belongs, and its default. Each member is described once; one reader checks all of them.

use alloc::format;
use alloc::string::String;

use crate::base::failure::{Allowed, known, range};
use crate::{Failure, MAX_EXACT};

/// A member that an object may have.
#[derive(Clone, Copy)]
pub(crate) struct Member {
    /// Its name in the document.
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// Where it belongs; elsewhere it is refused.
    pub(crate) place: Place,
    pub(crate) default: Default,
    /// Its text, for people. No component carries it.
    #[cfg(feature = "texts")]
    pub(crate) text: &'static str,
}

/// The type of a member, and its range.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// A whole number that is not negative. Up to 2^64 - 1, numbers beyond 2^53 - 1 stand in quotes.
    Natural {
        least: u64,
        most: u64,
    },
    /// A whole number of 64 bits, of either sign.
    Integer,
    /// A text of so many bytes.
    Text {
        least: usize,
        most: usize,
    },
    /// One of these names. Without it, the first one.
    Name(&'static [&'static str]),
    /// `true` or `false`.
    Flag,
    /// Whole numbers, or a hash of them. They may come beside the document, if the members of sections have them.
    Numbers {
        most: u64,
        beside: bool,
    },
    /// Whole numbers of 32 bits, or a hash of them, which come beside the document in a way of their own: their stage checks them.
    Lengths,
    Section(&'static [Member]),
    /// So many objects.
    Objects {
        of: &'static [Member],
        most: usize,
    },
    /// A member of documents of another kind; with the text of what is allowed here.
    Elsewhere(&'static str),
}

/// When a member may be given: a list of alternatives. An alternative holds if all its `Need`s hold. An empty list: always.
pub(crate) type Place = &'static [&'static [Need]];

/// A member of the same object that has one of these values, or none of them.
#[derive(Clone, Copy)]
pub(crate) struct Need {
    pub(crate) member: &'static str,
    pub(crate) names: &'static [&'static str],
    pub(crate) is_one: bool,
}

/// The value of a member that was not given.
#[derive(Clone, Copy)]
pub(crate) enum Default {
    /// Nothing, or what its stage finds.
    None,
    /// It has to be there, where it belongs; with what it is.
    Required(&'static str),
    Number(u64),
    Flag(bool),
    /// An object without members.
    Empty,
}

/// Where a member belongs: any of these lists is enough, each of which needs all of its own.
macro_rules! place {
    ($([$($need:expr),*]),*) => {
        const { &[$(&[$($need),*]),*] }
    };
}
pub(crate) use place;

/// The text of a member, which only generators need.
macro_rules! text {
    ($text:literal) => {
        if cfg!(feature = "texts") { $text } else { "" }
    };
}
pub(crate) use text;

/// The names of what has names.
pub(crate) const fn names<T: Copy, const N: usize>(known: &[(&'static str, T); N]) -> [&'static str; N] {
    let (mut names, mut at) = ([""; N], 0);
    while at < N {
        names[at] = known[at].0;
        at += 1;
    }
    names
}

/// A member that has one of these names.
pub(crate) const fn is(member: &'static str, names: &'static [&'static str]) -> Need {
    Need { member, names, is_one: true }
}

/// A member that has none of these names.
pub(crate) const fn is_not(member: &'static str, names: &'static [&'static str]) -> Need {
    Need { member, names, is_one: false }
}

impl Failure {
    /// This failure, of a member that lies in an object with this path, whose members these are. A failure of anything else stays what it is.
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

    /// It has to be there; `what` says what it is.
    pub(crate) const fn required(self, what: &'static str) -> Self {
        self.or(Default::Required(what))
    }

    pub(crate) const fn or(self, default: Default) -> Self {
        Self { default, ..self }
    }

    pub(crate) const fn or_number(self, number: u64) -> Self {
        self.or(Default::Number(number))
    }

    /// It is of another kind of documents.
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

/// A table with more members, all of them of another kind of documents.
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
    /// Up to 2^53 - 1.
    pub(crate) const COUNT: Self = Self::up_to(MAX_EXACT);
    /// 1 to 2^53 - 1.
    pub(crate) const POSITIVE: Self = Self::Natural { least: 1, most: MAX_EXACT };
    /// Of 32 bits.
    pub(crate) const SHORT: Self = Self::up_to(u32::MAX as u64);
    /// A number of 32 bits from 1 on.
    pub(crate) const SHORT_POSITIVE: Self = Self::from_one(u32::MAX);
    /// Of 64 bits.
    pub(crate) const LONG: Self = Self::up_to(u64::MAX);
    pub(crate) const TEXT: Self = Self::Text { least: 0, most: usize::MAX };
    pub(crate) const NUMBERS: Self = Self::Numbers { most: u64::MAX, beside: true };
    /// Numbers of 32 bits.
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

    /// Whether numbers beyond 2^53 - 1 are of it.
    pub(super) fn is_wide(&self) -> bool {
        matches!(self, Self::Integer | Self::Natural { most: u64::MAX, .. })
    }

    pub(super) fn allowed(&self) -> Allowed {
        match self {
            Self::Natural { least, most } => range(*least, *most),
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

/// Where a member belongs, in words.
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

/// The member that decides whether another one belongs, in words: `name` is that of the order.
pub(super) fn decider(member: &str) -> &str {
    if member == "name" { "order" } else { member }
}

/// Words in one text, with another text before the last one.
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
