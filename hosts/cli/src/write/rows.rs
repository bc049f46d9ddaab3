//! Writes rows: a table, lines of text, CSV, JSON Lines or Parquet.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::{Compression, ConvertedType, Repetition, Type as Physical};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use serde_json::{Map, Value};

use crate::args::format::Format;
use crate::write::items::{Cell, Items};
use crate::write::output::{Sink, is_quiet};
use crate::write::problem::Problem;

/// How many rows are collected before they are written; a table has all of them at once.
const ROWS: usize = 1 << 16;

pub struct Rows {
    out: Out,
    format: Format,
    has_begun: bool,
}

enum Out {
    Plain(Sink),
    Parquet(Box<SerializedFileWriter<Sink>>),
    /// A placeholder while `Plain` becomes `Parquet`.
    None,
}

impl Rows {
    pub fn new(sink: Sink, format: Format) -> Result<Self, Problem> {
        if format == Format::Parquet && sink.is_terminal() {
            return Err(Problem::message("a terminal cannot show Parquet; write it to a file, such as with > FILE"));
        }
        Ok(Self { out: Out::Plain(sink), format, has_begun: false })
    }

    /// Adds an item. Once there are [`ROWS`] items, they are written and removed; a table is written as a whole.
    pub fn push(&mut self, items: &mut Items, item: impl IntoIterator<Item = Cell>) -> Result<(), Problem> {
        items.push(item);
        if items.len() < ROWS || self.format == Format::Table {
            return Ok(());
        }
        self.add(items)?;
        items.items.clear();
        Ok(())
    }

    /// Writes rows. All calls have the same columns.
    fn add(&mut self, items: &Items) -> Result<(), Problem> {
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        if self.format == Format::Parquet && is_first {
            let Out::Plain(sink) = std::mem::replace(&mut self.out, Out::None) else { return Ok(()) };
            let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
            self.out = Out::Parquet(Box::new(SerializedFileWriter::new(sink, schema(items)?, Arc::new(properties))?));
        }
        match &mut self.out {
            Out::Plain(sink) => plain(sink, items, self.format, is_first),
            Out::Parquet(writer) => Ok(group(writer, items)?),
            Out::None => Ok(()),
        }
    }

    /// Writes the remaining rows and, below a table, the note.
    pub fn finish(mut self, items: &Items, note: &str) -> Result<(), Problem> {
        if !self.has_begun || items.len() > 0 {
            self.add(items)?;
        }
        match self.out {
            Out::Plain(mut sink) => {
                if self.format == Format::Table && !note.is_empty() && !is_quiet() {
                    writeln!(sink, "{note}")?;
                }
                sink.finish()
            }
            Out::Parquet(writer) => writer.into_inner()?.finish(),
            Out::None => Ok(()),
        }
    }
}

impl From<ParquetError> for Problem {
    fn from(error: ParquetError) -> Self {
        match error {
            ParquetError::External(error) => match error.downcast::<std::io::Error>() {
                Ok(error) => (*error).into(),
                Err(error) => Self::message(format!("cannot write the answer: {error}")),
            },
            error => Self::message(format!("cannot write the answer: {error}")),
        }
    }
}

fn plain(sink: &mut Sink, items: &Items, format: Format, is_first: bool) -> Result<(), Problem> {
    match format {
        Format::Table => writeln!(sink, "{}", items.table(sink.width()))?,
        Format::Csv => {
            let mut writer = csv::Writer::from_writer(sink);
            let failed = |error: csv::Error| match error.into_kind() {
                csv::ErrorKind::Io(error) => Problem::from(error),
                kind => Problem::message(format!("cannot write the answer: {kind:?}")),
            };
            if is_first {
                writer.write_record(items.names()).map_err(failed)?;
            }
            for number in 0..items.len() {
                let fields = items.cells(number).map(|cell| match cell {
                    Cell::None | Cell::Value(Value::Null) | Cell::Told(Value::Null, _) => String::new(),
                    Cell::Number(number) => number.to_string(),
                    Cell::Share(number) | Cell::Ratio(number) => number.to_string(),
                    Cell::Words(words) | Cell::Value(Value::String(words)) | Cell::Told(Value::String(words), _) => {
                        words.clone()
                    }
                    Cell::Value(value) | Cell::Told(value, _) => value.to_string(),
                });
                writer.write_record(fields).map_err(failed)?;
            }
            writer.flush()?;
        }
        Format::Jsonl => {
            let names = items.names();
            for number in 0..items.len() {
                let object = names.iter().cloned().zip(items.cells(number).map(Value::from)).collect::<Map<_, _>>();
                writeln!(sink, "{}", Value::Object(object))?;
            }
        }
        // A line for every item, with tabs between its parts.
        Format::Text | Format::Json | Format::Parquet | Format::Npy => {
            for item in &items.items {
                let line = item.iter().map(Cell::to_string).collect::<Vec<_>>().join("\t");
                writeln!(sink, "{line}")?;
            }
        }
    }
    Ok(())
}

