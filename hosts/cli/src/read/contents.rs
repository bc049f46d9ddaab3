//! The values of columns for some samples.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, NaiveDate, Utc};
use parquet::basic::{ConvertedType, Type as Physical};
use parquet::file::reader::{FileReader, RowGroupReader};
use parquet::record::Field;
use parquet::record::reader::RowIter;
use parquet::schema::types::{ColumnDescriptor, Type};
use serde_json::{Map, Value, json};

use crate::args::dataset::{Dataset, Rows, open, unreadable};
use crate::write::{Cell, Problem, progress};

/// Values of columns of Parquet files, by sample.
pub struct Contents(Vec<(String, BTreeMap<u64, Value>)>);

impl Contents {
    /// Reads the row groups that hold the samples, and no others. Without columns, there is nothing to read.
    pub fn read(dataset: &Dataset, columns: &[String], samples: impl Iterator<Item = u64>) -> Result<Self, Problem> {
        let mut read = Self(Vec::new());
        if columns.is_empty() {
            return Ok(read);
        }
        if dataset.files.is_empty() {
            return Err(Problem::message(
                "--column is for samples that are stored in files; name the files instead of --samples",
            ));
        }
        let wanted = samples.collect::<BTreeSet<_>>();
        let bar = progress::bar("reading", (dataset.files.len() * columns.len()) as u64);
        for column in columns {
            let mut found = BTreeMap::new();
            for file in &dataset.files {
                if wanted.range(file.first..file.first + file.count).next().is_some() {
                    read_file(file, column, &wanted, &mut found)?;
                }
                bar.inc(1);
            }
            read.0.push((column.clone(), found));
        }
        Ok(read)
    }

    pub fn columns(&self) -> Vec<&str> {
        self.0.iter().map(|(column, _)| &**column).collect()
    }

    /// The values of a sample, one for each column.
    pub fn cells(&self, sample: u64) -> impl Iterator<Item = Cell> {
        self.0.iter().map(move |(_, found)| Cell::Value(found.get(&sample).cloned().unwrap_or_default()))
    }

    /// For each column, the list of its values for these samples; none without columns.
    pub fn json(&self, samples: &[u64]) -> Option<Map<String, Value>> {
        let held = |found: &BTreeMap<u64, Value>| {
            samples.iter().map(|sample| found.get(sample).cloned().unwrap_or_default()).collect::<Value>()
        };
        let columns = self.0.iter().map(|(column, found)| (column.clone(), held(found)));
        (!self.0.is_empty()).then(|| columns.collect())
    }
}

fn read_file(file: &Rows, name: &str, wanted: &BTreeSet<u64>, found: &mut BTreeMap<u64, Value>) -> Result<(), Problem> {
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
                    let value = row.get_column_iter().next().map_or(Value::Null, |(_, value)| value_of(value));
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

/// Whether the Parquet reader makes values of this type without a panic.
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
                | Marked::DATE
                | Marked::TIME_MILLIS
                | Marked::DECIMAL
        ),
        Physical::INT64 => matches!(
            marked,
            Marked::NONE
                | Marked::INT_64
                | Marked::UINT_64
                | Marked::TIME_MICROS
                | Marked::TIMESTAMP_MILLIS
                | Marked::TIMESTAMP_MICROS
                | Marked::DECIMAL
        ),
        Physical::BYTE_ARRAY => {
            matches!(marked, Marked::NONE | Marked::UTF8 | Marked::ENUM | Marked::JSON | Marked::BSON | Marked::DECIMAL)
        }
        Physical::FIXED_LEN_BYTE_ARRAY => matches!(marked, Marked::NONE | Marked::DECIMAL),
        Physical::INT96 => false,
    }
}

/// A value as JSON, without loss: bytes are Base64, floats that JSON does not have are names, decimals are texts. Times
/// are in ISO 8601 without a zone: in UTC, if their column has one.
fn value_of(field: &Field) -> Value {
    let float = |value: f64| match value {
        _ if value.is_nan() => "NaN".into(),
        f64::INFINITY => "Infinity".into(),
        f64::NEG_INFINITY => "-Infinity".into(),
        _ => value.into(),
    };
    match field {
        Field::Null => Value::Null,
        Field::Bool(value) => (*value).into(),
        Field::Byte(value) => (*value).into(),
        Field::Short(value) => (*value).into(),
        Field::Int(value) => (*value).into(),
        Field::Long(value) => (*value).into(),
        Field::UByte(value) => (*value).into(),
        Field::UShort(value) => (*value).into(),
        Field::UInt(value) => (*value).into(),
        Field::ULong(value) => (*value).into(),
        Field::Float16(value) => float((*value).into()),
        Field::Float(value) => float((*value).into()),
        Field::Double(value) => float(*value),
        Field::Str(text) => text.as_str().into(),
        Field::Bytes(bytes) => json!({ "base64": STANDARD.encode(bytes.data()) }),
        Field::Group(row) => {
            row.get_column_iter().map(|(name, value)| (name.clone(), value_of(value))).collect::<Map<_, _>>().into()
        }
        Field::ListInternal(list) => list.elements().iter().map(value_of).collect(),
        // Pairs, because keys may be other than texts.
        Field::MapInternal(map) => {
            map.entries().iter().map(|(key, value)| json!([value_of(key), value_of(value)])).collect()
        }
        Field::Decimal(_) => field.to_string().trim_end_matches('.').into(),
        Field::Date(days) => match NaiveDate::from_epoch_days(*days) {
            Some(date) => date.to_string().into(),
            None => (*days).into(),
        },
        Field::TimeMillis(_) | Field::TimeMicros(_) => field.to_string().into(),
        Field::TimestampMillis(time) => time_of(*time, DateTime::from_timestamp_millis(*time)),
        Field::TimestampMicros(time) => time_of(*time, DateTime::from_timestamp_micros(*time)),
    }
}

/// A time as a text; the number in the file, if it is outside the calendar.
fn time_of(number: i64, time: Option<DateTime<Utc>>) -> Value {
    time.map_or(number.into(), |time| format!("{:?}", time.naive_utc()).into())
}
