//! The column of a Parquet file that has lengths, and how to read them.

use parquet::basic::{ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::schema::types::{ColumnDescriptor, SchemaDescriptor, Type};

/// A column of lengths, or of values that have a length.
pub struct Column {
    /// The name as it was given.
    pub name: String,
    /// Number of the column in the file; the first of several, if its lists have items with several parts.
    pub number: usize,
    pub kind: Kind,
    /// The definition level of entries that have a value.
    pub nullable: i16,
    /// The number of lists that are nested in one another.
    pub repeated: i16,
}

/// The way to get a length from a value of the column.
#[derive(Clone, Copy)]
pub enum Kind {
    Numbers {
        is_signed: bool,
    },
    Text,
    Bytes,
    /// Lists, or maps. The definition level of their items is at least `item`; an empty list has one less.
    Lists {
        item: i16,
    },
}

impl Column {
    /// Finds a column by its name. `option` is the option that names a column, for messages.
    pub fn find(schema: &SchemaDescriptor, name: Option<&str>, option: &str) -> Result<Self, String> {
        let known = |schema: &SchemaDescriptor| {
            let mut names = schema.columns().iter().map(|column| shown(schema, column)).collect::<Vec<_>>();
            names.dedup();
            names.join(", ")
        };
        let Some(name) = name else {
            return Err(format!("has columns; name one with {option}: {}", known(schema)));
        };
        let within = format!("{name}.");
        let parts = schema.columns().iter().enumerate().filter(|(_, column)| {
            let path = column.path().string();
            path == name || path.starts_with(&within)
        });
        let parts = parts.collect::<Vec<_>>();
        let Some(&(number, column)) = parts.first() else {
            return Err(format!("has no column {name:?}; name one with {option}: {}", known(schema)));
        };
        let kind = match first_list(schema.root_schema(), column.path().parts()) {
            Some((_, item)) => Kind::Lists { item },
            None if column.path().string() != name => {
                let parts = parts.iter().map(|(_, column)| shown(schema, column)).collect::<Vec<_>>().join(", ");
                return Err(format!("its column {name:?} is a group; name one with {option}: {parts}"));
            }
            None => kind(column).ok_or_else(|| refused(name, column))?,
        };
        let (nullable, repeated) = (column.max_def_level(), column.max_rep_level());
        Ok(Self { name: name.to_owned(), number, kind, nullable, repeated })
    }
}

/// The name of a column, without the inner parts of its lists.
fn shown(schema: &SchemaDescriptor, column: &ColumnDescriptor) -> String {
    let path = column.path().parts();
    let end = first_list(schema.root_schema(), path).map_or(path.len(), |(place, _)| place.max(1));
    path[..end].join(".")
}

/// The place in `path` of the first field that repeats, and the definition level of its elements.
fn first_list(root: &Type, path: &[String]) -> Option<(usize, i16)> {
    let (mut node, mut level) = (root, 0);
    for (place, name) in path.iter().enumerate() {
        node = node.get_fields().iter().find(|field| field.name() == name)?;
        match node.get_basic_info().repetition() {
            Repetition::REQUIRED => {}
            Repetition::OPTIONAL => level += 1,
            Repetition::REPEATED => return Some((place, level + 1)),
        }
        if node.is_primitive() {
            break;
        }
    }
    None
}

/// The kind of a column without lists, if its values have a length.
fn kind(column: &ColumnDescriptor) -> Option<Kind> {
    use ConvertedType as Marked;
    let is_number = matches!(column.physical_type(), Physical::INT32 | Physical::INT64);
    let is_bytes = column.physical_type() == Physical::BYTE_ARRAY;
    match (column.logical_type_ref(), column.converted_type()) {
        (Some(LogicalType::Integer(marked)), _) if is_number => Some(Kind::Numbers { is_signed: marked.is_signed }),
        (Some(LogicalType::String | LogicalType::Enum | LogicalType::Json), _) if is_bytes => Some(Kind::Text),
        (Some(_), _) => None,
        (None, Marked::NONE | Marked::INT_8 | Marked::INT_16 | Marked::INT_32 | Marked::INT_64) if is_number => {
            Some(Kind::Numbers { is_signed: true })
        }
        (None, Marked::UINT_8 | Marked::UINT_16 | Marked::UINT_32 | Marked::UINT_64) if is_number => {
            Some(Kind::Numbers { is_signed: false })
        }
        (None, Marked::UTF8 | Marked::ENUM | Marked::JSON) if is_bytes => Some(Kind::Text),
        (None, Marked::NONE | Marked::BSON) if is_bytes => Some(Kind::Bytes),
        _ => None,
    }
}

fn refused(name: &str, column: &ColumnDescriptor) -> String {
    let marked = match (column.logical_type_ref(), column.converted_type()) {
        (None, ConvertedType::NONE) => String::new(),
        (None, marked) => format!(" ({marked})"),
        // The name of the type, without its parameters.
        (Some(marked), _) => {
            let marked = format!("{marked:?}");
            format!(" ({})", marked.split(['(', '{', ' ']).next().unwrap_or_default())
        }
    };
    let allowed = "allowed: whole numbers, text, bytes, or lists";
    format!("its column {name:?} holds values of the type {}{marked}; {allowed}", column.physical_type())
}