/// The type of a Parquet column that fits all its cells: whole numbers, other numbers, or text.
fn kind(items: &Items, column: usize) -> (Physical, ConvertedType) {
    let cells = || items.items.iter().filter_map(|item| item.get(column));
    let values = || cells().map(Value::from);
    match () {
        // A column without values has the type of text: it may be a note, which later rows have.
        () if cells().all(is_none) => (Physical::BYTE_ARRAY, ConvertedType::UTF8),
        () if values().any(|value| !value.is_null() && !value.is_number()) => {
            (Physical::BYTE_ARRAY, ConvertedType::UTF8)
        }
        () if values().any(|value| value.is_f64())
            || cells().any(|cell| matches!(cell, Cell::Share(_) | Cell::Ratio(_))) =>
        {
            (Physical::DOUBLE, ConvertedType::NONE)
        }
        () if !values().any(|value| value.is_u64() && !value.is_i64()) => (Physical::INT64, ConvertedType::NONE),
        // No integer type has both negative numbers and numbers from 2^63 on.
        () if values().any(|value| value.is_i64() && !value.is_u64()) => (Physical::BYTE_ARRAY, ConvertedType::UTF8),
        () => (Physical::INT64, ConvertedType::UINT_64),
    }
}

fn is_none(cell: &Cell) -> bool {
    matches!(cell, Cell::None | Cell::Value(Value::Null) | Cell::Told(Value::Null, _))
}

fn schema(items: &Items) -> Result<Arc<Type>, ParquetError> {
    let column = |(number, name): (usize, String)| {
        let (physical, converted) = kind(items, number);
        let column = Type::primitive_type_builder(&name, physical).with_converted_type(converted);
        column.with_repetition(Repetition::OPTIONAL).build().map(Arc::new)
    };
    let columns = items.names().into_iter().enumerate().map(column).collect::<Result<Vec<_>, _>>()?;
    Ok(Arc::new(Type::group_type_builder("row").with_fields(columns).build()?))
}

/// Writes a row group. The first row group has decided the types of the columns.
fn group(writer: &mut SerializedFileWriter<Sink>, items: &Items) -> Result<(), ParquetError> {
    let mut group = writer.next_row_group()?;
    let mut number = 0;
    while let Some(mut column) = group.next_column()? {
        let cells = || items.items.iter().map(|item| item.get(number).unwrap_or(&Cell::None));
        let levels = cells().map(|cell| i16::from(!is_none(cell))).collect::<Vec<_>>();
        let held = cells().filter(|cell| !is_none(cell));
        let other = || ParquetError::General(format!("column {} changes its type", items.names()[number]));
        match column.untyped() {
            ColumnWriter::Int64ColumnWriter(column) => {
                let value = |cell: &Cell| {
                    let value = Value::from(cell);
                    value.as_i64().or_else(|| value.as_u64().map(u64::cast_signed)).ok_or_else(other)
                };
                column.write_batch(&held.map(value).collect::<Result<Vec<_>, _>>()?, Some(&levels), None)
            }
            ColumnWriter::DoubleColumnWriter(column) => {
                let value = |cell: &Cell| match cell {
                    Cell::Share(number) | Cell::Ratio(number) => Ok(*number),
                    cell => Value::from(cell).as_f64().ok_or_else(other),
                };
                column.write_batch(&held.map(value).collect::<Result<Vec<_>, _>>()?, Some(&levels), None)
            }
            ColumnWriter::ByteArrayColumnWriter(column) => {
                let text = |cell: &Cell| match cell {
                    Cell::Words(words) | Cell::Value(Value::String(words)) | Cell::Told(Value::String(words), _) => {
                        words.clone()
                    }
                    cell => cell.to_string(),
                };
                let values = held.map(|cell| ByteArray::from(text(cell).into_bytes())).collect::<Vec<_>>();
                column.write_batch(&values, Some(&levels), None)
            }
            _ => Err(other()),
        }?;
        column.close()?;
        number += 1;
    }
    group.close()?;
    Ok(())
}
