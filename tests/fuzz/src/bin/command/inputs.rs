//! The files that command lines name: correct ones, and damaged copies.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fastrand::Rng;
use fuzz::doc::Doc;
use fuzz::hostile;
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

/// The names of all files.
pub const FILES: [&str; 13] = [
    "shards/a.parquet",
    "shards/b.parquet",
    "recipe.json",
    "batches.json",
    "blend.json",
    "state.json",
    "epoch.log",
    "lengths.json",
    "lengths.csv",
    "zip.pt",
    "legacy.pt",
    "lightning.ckpt",
    "sizes.txt",
];

pub struct Inputs {
    good: Vec<(&'static str, Vec<u8>)>,
}

impl Inputs {
    /// Makes a correct file of each sort.
    pub fn make(root: &Path, folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let mut good = Vec::new();
        for (at, name) in FILES.into_iter().enumerate() {
            let content = match name {
                "shards/a.parquet" | "shards/b.parquet" => parquet(&folder.join("new.parquet"), 5 + 8 * at as i64)?,
                "zip.pt" | "legacy.pt" | "lightning.ckpt" => fs::read(root.join("hosts/cli/tests/data").join(name))?,
                "recipe.json" => br#"{"order":{"samples":1000,"seed":3},"deal":{"world_size":4}}"#.to_vec(),
                "batches.json" => br#"{"order":{"seed":3},"deal":{"world_size":2},"batch":{"max_tokens":90}}"#.to_vec(),
                "blend.json" => {
                    br#"{"order":{"name":"blend","sources":[{"name":"a","samples":20,"weight":3},{"name":"b","samples":9}]}}"#.to_vec()
                }
                "state.json" => state(root)?.into_bytes(),
                "epoch.log" => log(root)?.into_bytes(),
                "lengths.json" => b"[3, 17, 40, 2, 9, 33, 1, 1, 60]".to_vec(),
                "lengths.csv" => b"id,length\n0,3\n1,17\n2,40\n".to_vec(),
                _ => b"3\n5\n9\n".to_vec(),
            };
            good.push((name, content));
        }
        Ok(Self { good })
    }

    /// Writes the files to a folder, some of them damaged.
    pub fn lay_out(&self, rng: &mut Rng, place: &Path) -> io::Result<()> {
        let _ = fs::remove_dir_all(place);
        fs::create_dir_all(place.join("shards"))?;
        for (name, content) in &self.good {
            let path: PathBuf = place.join(name);
            if rng.u8(0..4) > 0 {
                fs::write(path, content)?;
            } else if name.ends_with(".json") && rng.bool() {
                fs::write(path, hostile::deep(rng))?;
            } else {
                fs::write(path, hostile::damaged_bytes(rng, content))?;
            }
        }
        Ok(())
    }
}

/// A small file with two columns.
fn parquet(path: &Path, rows: i64) -> io::Result<Vec<u8>> {
    let schema = parse_message_type("message rows { required int64 number; required binary text (UTF8); }")?;
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(File::create(path)?, Arc::new(schema), properties)?;
    let mut group = writer.next_row_group()?;
    let numbers: Vec<i64> = (0..rows).collect();
    let texts: Vec<ByteArray> =
        numbers.iter().map(|number| ByteArray::from("x".repeat(*number as usize).as_str())).collect();
    let mut column = group.next_column()?.expect("the first of two");
    column.typed::<Int64Type>().write_batch(&numbers, None, None)?;
    column.close()?;
    let mut column = group.next_column()?.expect("the second of two");
    column.typed::<ByteArrayType>().write_batch(&texts, None, None)?;
    column.close()?;
    group.close()?;
    writer.close()?;
    fs::read(path)
}

/// A state of the golden cases.
fn state(root: &Path) -> io::Result<String> {
    let text = found(root, "state.json", |name, text| name == "state" && text.get("epoch").is_some())?;
    Ok(text.into_iter().next().unwrap_or_default())
}

/// The entries of a log of the golden cases, a line each.
fn log(root: &Path) -> io::Result<String> {
    let header = found(root, "ledger.json", |name, _| name == "header")?.into_iter().next().unwrap_or_default();
    let entries = found(root, "ledger.json", |name, _| name == "entry")?;
    Ok(std::iter::once(header).chain(entries.into_iter().take(12)).map(|line| line + "\n").collect())
}

fn found(root: &Path, file: &str, fits: impl Fn(&str, &Doc) -> bool) -> io::Result<Vec<String>> {
    let text = fs::read_to_string(root.join("tests/vectors").join(file))?;
    let cases = Doc::parse(&text).ok_or_else(|| io::Error::other(format!("{file} is no JSON")))?;
    let mut texts = Vec::new();
    cases.each("", &mut |name, value| {
        if let Doc::Nested(inner) = value
            && fits(name, inner)
        {
            texts.push(inner.to_text());
        }
    });
    Ok(texts)
}
