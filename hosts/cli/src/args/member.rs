//! Options that are members of recipes. The core describes the members, and the build makes tables of them.

use std::marker::PhantomData;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};
use serde_json::{Map, Value};

use crate::args::values::digits;
use crate::read::numbers::{whole, written};

/// A member of a section of a recipe.
pub struct Member {
    pub name: &'static str,
    /// The option, without dashes before it.
    pub option: &'static str,
    pub kind: Kind,
    pub help: &'static str,
}

/// The type of an option. Ranges are checked by the core; here, only whether a number fits into its bits.
pub enum Kind {
    /// A whole number of 32 bits, and its range in words.
    Short(&'static str),
    /// A whole number of 64 bits, and its range in words.
    Long(&'static str),
    /// A whole number of 64 bits, and its range in words. The option may be repeated.
    Longs(&'static str),
    Integer,
    /// An option without a value: it sets the member to this value.
    Flag(bool),
    /// One of these names, each with its help.
    Name(&'static [(&'static str, &'static str)]),
    Text,
    /// Whole numbers with commas between.
    Numbers,
}

/// A section of a recipe: the members that have options.
pub trait Section: 'static {
    /// The option that all options of the section require, if there is one.
    const REQUIRES: Option<&'static str>;
    const MEMBERS: &'static [Member];
}

/// The options that were given, as members of a section.
pub struct Given<S> {
    members: Map<String, Value>,
    /// All values of each repeated option, by its member. `members` has the first value.
    repeated: Vec<(&'static str, Vec<u64>)>,
    section: PhantomData<S>,
}

impl<S: Section> Given<S> {
    pub const fn members(&self) -> &Map<String, Value> {
        &self.members
    }

    /// The given options: the name without the `--` before it, the member, and the value.
    pub fn options(&self) -> impl Iterator<Item = (&'static str, &'static str, &Value)> {
        let given = |member: &'static Member| Some((member.option, member.name, self.members.get(member.name)?));
        S::MEMBERS.iter().filter_map(given)
    }

    pub fn natural(&self, name: &str) -> Option<u64> {
        self.members.get(name).and_then(whole)
    }

    /// A member as a number of 32 bits; `None` if it is not there or does not fit.
    pub fn short(&self, name: &str) -> Option<u32> {
        self.natural(name).and_then(|number| u32::try_from(number).ok())
    }

    /// All values of a repeated option; empty if the option is not repeated.
    pub fn repeated(&self, name: &str) -> &[u64] {
        self.repeated.iter().find(|(own, _)| *own == name).map_or(&[], |(_, values)| values)
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        self.members.get(name).and_then(Value::as_str)
    }

    pub fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.members.insert(name.to_owned(), value.into());
    }

    /// Replaces the given options by the members of a section of a recipe.
    pub fn replace(&mut self, section: &Value) {
        let own = |name: &str| Some((name.to_owned(), section.get(name)?.clone()));
        self.members = S::MEMBERS.iter().filter_map(|member| own(member.name)).collect();
    }
}

impl Member {
    fn arg(&self) -> Arg {
        let arg = Arg::new(self.option).long(self.option).help(self.help);
        match self.kind {
            Kind::Short(range) | Kind::Long(range) | Kind::Longs(range) => {
                let most = if matches!(self.kind, Kind::Short(_)) { u32::MAX.into() } else { u64::MAX };
                let is_repeated = matches!(self.kind, Kind::Longs(_));
                let arg = arg.value_name("N").value_parser(move |text: &str| natural(text, most, range));
                arg.action(if is_repeated { ArgAction::Append } else { ArgAction::Set })
            }
            Kind::Integer => arg.value_name("N").value_parser(integer),
            Kind::Flag(_) => arg.action(ArgAction::SetTrue),
            Kind::Name(names) => {
                let values = names.iter().map(|&(name, meaning)| PossibleValue::new(name).help(meaning));
                arg.value_name("NAME").value_parser(PossibleValuesParser::new(values))
            }
            Kind::Text => arg.value_name("NAME"),
            Kind::Numbers => {
                let number = |text: &str| natural(text, u64::MAX, "whole numbers with commas between");
                arg.value_name("N,N,...").value_delimiter(',').value_parser(number)
            }
        }
    }

    /// The first value that was given.
    fn value(&self, matches: &ArgMatches) -> Option<Value> {
        match self.kind {
            Kind::Short(_) | Kind::Long(_) | Kind::Longs(_) => {
                matches.get_one::<u64>(self.option).copied().map(written)
            }
            Kind::Integer => matches.get_one::<i64>(self.option).copied().map(written),
            Kind::Flag(value) => matches.get_flag(self.option).then_some(value.into()),
            Kind::Name(_) | Kind::Text => matches.get_one::<String>(self.option).cloned().map(Value::String),
            Kind::Numbers => Some(matches.get_many::<u64>(self.option)?.copied().collect()),
        }
    }

    /// All values of an option that may be repeated.
    fn all(&self, matches: &ArgMatches) -> Option<Vec<u64>> {
        let is_repeated = matches!(self.kind, Kind::Longs(_));
        is_repeated.then(|| matches.get_many::<u64>(self.option)).flatten().map(|values| values.copied().collect())
    }
}

fn natural(text: &str, most: u64, range: &str) -> Result<u64, String> {
    let number = digits(text).and_then(|digits| digits.parse().ok());
    number.filter(|number| *number <= most).ok_or_else(|| format!("allowed: {range}"))
}

fn integer(text: &str) -> Result<i64, &'static str> {
    digits(text).and_then(|digits| digits.parse().ok()).ok_or("allowed: -2^63 to 2^63 - 1")
}

impl<S: Section> Args for Given<S> {
    fn augment_args(command: Command) -> Command {
        let required = |arg: Arg| S::REQUIRES.into_iter().fold(arg, Arg::requires);
        command.args(S::MEMBERS.iter().map(|member| required(member.arg())))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<S: Section> FromArgMatches for Given<S> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let given = S::MEMBERS.iter().filter_map(|member| Some((member.name.to_owned(), member.value(matches)?)));
        let all = |member: &Member| Some((member.name, member.all(matches)?));
        let repeated = S::MEMBERS.iter().filter_map(all).filter(|(_, values)| values.len() > 1).collect();
        Ok(Self { members: given.collect(), repeated, section: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        Self::from_arg_matches(matches).map(|given| *self = given)
    }
}
