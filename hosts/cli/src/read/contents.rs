//! What a column holds of some samples, in short, for people.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parquet::basic::{ConvertedType, Type as Physical};
use parquet::file::reader::{FileReader, RowGroupReader};
use parquet::record::Field;
use parquet::record::reader::RowIter;
use parquet::schema::types::{ColumnDescriptor, Type};

use crate::args::dataset::{Dataset, Rows, open, unreadable};
use crate::write::problem::Problem;
use crate::write::progress;

/// How much of a value is shown.
const LETTERS: usize = 60;

/// The beginnings of values of a column of Parquet files, by sample.
pub struct Contents(BTreeMap<u64, String>);

impl Contents {
    /// Reads the row groups that hold the samples, and no others.
    pub fn read(dataset: &Dataset, column: &str, samples: impl Iterator<Item = u64>) -> Result<Self, Problem> {
        if dataset.files.is_empty() {
            return Err(Problem::message(
                "--column is for samples that are stored in files; name the files instead of --samples",
            ));
        }
        let wanted = samples.collect::<BTreeSet<_>>();
        let mut found = BTreeMap::new();
        let bar = progress::bar("reading", dataset.files.len() as u64);
        for file in &dataset.files {
            if wanted.range(file.first..file.first + file.count).next().is_some() {
                read_file(file, column, &wanted, &mut found)?;
            }
            bar.inc(1);
        }
        Ok(Self(found))
    }

    pub fn get(&self, sample: u64) -> &str {
        self.0.get(&sample).map_or("", String::as_str)
    }
}

fn read_file(
    file: &Rows,
    name: &str,
    wanted: &BTreeSet<u64>,
    found: &mut BTreeMap<u64, String>,
) -> Result<(), Problem> {
    let reader = open(&file.path)?;
    let schema = reader.metadata().file_metadata().schema_descr();
    let fields = schema.root_schema().get_fields();
    let Some(field) = fields.iter().find(|field| field.name() == name) else {
        let known = fields.iter().map(|field| field.name()).collect::<Vec<_>>().join(", ");
        return Err(Problem::of(&file.path, format!("has no column {name:?}; name one with --column: {known}")));
    };
    let mut leaves = schema.columns().iter().filter(|leaf| leaf.path().parts().first().is_some_and(|it| it == name));
    if !leaves.all(|leaf| is_shown(leaf)) {
        let what = format!("its column {name:?} holds what is not shown here; allowed: text, bytes, numbers, lists");
        return Err(Problem::of(&file.path, what));
    }
    let mut first = file.first;
    for number in 0..reader.num_row_groups() {
        let end = first.saturating_add(reader.metadata().row_group(number).num_rows().unsigned_abs());
        if let Some(&last) = wanted.range(first..end).next_back() {
            let group = reader.get_row_group(number).map_err(|error| unreadable(&file.path, &error))?;
            let rows = rows(&*group, field.clone()).map_err(|error| unreadable(&file.path, &error))?;
            for (sample, row) in (first..=last).zip(rows) {
                let row = row.map_err(|error| unreadable(&file.path, &error))?;
                if wanted.contains(&sample) {
                    let value = row.get_column_iter().next().map_or(String::new(), |(_, value)| shown(value));
                    found.insert(sample, value);
                }
            }
            if !found.contains_key(&last) {
                let what = format!("ends before row {}, which its footer says it has", last - file.first);
                return Err(Problem::of(&file.path, what));
            }
        }
        first = end;
    }
    Ok(())
}

/// The rows of a row group, with one column.
fn rows<'a>(group: &'a dyn RowGroupReader, column: Arc<Type>) -> Result<RowIter<'a>, parquet::errors::ParquetError> {
    let root = group.metadata().schema_descr().root_schema().name().to_owned();
    let alone = Type::group_type_builder(&root).with_fields(vec![column]).build()?;
    RowIter::from_row_group(Some(alone), group)
}

/// Whether values of a type are made without a panic, whatever they are: not so dates and times.
fn is_shown(leaf: &ColumnDescriptor) -> bool {
    use ConvertedType as Marked;
    let marked = leaf.converted_type();
    match leaf.physical_type() {
        Physical::BOOLEAN | Physical::FLOAT | Physical::DOUBLE => true,
        Physical::INT32 => matches!(
            marked,
            Marked::NONE
                | Marked::INT_8
                | Marked::INT_16
                | Marked::INT_32
                | Marked::UINT_8
                | Marked::UINT_16
                | Marked::UINT_32
        ),
        Physical::INT64 => matches!(marked, Marked::NONE | Marked::INT_64 | Marked::UINT_64),
        Physical::BYTE_ARRAY => {
            matches!(marked, Marked::NONE | Marked::UTF8 | Marked::ENUM | Marked::JSON | Marked::BSON)
        }
        Physical::FIXED_LEN_BYTE_ARRAY => marked == Marked::NONE,
        Physical::INT96 => false,
    }
}

fn shown(value: &Field) -> String {
    match value {
        Field::Str(text) => excerpt(text, LETTERS),
        Field::Bytes(bytes) => {
            let begin = bytes.data().iter().take(4 * LETTERS).copied().collect::<Vec<_>>();
            excerpt(&String::from_utf8_lossy(&begin), LETTERS)
        }
        other => excerpt(&other.to_string(), LETTERS),
    }
}

/// The beginning of a text, in one line.
pub fn excerpt(text: &str, letters: usize) -> String {
    // Every letter takes at most four bytes, and what is between words is not shown twice.
    let begin = text.char_indices().nth(4 * letters).map_or(text, |(end, _)| &text[..end]);
    let words = begin.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut short = words.chars().filter(|letter| !letter.is_control()).take(letters).collect::<String>();
    if short.len() < words.len() || begin.len() < text.len() {
        short.push_str("...");
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_one_short_line() {
        assert_eq!(excerpt("a\n\tb  c", 10), "a b c");
        assert_eq!(excerpt("naïve words", 5), "naïve...");
        assert_eq!(excerpt(&"x".repeat(1000), 4), "xxxx...");
        assert_eq!(excerpt(&" ".repeat(1000), 4), "...");
    }
}
