//! Text: a sample in each line, and CSV with a header.

use std::io::{BufRead, Read};

use super::collected::{Collected, missing};

/// Adds the number in each line, or the length of each line, if there is a unit to count.
pub fn read_lines(mut file: impl BufRead, lengths: &mut Collected) -> Result<(), String> {
    let mut line = Vec::new();
    for number in 1_u64.. {
        line.clear();
        let count = file.read_until(b'\n', &mut line).map_err(|error| format!("cannot be read: {error}"))?;
        if count == 0 {
            break;
        }
        let bytes = line.strip_suffix(b"\n").unwrap_or(&line);
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        // The byte order mark with which some editors begin a file.
        let bytes = if number == 1 { bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes) } else { bytes };
        value(bytes, lengths).map_err(|why| format!("line {number} {why}"))?;
    }
    Ok(())
}

/// Adds the values of a column of a table whose first line names the columns.
pub fn read_table(file: impl Read, delimiter: u8, column: Option<&str>, lengths: &mut Collected) -> Result<(), String> {
    let broken = |error: csv::Error| format!("cannot be read as a table: {error}");
    let mut table = csv::ReaderBuilder::new().delimiter(delimiter).from_reader(file);
    let header = table.byte_headers().map_err(broken)?;
    let names = header.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect::<Vec<_>>();
    let known = || format!("name one with {}: {}", lengths.option(), names.join(", "));
    let Some(column) = column else { return Err(format!("has columns; {}", known())) };
    let found = names.iter().enumerate().filter(|(_, name)| *name == column).map(|(number, _)| number);
    let number = match found.collect::<Vec<_>>()[..] {
        [number] => number,
        [] => return Err(format!("has no column {column:?}; {}", known())),
        [..] => return Err(format!("has several columns {column:?}; give each a name of its own")),
    };
    let mut row = csv::ByteRecord::new();
    while table.read_byte_record(&mut row).map_err(broken)? {
        let line = row.position().map_or(0, csv::Position::line);
        value(&row[number], lengths).map_err(|why| format!("line {line}: column {column:?} {why}"))?;
    }
    Ok(())
}

/// Adds a value: a text if it is a key or its length counts, and otherwise a number.
fn value(bytes: &[u8], lengths: &mut Collected) -> Result<(), String> {
    if lengths.is_text() {
        return lengths.encoded(bytes);
    }
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim();
    if text.is_empty() {
        return Err(missing());
    }
    match text.parse::<i128>() {
        Ok(number) => lengths.number(number),
        Err(_) => Err(lengths.no_number(&text.chars().take(40).collect::<String>())),
    }
}
