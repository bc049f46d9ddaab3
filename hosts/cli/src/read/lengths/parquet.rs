//! Lengths in a column of a Parquet file: whole numbers, or values that have a length.

use std::path::Path;

use indicatif::ProgressBar;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{AsBytes, DataType};
use parquet::file::reader::FileReader;

use super::collected::{Collected, missing};
use super::columns::{Column, Kind};
use crate::args::dataset::{footer, open};
use crate::read::decoded::Decoded;
use crate::write::Problem;

/// Adds the lengths in a column. `bar` counts bytes.
pub fn read(path: &Path, name: Option<&str>, lengths: &mut Collected, bar: &ProgressBar) -> Result<(), Problem> {
    // This refuses a file whose footer contradicts itself.
    footer(path)?;
    let reader = open(path)?;
    let metadata = reader.metadata();
    let named = |why: String| Problem::of(path, why);
    let column = Column::find(metadata.file_metadata().schema_descr(), name, lengths.option()).map_err(named)?;
    let mut rows = Rows { column: &column, lengths, next: 0, end: 0 };
    for (number, group) in metadata.row_groups().iter().enumerate() {
        rows.end = rows.next.saturating_add(group.num_rows().unsigned_abs());
        let group = reader.get_row_group(number).and_then(|group| group.get_column_reader(column.number));
        rows.read_group(group.map_err(|error| named(corrupt(error)))?).map_err(named)?;
        bar.inc(metadata.row_group(number).compressed_size().unsigned_abs());
    }
    Ok(())
}

fn corrupt(error: parquet::errors::ParquetError) -> String {
    format!("cannot be read as Parquet: {error}")
}

/// The rows of a file while they are read.
struct Rows<'a> {
    column: &'a Column,
    lengths: &'a mut Collected,
    /// Number of the next row in the file.
    next: u64,
    /// Number of the row after the row group.
    end: u64,
}

impl Rows<'_> {
    fn read_group(&mut self, reader: ColumnReader) -> Result<(), String> {
        use ColumnReader::*;
        match (self.column.kind, reader) {
            (Kind::Numbers { is_signed }, Int32ColumnReader(reader)) => self.values(reader, |lengths, &value| {
                lengths.number(if is_signed { value.into() } else { value.cast_unsigned().into() })
            }),
            (Kind::Numbers { is_signed }, Int64ColumnReader(reader)) => self.values(reader, |lengths, &value| {
                lengths.number(if is_signed { value.into() } else { value.cast_unsigned().into() })
            }),
            (Kind::Text, ByteArrayColumnReader(reader)) => {
                self.values(reader, |lengths, value| lengths.encoded(value.as_bytes()))
            }
            (Kind::Bytes, ByteArrayColumnReader(reader)) => {
                self.values(reader, |lengths, value| lengths.bytes(value.as_bytes()))
            }
            (Kind::Lists { item }, BoolColumnReader(reader)) => self.lists(reader, item),
            (Kind::Lists { item }, Int32ColumnReader(reader)) => self.lists(reader, item),
            (Kind::Lists { item }, Int64ColumnReader(reader)) => self.lists(reader, item),
            (Kind::Lists { item }, Int96ColumnReader(reader)) => self.lists(reader, item),
            (Kind::Lists { item }, FloatColumnReader(reader)) => self.lists(reader, item),
            (Kind::Lists { item }, DoubleColumnReader(reader)) => self.lists(reader, item),
            (Kind::Lists { item }, ByteArrayColumnReader(reader)) => self.lists(reader, item),
            (Kind::Lists { item }, FixedLenByteArrayColumnReader(reader)) => self.lists(reader, item),
            _ => Err("its column changes its type; write it again".to_owned()),
        }
    }

    /// Adds the rows of a row group, each of which must have a value.
    fn values<T: DataType>(
        &mut self,
        mut reader: ColumnReaderImpl<T>,
        add: impl Fn(&mut Collected, &T::T) -> Result<(), String>,
    ) -> Result<(), String> {
        let mut decoded = Decoded::default();
        while self.next < self.end {
            let count = self.decode(&mut reader, &mut decoded)?;
            let mut values = decoded.values.iter();
            for row in 0..count {
                let value = if decoded.is_null(row, self.column.nullable) { None } else { values.next() };
                let added = value.map_or_else(|| Err(missing()), |value| add(self.lengths, value));
                self.added(added)?;
            }
        }
        Ok(())
    }

    /// Adds the rows of a row group, each of which must have a list. The definition level of its items is at least
    /// `item`.
    fn lists<T: DataType>(&mut self, mut reader: ColumnReaderImpl<T>, item: i16) -> Result<(), String> {
        let mut decoded = Decoded::default();
        while self.next < self.end {
            self.decode(&mut reader, &mut decoded)?;
            let mut entries = decoded.levels.iter().zip(&decoded.repetitions).peekable();
            while let Some((&level, _)) = entries.next() {
                let mut items = u64::from(level >= item);
                while let Some((_, repetition)) = entries.next_if(|&(_, &repetition)| repetition > 0) {
                    // Entries with a higher repetition level are within an item of this list.
                    items += u64::from(*repetition == 1);
                }
                let added = if level + 1 < item { Err(missing()) } else { self.lengths.items(items) };
                self.added(added)?;
            }
        }
        Ok(())
    }

    fn decode<T: DataType>(&self, reader: &mut ColumnReaderImpl<T>, decoded: &mut Decoded<T>) -> Result<usize, String> {
        match decoded.decode(reader, self.column.nullable, self.column.repeated).map_err(corrupt)? {
            0 => Err(format!("ends after {} rows, where its footer says {}; write it again", self.next, self.end)),
            count if self.next + count as u64 > self.end => {
                Err(format!("holds more rows than the {} that its footer says; write it again", self.end))
            }
            count => Ok(count),
        }
    }

    fn added(&mut self, added: Result<(), String>) -> Result<(), String> {
        added.map_err(|why| format!("row {}: column {:?} {why}", self.next, self.column.name))?;
        self.next += 1;
        Ok(())
    }
}
