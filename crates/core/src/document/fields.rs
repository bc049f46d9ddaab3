//! Reads the members of a document by their names and types. Failures name the member.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::json::{Number, Reader, in_digits, is_exact, number_text, quoted, signed, unsigned};
use super::member::{Default, Kind, Member};
use super::numbers::{self, Numbers, is_hash};
use super::weights::{self, Decimal, MAX_DIGITS};
use crate::base::failure::{at_most, element, known as one_of, only, range, shorten};
use crate::base::memory::{collect, grow};
use crate::base::{Failure, MAX_EXACT};

/// The most levels of nested objects in a state. A recipe may have one level less, since a state is one more object
/// around it. Composed orders nest. The limit keeps a text from overflowing the stack.
const MAX_DEPTH: u32 = 25;

/// The fields of an object that was read, each at most once.
pub(crate) struct Fields<'a> {
    /// All members that the object may have.
    pub(crate) known: &'static [Member],
    values: Vec<(&'static Member, Value<'a>)>,
}

/// An object without members.
pub(crate) static NOTHING: Fields<'static> = Fields { known: &[], values: Vec::new() };

pub(super) enum Value<'a> {
    Number(Number),
    /// A weight with a fraction or an exponent, until all weights of the list are converted to whole numbers.
    Weight(Decimal),
    Text(Cow<'a, str>),
    Flag(bool),
    Numbers(Numbers<'a>),
    Section(Fields<'a>),
    Objects(Vec<Fields<'a>>),
}

impl<'a> Fields<'a> {
    /// The fields of a text that is an object and nothing else. Failures: `recipe`, the name of a section, or a field.
    pub(crate) fn read(text: &'a str, known: &'static [Member]) -> Result<Self, Failure> {
        let mut reader = Reader::new(text);
        reader.depth = u32::from(!known.iter().any(|key| key.name == "recipe"));
        let fields = Self::of(&mut reader, "recipe", known)?;
        if reader.is_at_end() { Ok(fields) } else { Err(broken(&reader)) }
    }

    /// The fields of the object that comes next in a text. Failures: as `read`.
    #[inline(never)]
    pub(crate) fn of(
        reader: &mut Reader<'a>,
        section: &'static str,
        known: &'static [Member],
    ) -> Result<Self, Failure> {
        let mut fields = Self { known, values: Vec::new() };
        let mut failed = None;
        if reader.depth == MAX_DEPTH {
            return Err(Failure::out_of_range(
                "recipe",
                "objects in objects",
                at_most(MAX_DEPTH - 1).and(" objects in one another"),
            ));
        }
        reader.depth += 1;
        let read = reader.object(|reader, name| match fields.add(reader, section, &name) {
            Ok(()) => Some(()),
            Err(failure) => {
                failed = Some(failure);
                None
            }
        });
        reader.depth -= 1;
        match (failed, read) {
            (Some(failure), _) => Err(failure),
            (None, None) => Err(broken(reader)),
            (None, Some(())) => fields.filled(),
        }
    }

    /// Adds an empty object for each section that is not there, if the default of the section is an empty object.
    fn filled(mut self) -> Result<Self, Failure> {
        for member in self.known {
            if let (Kind::Section(known), Default::Empty, None) = (member.kind, member.default, self.value(member.name))
            {
                let empty = Self { known, values: Vec::new() }.filled()?;
                grow(member.name, 1, &mut self.values)?;
                self.values.push((member, Value::Section(empty)));
            }
        }
        Ok(self)
    }

    #[inline(never)]
    fn add(&mut self, reader: &mut Reader<'a>, section: &'static str, name: &str) -> Result<(), Failure> {
        let known = self.known;
        let Some(key) = known.iter().find(|key| key.name == name) else {
            let own = known.iter().filter(|key| !matches!(key.kind, Kind::Elsewhere(_)));
            let names = one_of(own.map(|key| key.name));
            return Err(Failure::unknown_member(section, name, names));
        };
        if self.value(key.name).is_some() {
            return Err(Failure::contradiction(key.name, "there twice", "once"));
        }
        let before = reader.rest();
        let value = match key.kind {
            Kind::Section(keys) if reader.is_at(b'{') => {
                let section = Self::of(reader, key.name, keys);
                Value::Section(section.map_err(|failure| failure.under(key.name, keys))?)
            }
            Kind::Numbers { .. } | Kind::Lengths if reader.is_at(b'[') => {
                Value::Numbers(Numbers::All(list(reader, key.name)?))
            }
            Kind::Numbers { .. } | Kind::Lengths if reader.is_at(b'"') => {
                let hash = reader.string().filter(|text| is_hash(text)).ok_or_else(|| mistyped(key, before))?;
                Value::Numbers(Numbers::Hash(hash))
            }
            Kind::Weights if reader.is_at(b'[') => Value::Numbers(Numbers::All(list_of_weights(reader, key.name)?)),
            Kind::Weight => weight(reader, key.name)?,
            Kind::Objects { of: keys, .. } if reader.is_at(b'[') => Value::Objects(objects(reader, key.name, keys)?),
            Kind::Text { .. } | Kind::Name(_) => Value::Text(reader.string().ok_or_else(|| mistyped(key, before))?),
            Kind::Flag => Value::Flag(reader.flag().ok_or_else(|| mistyped(key, before))?),
            Kind::Natural { .. } | Kind::Integer => {
                Value::Number(number(reader, &key.kind).ok_or_else(|| mistyped(key, before))?)
            }
            Kind::Section(_) | Kind::Numbers { .. } | Kind::Lengths | Kind::Weights | Kind::Objects { .. } => {
                return Err(mistyped(key, before));
            }
            Kind::Elsewhere(allowed) => return Err(Failure::contradiction(key.name, "there", allowed)),
        };
        grow(key.name, 1, &mut self.values)?;
        self.values.push((key, value));
        Ok(())
    }

    #[inline(never)]
    pub(super) fn value(&self, field: &str) -> Option<&Value<'a>> {
        self.values.iter().find(|(key, _)| key.name == field).map(|(_, value)| value)
    }

    /// Whether a field is there.
    pub(crate) fn has(&self, field: &str) -> bool {
        self.value(field).is_some()
    }

    pub(crate) fn count(&self, field: &str) -> Option<u64> {
        if let Value::Number(number) = self.value(field)? { unsigned(*number) } else { None }
    }

    pub(crate) fn signed(&self, field: &str) -> Option<i64> {
        if let Value::Number(number) = self.value(field)? { signed(*number) } else { None }
    }

    /// A whole number of either sign; 0 if the field is not there.
    pub(crate) fn integer(&self, field: &str) -> i64 {
        self.signed(field).unwrap_or_default()
    }

    fn default(&self, field: &str) -> Default {
        self.known.iter().find(|member| member.name == field).map_or(Default::None, |member| member.default)
    }

    /// A number that was checked; if the field is not there, its default, or 0.
    #[inline(never)]
    pub(crate) fn number(&self, field: &str) -> u64 {
        match (self.count(field), self.default(field)) {
            (Some(number), _) | (None, Default::Number(number)) => number,
            _ => 0,
        }
    }

    /// A number of 32 bits, given or by default.
    pub(crate) fn short(&self, field: &str) -> u32 {
        self.number(field) as u32
    }

    /// A number of 32 bits, if it was given.
    pub(crate) fn given_short(&self, field: &str) -> Option<u32> {
        self.count(field).map(|number| number as u32)
    }

    /// A flag; if the field is not there, its default, or false.
    #[inline(never)]
    pub(crate) fn is(&self, field: &str) -> bool {
        self.flag(field).unwrap_or(matches!(self.default(field), Default::Flag(true)))
    }

    /// The value, in the table `known`, of the name in `field`, which was checked. Without the field, the first value.
    pub(crate) fn named<T: Copy>(&self, field: &str, known: &[(&'static str, T)]) -> T {
        let name = self.text(field);
        let found = known.iter().find(|(own, _)| name == Some(own));
        found.unwrap_or(&known[0]).1
    }

    pub(crate) fn text(&self, field: &str) -> Option<&str> {
        if let Value::Text(text) = self.value(field)? { Some(text) } else { None }
    }

    pub(crate) fn flag(&self, field: &str) -> Option<bool> {
        if let Value::Flag(flag) = self.value(field)? { Some(*flag) } else { None }
    }

    #[inline(never)]
    pub(crate) fn numbers(&self, field: &str) -> Option<&Numbers<'a>> {
        if let Value::Numbers(numbers) = self.value(field)? { Some(numbers) } else { None }
    }

    /// The numbers of a list; empty if the text has only their hash, or nothing.
    pub(crate) fn all(&self, field: &str) -> &[u64] {
        if let Some(Numbers::All(all)) = self.numbers(field) { all } else { &[] }
    }

    /// The object of a section; an object without members if the section is not there.
    pub(crate) fn section(&self, field: &str) -> &Self {
        self.given_section(field).unwrap_or(&NOTHING)
    }

    /// The object of a section, if the section is there.
    #[inline(never)]
    pub(crate) fn given_section(&self, field: &str) -> Option<&Self> {
        if let Value::Section(fields) = self.value(field)? { Some(fields) } else { None }
    }

    pub(crate) fn objects(&self, field: &str) -> &[Self] {
        if let Some(Value::Objects(objects)) = self.value(field) { objects } else { &[] }
    }

    /// The name of the first of the members `known` that the object has.
    pub(crate) fn first_of(&self, known: &'static [Member]) -> Option<&'static str> {
        known.iter().map(|key| key.name).find(|field| self.has(field))
    }

    /// The first member of the table that the object has: its name, and its value as `shown` writes it.
    pub(crate) fn first(&self) -> Option<(&'static str, String)> {
        self.known.iter().find_map(|key| Some((key.name, self.shown(key.name)?)))
    }

    /// The canonical text of this object, with the members `known` alone, in their order.
    pub(crate) fn canonical(&self, known: &'static [Member]) -> String {
        let mut text = String::from("{");
        for key in known {
            let Some(value) = self.value(key.name) else { continue };
            text += if text.len() > 1 { ",\"" } else { "\"" };
            text += key.name;
            text += "\":";
            text += &match (value, &key.kind) {
                (Value::Section(fields), Kind::Section(known)) => fields.canonical(known),
                (Value::Text(text), _) => quoted(text),
                (Value::Number(number), _) => number_text(*number),
                (Value::Numbers(Numbers::Hash(hash)), _) => format!("\"{hash}\""),
                (Value::Numbers(Numbers::All(all)), _) => numbers::text(all.iter().copied()),
                (Value::Objects(objects), Kind::Objects { of: known, .. }) => {
                    let objects: Vec<String> = objects.iter().map(|object| object.canonical(known)).collect();
                    format!("[{}]", objects.join(","))
                }
                _ => self.shown(key.name).unwrap_or_default(),
            };
        }
        text + "}"
    }

    /// The value of a field as failures show it, if it is there.
    #[inline(never)]
    pub(crate) fn shown(&self, field: &str) -> Option<String> {
        Some(match self.value(field)? {
            // -0 is 0.
            Value::Number((negative, amount)) => format!("{}{amount}", if *negative && *amount > 0 { "-" } else { "" }),
            Value::Weight(_) => "a number".into(),
            Value::Text(text) => shorten(text),
            Value::Flag(flag) => flag.to_string(),
            Value::Numbers(Numbers::All(numbers)) => format!("{} numbers", numbers.len()),
            Value::Numbers(Numbers::Hash(_)) => "a hash".into(),
            Value::Section(_) => "an object".into(),
            Value::Objects(objects) => format!("{} objects", objects.len()),
        })
    }
}

/// The items of a list. `read` reads the item at an index.
fn items<'a, T>(
    reader: &mut Reader<'a>,
    field: &'static str,
    mut read: impl FnMut(&mut Reader<'a>, usize) -> Result<T, Failure>,
) -> Result<Vec<T>, Failure> {
    let (mut items, mut failed) = (Vec::new(), None);
    let whole = reader.list(b'[', b']', |reader| {
        match grow(field, 1, &mut items).and_then(|()| read(reader, items.len())) {
            Ok(item) => items.push(item),
            Err(failure) => failed = Some(failure),
        }
        failed.is_none().then_some(())
    });
    match (failed, whole) {
        (Some(failure), _) => Err(failure),
        (None, None) => Err(broken(reader)),
        (None, Some(())) => Ok(items),
    }
}

fn list(reader: &mut Reader, field: &'static str) -> Result<Vec<u64>, Failure> {
    items(reader, field, |reader, index| {
        let before = reader.rest();
        let number = reader.number().and_then(unsigned);
        number.ok_or_else(|| no_number(field, before, &Kind::COUNT).at_index(index))
    })
}

/// The numbers of a list of weights. If one of them is a decimal fraction, all are converted together.
fn list_of_weights(reader: &mut Reader, field: &'static str) -> Result<Vec<u64>, Failure> {
    let given = items(reader, field, |reader, index| {
        // A number in quotes is no element of a list.
        let is_quoted = reader.is_at(b'"');
        let before = reader.rest();
        let read = if is_quoted { Err(no_number(field, before, &Kind::Weight)) } else { weight(reader, field) };
        read.map_err(|failure| failure.at_index(index))
    })?;
    if given.iter().any(|weight| matches!(weight, Value::Weight(_))) {
        let decimals = collect(field, given.len(), given.iter().map(decimal))?;
        return weights::whole(field, &decimals).map_err(|(index, failure)| failure.at_index(index));
    }
    collect(field, given.len(), given.iter().map(whole))
}

/// The weight that comes next: a `Value::Number` if it is a whole number; a `Value::Weight` if it has a fraction or an
/// exponent. Failures: `field`.
#[inline(never)]
fn weight<'a>(reader: &mut Reader<'a>, field: &'static str) -> Result<Value<'a>, Failure> {
    let before = reader.rest();
    let mistyped = || no_number(field, before, &Kind::Weight);
    if !has_fraction(token(before)) || reader.is_at(b'"') {
        return number(reader, &Kind::COUNT).map(Value::Number).ok_or_else(mistyped);
    }
    let text = reader.number_as_text().filter(|text| has_fraction(text)).ok_or_else(mistyped)?;
    Decimal::read(text).map(Value::Weight).ok_or_else(|| {
        let allowed = range(0, MAX_EXACT).and(format_args!(", with at most {MAX_DIGITS} digits"));
        Failure::out_of_range(field, shorten(text), allowed)
    })
}

/// The number of a `Value::Number`; 0 for any other value.
fn whole(value: &Value) -> u64 {
    if let Value::Number(number) = value { unsigned(*number).unwrap_or_default() } else { 0 }
}

/// The weight of a value; 0 for any value that is no number.
fn decimal(value: &Value) -> Decimal {
    if let Value::Weight(decimal) = value { *decimal } else { Decimal::whole(whole(value)) }
}

/// Whether the text of a number has a fraction or an exponent.
fn has_fraction(text: &str) -> bool {
    text.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E'))
}

/// Replaces the weights of the objects of a list by whole numbers, if one of them is a decimal fraction. Failures: the
/// weight, with its place.
#[inline(never)]
fn whole_numbers_of_decimals(
    field: &'static str,
    objects: &mut [Fields],
    keys: &'static [Member],
) -> Result<(), Failure> {
    let Some(key) = keys.iter().find(|key| matches!(key.kind, Kind::Weight)) else { return Ok(()) };
    if !objects.iter().any(|object| matches!(object.value(key.name), Some(Value::Weight(_)))) {
        return Ok(());
    }
    let by_default = if let Default::Number(number) = key.default { Some(number) } else { None };
    let of = |object: &Fields| match object.value(key.name) {
        Some(value) => decimal(value),
        None => Decimal::whole(by_default.unwrap_or_default()),
    };
    let decimals = collect(field, objects.len(), objects.iter().map(of))?;
    let within = |(index, failure): (usize, Failure)| failure.in_element(field, index);
    let found = weights::whole(key.name, &decimals).map_err(within)?;
    for (object, number) in objects.iter_mut().zip(found) {
        let value = Value::Number((false, number));
        if let Some((_, own)) = object.values.iter_mut().find(|(own, _)| own.name == key.name) {
            *own = value;
        } else if by_default.is_some() {
            grow(field, 1, &mut object.values)?;
            object.values.push((key, value));
        }
    }
    Ok(())
}

fn objects<'a>(
    reader: &mut Reader<'a>,
    field: &'static str,
    keys: &'static [Member],
) -> Result<Vec<Fields<'a>>, Failure> {
    let mut objects = items(reader, field, |reader, index| {
        Fields::of(reader, field, keys).map_err(|failure| failure.under(&element(field, index), keys))
    })?;
    whole_numbers_of_decimals(field, &mut objects, keys)?;
    Ok(objects)
}

/// Reads a number of a kind. A number beyond 2^53 - 1 must be in quotes, because JSON tools may round a number without
/// quotes; smaller numbers must not be in quotes. If the kind does not allow numbers beyond 2^53 - 1, such a number is
/// read with or without quotes, and the check of the range refuses it later.
#[inline(never)]
fn number(reader: &mut Reader, kind: &Kind) -> Option<Number> {
    let is_quoted = reader.is_at(b'"');
    let found = if is_quoted { in_digits(&reader.string()?) } else { reader.number() };
    found.filter(|&found| {
        let fits = if let Kind::Integer = kind { signed(found).is_some() } else { unsigned(found).is_some() };
        fits && if is_quoted { !is_exact(found) } else { is_exact(found) || !kind.is_wide() }
    })
}

/// The failure of a value that is of another type than its member.
#[inline(never)]
fn mistyped(key: &Member, before: &str) -> Failure {
    match key.kind {
        Kind::Natural { .. } | Kind::Integer | Kind::Weight => no_number(key.name, before, &key.kind),
        _ => Failure::wrong_type(key.name, token(before), key.kind.allowed()),
    }
}

/// The failure of a value that is no whole number, or is beyond the range of its type.
fn no_number(field: &'static str, before: &str, kind: &Kind) -> Failure {
    let text = before.trim_ascii_start();
    let quoted = text.strip_prefix('"').map(|_| token(text).trim_matches('"'));
    let text = quoted.unwrap_or(text);
    let digits = text.strip_prefix('-').unwrap_or(text);
    let rest = digits.trim_start_matches(|digit: char| digit.is_ascii_digit());
    let is_whole =
        rest.len() < digits.len() && !digits.starts_with('0') && !rest.starts_with(['.', 'e', 'E', '+', '-']);
    // If the value has no quotes, the failure shows the range that is allowed without quotes.
    let allowed = match kind {
        Kind::Integer if quoted.is_none() => range(-(MAX_EXACT as i64), MAX_EXACT),
        Kind::Natural { least, most: u64::MAX } if quoted.is_none() => range(*least, MAX_EXACT),
        _ => kind.allowed(),
    };
    match (text.strip_suffix(rest), quoted) {
        (Some(number), None) if is_whole => {
            Failure::out_of_range(field, shorten(number), if kind.is_wide() { allowed.and(QUOTED) } else { allowed })
        }
        (_, Some(number)) if is_whole && rest.is_empty() && !in_digits(number).is_some_and(is_exact) => {
            let is_unsigned = matches!(kind, Kind::Integer) && in_digits(number).and_then(unsigned).is_some();
            Failure::out_of_range(field, shorten(number), if is_unsigned { allowed.and(UNSIGNED) } else { allowed })
        }
        _ => {
            let what = if let Kind::Weight = kind { "a number from " } else { "a whole number from " };
            Failure::wrong_type(field, token(before), allowed.after(what))
        }
    }
}

/// Advice for a seed of torch from 2^63 on.
const UNSIGNED: &str = "; an unsigned seed of torch is the same as this number less 2^64";

/// The reason why a number beyond 2^53 - 1 without quotes is refused.
const QUOTED: &str = "; beyond that in quotes, because JSON tools round such numbers";

/// The first value of a text, for a failure. For a list or an object, only the words "a list" or "an object".
fn token(text: &str) -> &str {
    let text = text.trim_ascii_start();
    let mut bytes = text.bytes();
    match bytes.next() {
        None => "nothing",
        Some(b'[') => "a list",
        Some(b'{') => "an object",
        Some(b'"') => {
            let mut is_escaped = false;
            let end = bytes.position(|byte| {
                let is_end = byte == b'"' && !is_escaped;
                is_escaped = byte == b'\\' && !is_escaped;
                is_end
            });
            end.and_then(|end| text.get(..end + 2)).unwrap_or(text)
        }
        Some(_) => {
            let ends = |byte| matches!(byte, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t');
            text.bytes().position(ends).and_then(|end| text.get(..end)).unwrap_or(text)
        }
    }
}

/// The failure of a text that is no JSON object, with the place where the reader stopped.
#[inline(never)]
fn broken(reader: &Reader) -> Failure {
    let rest = reader.rest();
    let value = if rest.is_empty() { "a text that ends here" } else { rest };
    let comma = if reader.is_at_last_comma() { "no comma before it: " } else { "" };
    Failure::wrong_type(
        "recipe",
        value,
        format!("{comma}JSON as SPEC.md, section 14, has it, at byte {}", reader.place()),
    )
}

/// Compares two canonical texts: `here`, of the object in use, and `of`, of a state or a log. `why` is the reason that
/// the failure gives. Failures: the first field that differs, with both values.
#[inline(never)]
pub(crate) fn compare(here: &Fields, of: &Fields, known: &'static [Member], why: &str) -> Result<(), Failure> {
    for key in known {
        if let Kind::Section(keys) = key.kind {
            if !here.has(key.name) && !of.has(key.name) {
                continue;
            }
            let [own, others] = [here, of].map(|fields| fields.section(key.name));
            compare(own, others, keys, why).map_err(|failure| failure.under(key.name, keys))?;
            continue;
        }
        if let Kind::Objects { of: keys, .. } = key.kind {
            let [own, others] = [here, of].map(|fields| fields.objects(key.name));
            if own.len() == others.len() && here.has(key.name) == of.has(key.name) {
                for (index, (own, other)) in own.iter().zip(others).enumerate() {
                    compare(own, other, keys, why).map_err(|failure| failure.in_element(key.name, index))?;
                }
                continue;
            }
        }
        let [shown, taken] = [here, of].map(|fields| fields.shown(key.name));
        let (value, allowed) = match numbers::difference(here.numbers(key.name), of.numbers(key.name)) {
            Some(Some((value, Some(taken)))) => (value, only(taken).and(format_args!(", {why}"))),
            Some(Some((value, None))) => (value, format!("those, {why}").into()),
            None if shown == taken => continue,
            found => {
                let value = shown.unwrap_or_else(|| "not there".into());
                let allowed = match taken {
                    // If both are lists, `taken` is only the count of the numbers, or "a hash": no fact for programs.
                    Some(taken) if found.is_none() => only(taken).and(format_args!(", {why}")),
                    taken => format!("{}, {why}", taken.unwrap_or_else(|| "not there".into())).into(),
                };
                (value, allowed)
            }
        };
        return Err(Failure::contradiction(key.name, value, allowed));
    }
    Ok(())
}
