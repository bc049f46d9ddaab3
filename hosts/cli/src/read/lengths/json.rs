//! Lengths in JSON: an array of numbers, or of objects with a field; an object with a list of lengths; or values one
//! after the other.

use std::fmt;
use std::io::{BufRead, Lines};

use serde::de::{Deserializer, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::collected::{Collected, missing, refused};

/// Adds the lengths of a file with one array.
pub fn read_array(file: impl BufRead, field: Option<&str>, lengths: &mut Collected) -> Result<(), String> {
    let mut json = serde_json::Deserializer::from_reader(file);
    // A refused value is reported apart from errors of JSON, which name line and column.
    let mut refused = None;
    let items = Items { field, lengths, refused: &mut refused };
    let read = json.deserialize_seq(items).and_then(|()| json.end());
    match refused {
        Some(why) => Err(why),
        None => read.map_err(|error| broken(&error)),
    }
}

/// Adds the lengths of a file with one object, whose field is a list of lengths, or with several objects one after the
/// other.
pub fn read_objects(file: impl BufRead, field: Option<&str>, lengths: &mut Collected) -> Result<(), String> {
    let values = serde_json::Deserializer::from_reader(file).into_iter();
    let mut values = values.map(|value| value.map_err(|error| broken(&error)));
    let Some(first) = values.next().transpose()? else { return Ok(()) };
    let Some(second) = values.next().transpose()? else { return of_list(first, field, lengths) };
    for (number, value) in (0_u64..).zip([Ok(first), Ok(second)].into_iter().chain(values)) {
        add(value?, field, lengths).map_err(|why| format!("item {number}{why}"))?;
    }
    Ok(())
}

/// Adds the lengths in the field of an object, which is a list. A value that is no object is a length itself.
fn of_list(value: Value, field: Option<&str>, lengths: &mut Collected) -> Result<(), String> {
    let (field, object) = match (field, &value) {
        (Some(field), Value::Object(object)) => (field, object),
        (None, Value::Object(object)) => {
            let option = lengths.option();
            let lists = object.iter().filter(|(_, value)| value.is_array()).map(|(name, _)| name.as_str());
            let what = format!("is an object with the members {}", names(object));
            return Err(match lists.collect::<Vec<_>>().join(", ") {
                lists if lists.is_empty() => format!("{what}, and none of them is a list of lengths"),
                lists => format!(
                    "{what}; name a list of it after the file, as in FILE {option} NAME, where NAME is one of: {lists}"
                ),
            });
        }
        _ => return add(value, field, lengths).map_err(|why| format!("it{why}")),
    };
    match object.get(field) {
        Some(Value::Array(items)) => (0_u64..).zip(items).try_for_each(|(number, item)| {
            length(item, lengths).map_err(|why| format!("item {number} of {field:?} {why}"))
        }),
        Some(other) => Err(format!("its {field:?} is {}; allowed: a list with the length of each sample", kind(other))),
        None => Err(format!("has no field {field:?}; name one with {}: {}", lengths.option(), names(object))),
    }
}

/// Adds the lengths of a file with a value in each line.
pub fn read_lines(file: impl BufRead, field: Option<&str>, lengths: &mut Collected) -> Result<(), String> {
    let lines: Lines<_> = file.lines();
    for (number, line) in (1_u64..).zip(lines) {
        let line = line.map_err(|error| format!("line {number} cannot be read: {error}"))?;
        if line.trim().is_empty() {
            continue;
        }
        let value = serde_json::from_str(&line).map_err(|error| {
            let column = error.column();
            let what = "a number, or an object with the field, in every line";
            format!("line {number} is no JSON at its column {column}; allowed: {what}")
        })?;
        add(value, field, lengths).map_err(|why| format!("line {number}{why}"))?;
    }
    Ok(())
}

fn broken(error: &serde_json::Error) -> String {
    format!("cannot be read as JSON: {error}; allowed: whole numbers, or objects with one, in an array or one by one")
}

/// Adds the items of an array one by one, so that only one of them is in memory.
struct Items<'a> {
    field: Option<&'a str>,
    lengths: &'a mut Collected,
    refused: &'a mut Option<String>,
}

impl<'de> Visitor<'de> for Items<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<(), A::Error> {
        let mut number = 0_u64;
        while let Some(value) = array.next_element::<Value>()? {
            if let Err(why) = add(value, self.field, self.lengths) {
                *self.refused = Some(format!("item {number}{why}"));
                return Err(serde::de::Error::custom("refused"));
            }
            number += 1;
        }
        Ok(())
    }
}

/// Adds the length that a value, or a field of it, gives. An error continues a message that begins with the value's
/// place.
fn add(value: Value, field: Option<&str>, lengths: &mut Collected) -> Result<(), String> {
    match (field, value) {
        (Some(field), Value::Object(object)) => of_field(object, field, lengths),
        (None, Value::Object(object)) => {
            Err(format!(" is an object; name a field with {}: {}", lengths.option(), names(&object)))
        }
        (Some(field), value) => {
            let (kind, option) = (kind(&value), lengths.option());
            Err(format!(" is {kind}, and no object with the field {field:?}; leave it out after {option}"))
        }
        (None, value) => length(&value, lengths).map_err(|why| format!(" {why}")),
    }
}

fn of_field(object: Map<String, Value>, field: &str, lengths: &mut Collected) -> Result<(), String> {
    let Some(value) = object.get(field) else {
        return Err(format!(" has no field {field:?}; name one with {}: {}", lengths.option(), names(&object)));
    };
    length(value, lengths).map_err(|why| format!(": its {field:?} {why}"))
}

fn length(value: &Value, lengths: &mut Collected) -> Result<(), String> {
    match value {
        Value::Number(number) => match number.as_i128() {
            Some(number) => lengths.number(number),
            None => Err(refused(number)),
        },
        Value::String(text) => lengths.text(text),
        Value::Array(items) => lengths.items(items.len() as u64),
        Value::Null => Err(missing()),
        Value::Bool(_) | Value::Object(_) => Err(format!("is {}; allowed: whole numbers, text, or lists", kind(value))),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn names(object: &Map<String, Value>) -> String {
    object.keys().map(String::as_str).collect::<Vec<_>>().join(", ")
}
