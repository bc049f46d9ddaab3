//! Lists of numbers that come beside a recipe: NumPy arrays, JSON lists, or texts with a number in each line.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::args::values;
use crate::read::lengths::npy;
use crate::write::Problem;

/// The numbers of a file.
pub fn read(path: &Path) -> Result<Vec<u64>, Problem> {
    let mut file = BufReader::new(File::open(path).map_err(|error| Problem::of(path, error))?);
    let begin = file.fill_buf().map_err(|error| Problem::of(path, error))?;
    let is_array = begin.starts_with(b"\x93NUMPY");
    let is_json = begin.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[');
    let found = match () {
        () if is_array => array(file),
        () if is_json => serde_json::from_reader(file)
            .map_err(|error| format!("is no JSON list of whole numbers from 0 up: {error}")),
        () => lines(file),
    };
    found.map_err(|why| Problem::of(path, why))
}

fn array(file: impl Read) -> Result<Vec<u64>, String> {
    let mut numbers = Vec::new();
    npy::integers(file, |number| {
        let number = u64::try_from(number).map_err(|_| format!("is {number}; allowed: whole numbers from 0 up"))?;
        numbers.push(number);
        Ok(())
    })?;
    Ok(numbers)
}

fn lines(file: impl BufRead) -> Result<Vec<u64>, String> {
    let number = |(line, text): (u64, std::io::Result<String>)| {
        let text = text.map_err(|error| format!("cannot be read: {error}"))?;
        values::number(text.trim()).map_err(|allowed| format!("line {line} is {text:?}; {allowed}"))
    };
    (1..).zip(file.lines()).map(number).collect()
}

/// A whole number of a recipe or a state, which is a string beyond 2^53 - 1.
pub fn whole<T: TryFrom<i128>>(value: &Value) -> Option<T> {
    let number = match value {
        Value::String(digits) => digits.parse().ok()?,
        value => value.as_i64().map(i128::from).or(value.as_u64().map(i128::from))?,
    };
    number.try_into().ok()
}

/// A whole number in JSON: a number, or a text of its digits.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Whole {
    Number(i64),
    Digits(String),
}

impl Whole {
    pub fn of(number: impl Into<i128>) -> Self {
        let number = number.into();
        match i64::try_from(number) {
            Ok(exact) if number.unsigned_abs() < 1 << 53 => Self::Number(exact),
            _ => Self::Digits(number.to_string()),
        }
    }
}

/// A whole number as a JSON value.
pub fn written(number: impl Into<i128>) -> Value {
    serde_json::to_value(Whole::of(number)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_in_lines() {
        assert_eq!(lines(&b"3\n 1_000\n9007199254740991"[..]), Ok(vec![3, 1_000, (1 << 53) - 1]));
        assert_eq!(lines(&b""[..]), Ok(vec![]));
        assert!(lines(&b"3\n\n4"[..]).unwrap_err().starts_with("line 2 is \"\"; allowed: "));
        assert!(lines(&b"-3"[..]).unwrap_err().starts_with("line 1 is \"-3\"; allowed: "));
    }

    #[test]
    fn an_array_has_numbers_from_0_up() {
        let array_of = |values: [i8; 2]| {
            let header = "{'descr': '|i1', 'fortran_order': False, 'shape': (2,), }";
            let start = [&b"\x93NUMPY\x01\x00"[..], &(header.len() as u16).to_le_bytes(), header.as_bytes()].concat();
            array(&[start, values.map(i8::cast_unsigned).to_vec()].concat()[..])
        };
        assert_eq!(array_of([7, 9]), Ok(vec![7, 9]));
        assert_eq!(array_of([7, -1]), Err("value 1 is -1; allowed: whole numbers from 0 up".to_owned()));
    }
}
