//! A Parquet file with columns of every kind that has lengths, and of some that have none.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type, Int96, Int96Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

const SCHEMA: &str = "message row {
    required int32 int;
    required int32 small (UINT_8);
    required int32 half (INTEGER(16,false));
    required int64 wide;
    required int64 unsigned (UINT_64);
    required int64 beyond (UINT_64);
    required int64 negative;
    optional int32 full;
    optional int32 holes;
    required binary text (STRING);
    required binary bytes;
    required binary latin (UTF8);
    required double double;
    required int64 time (TIMESTAMP(MICROS,true));
    required int64 late (TIMESTAMP(MICROS,true));
    required int96 old;
    repeated int32 legacy;
    optional group tokens (LIST) { repeated group list { optional int32 element; } }
    optional group nested (LIST) { repeated group list {
        required group element (LIST) { repeated group list { required int32 element; } } } }
    optional group missing (LIST) { repeated group list { optional int32 element; } }
    required group meta { optional int32 length; required binary name (STRING); }
}";

/// Writes two row groups with the same three rows.
pub fn write(path: &Path) {
    let schema = Arc::new(parse_message_type(SCHEMA).unwrap());
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(File::create(path).unwrap(), schema, properties).unwrap();
    for _ in 0..2 {
        let mut group = writer.next_row_group().unwrap();
        column::<Int32Type>(&mut group, &[3, 0, i32::MAX], &[], &[]);
        column::<Int32Type>(&mut group, &[1, 200, 255], &[], &[]);
        column::<Int32Type>(&mut group, &[1, 2, 65_535], &[], &[]);
        column::<Int64Type>(&mut group, &[5, 6, 4_294_967_295], &[], &[]);
        column::<Int64Type>(&mut group, &[5, 6, 7], &[], &[]);
        column::<Int64Type>(&mut group, &[5, -1, 7], &[], &[]);
        column::<Int64Type>(&mut group, &[5, 6, -7], &[], &[]);
        column::<Int32Type>(&mut group, &[7, 8, 9], &[1, 1, 1], &[]);
        column::<Int32Type>(&mut group, &[7, 9], &[1, 0, 1], &[]);
        let texts = ["two words", "", " naïve\tdéjà  vu "].map(ByteArray::from);
        column::<ByteArrayType>(&mut group, &texts, &[], &[]);
        column::<ByteArrayType>(&mut group, &[vec![0; 4], vec![255; 9], vec![]].map(ByteArray::from), &[], &[]);
        column::<ByteArrayType>(&mut group, &[b"ok".to_vec(), vec![233, 116], vec![]].map(ByteArray::from), &[], &[]);
        column::<DoubleType>(&mut group, &[1.0, f64::NAN, 3.0], &[], &[]);
        column::<Int64Type>(&mut group, &[1, 1_500_000, -1], &[], &[]);
        // The last time is so late that no calendar has it.
        column::<Int64Type>(&mut group, &[0, 86_400_000_000, i64::MAX], &[], &[]);
        column::<Int96Type>(&mut group, &[Int96::new(); 3], &[], &[]);
        // [1, 2], [], [3]
        column::<Int32Type>(&mut group, &[1, 2, 3], &[1, 1, 0, 1], &[0, 1, 0, 0]);
        // [1, null, 3], [], [null]
        column::<Int32Type>(&mut group, &[1, 3], &[3, 2, 3, 1, 2], &[0, 1, 1, 0, 0]);
        // [[1, 2], [], [3]], [], [[4, 5, 6, 7]]
        column::<Int32Type>(
            &mut group,
            &[1, 2, 3, 4, 5, 6, 7],
            &[3, 3, 2, 3, 1, 3, 3, 3, 3],
            &[0, 2, 1, 1, 0, 0, 2, 2, 2],
        );
        // [1], null, [2]
        column::<Int32Type>(&mut group, &[1, 2], &[3, 0, 3], &[0, 0, 0]);
        column::<Int32Type>(&mut group, &[11, 12, 13], &[1, 1, 1], &[]);
        column::<ByteArrayType>(&mut group, &["a", "b", "c"].map(ByteArray::from), &[], &[]);
        group.close().unwrap();
    }
    writer.close().unwrap();
}

fn column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, File>,
    values: &[T::T],
    levels: &[i16],
    repetitions: &[i16],
) {
    let given = |levels: &[i16]| if levels.is_empty() { None } else { Some(levels.to_vec()) };
    let (levels, repetitions) = (given(levels), given(repetitions));
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<T>().write_batch(values, levels.as_deref(), repetitions.as_deref()).unwrap();
    column.close().unwrap();
}
