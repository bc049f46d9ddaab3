//! Parquet files for the tests of the command.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, Int32Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

/// The schema of the files. `note` is missing in every second row.
const SCHEMA: &str = "message row {
    required binary text (utf8);
    required int32 number;
    optional group words (list) { repeated group list { optional binary element (utf8); } }
    optional binary note (utf8);
}";

/// An empty directory for one test.
pub fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if path.exists() {
        fs::remove_dir_all(&path).unwrap();
    }
    fs::create_dir_all(&path).unwrap();
    path
}

/// A directory tree with Parquet files and other files.
pub struct Dataset {
    pub folder: PathBuf,
    /// For every sample: the file relative to the folder, the row, and the text.
    pub rows: Vec<(String, u64, String)>,
}

impl Dataset {
    pub fn write(name: &str) -> Self {
        let folder = folder(name);
        let mut rows = Vec::new();
        // The files are in the byte order of their paths: `.` comes before `/`, and upper case before lower case.
        for (file, count, compression) in [
            ("Z.parquet", 3, Compression::UNCOMPRESSED),
            ("a.parquet", 40, Compression::ZSTD(ZstdLevel::default())),
            ("a/b/deep.parquet", 1, Compression::SNAPPY),
            ("a/x.parquet", 0, Compression::SNAPPY),
            ("a0.parquet", 57, Compression::GZIP(Default::default())),
            ("b/c.parquet", 20, Compression::LZ4_RAW),
            ("b/d.parquet", 9, Compression::BROTLI(Default::default())),
        ] {
            let texts =
                (0..count).map(|row| format!("{file} {row} naïve {}", "déjà vu ".repeat(row))).collect::<Vec<_>>();
            let path = folder.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            write(&path, &texts, compression);
            rows.extend((0..).zip(texts).map(|(row, text)| (file.to_owned(), row, text)));
        }
        fs::write(folder.join("a/notes.txt"), "not Parquet").unwrap();
        fs::create_dir(folder.join("directory.parquet")).unwrap();
        Self { folder, rows }
    }
}

/// Writes a file in row groups of 16 rows.
fn write(path: &Path, texts: &[String], compression: Compression) {
    let schema = Arc::new(parse_message_type(SCHEMA).unwrap());
    let properties = Arc::new(WriterProperties::builder().set_compression(compression).build());
    let mut writer = SerializedFileWriter::new(fs::File::create(path).unwrap(), schema, properties).unwrap();
    for rows in texts.chunks(16) {
        let values = rows.iter().map(|text| ByteArray::from(text.as_str())).collect::<Vec<_>>();
        let numbers = (0..rows.len() as i32).collect::<Vec<_>>();
        let (zeros, threes) = (vec![0; rows.len()], vec![3; rows.len()]);
        let present = (0..rows.len()).map(|row| i16::from(row % 2 == 0)).collect::<Vec<_>>();
        let notes = values.iter().step_by(2).cloned().collect::<Vec<_>>();
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<ByteArrayType>().write_batch(&values, None, None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<Int32Type>().write_batch(&numbers, None, None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<ByteArrayType>().write_batch(&values, Some(&threes), Some(&zeros)).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<ByteArrayType>().write_batch(&notes, Some(&present), None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
    }
    writer.close().unwrap();
}
