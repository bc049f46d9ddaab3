//! The lengths of samples, from files of several formats.

mod collected;
mod columns;
mod json;
pub mod npy;
mod parquet;
mod parts;
mod text;
mod unit;

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use collected::Collected;
use indicatif::ProgressBar;
use parts::Parts;
pub use parts::Use;
pub use unit::Unit;

use crate::args::dataset::{Dataset, Rows, find};
use crate::write::{Problem, counted, grouped, progress};

/// The lengths of the samples of a dataset.
pub struct Lengths {
    /// The length of every sample: first those of the first file, then those of the next.
    pub values: Arc<[u32]>,
    /// The files of the samples, with a row for each sample.
    pub dataset: Dataset,
    /// The unit of the lengths: words, characters, bytes, items or, if lengths are stored as numbers, tokens.
    pub unit: &'static str,
}

impl Lengths {
    /// Reads files, or the Parquet files below directories. `column` is the column to read, if files have columns.
    pub fn read(paths: &[PathBuf], column: Option<&str>, asked: Option<Unit>) -> Result<Self, Problem> {
        let collected = Collected { asked, ..Collected::default() };
        let (collected, dataset) = collect(paths, column, collected, "reading lengths")?;
        let Collected { lengths, unit, .. } = collected;
        match (unit, &dataset.files[..]) {
            (Some(unit), _) => Ok(Self { values: lengths.into(), dataset, unit }),
            (None, [file]) => Err(Problem::of(&file.path, "holds no samples; name another file")),
            (None, _) => Err(Problem::message("none of the files holds a sample; name others")),
        }
    }
}

/// The part of each sample, by its id or its key. With `Use::Sizes`, the list is empty: ids are only counted. Ids and
/// keys are read from files, in the formats of lengths, or from the lines of standard input.
pub fn parts(
    paths: &[PathBuf],
    column: Option<&str>,
    used: Use,
    are_keys: bool,
) -> Result<(Vec<u32>, Dataset), Problem> {
    let mut collected = Collected { parts: Some(Parts::new(used, are_keys)), ..Collected::default() };
    let mut dataset = Dataset::default();
    match paths {
        [path] if path.as_path() == Path::new("-") => {
            let read = without(column, "a text with a sample in each line", collected.option());
            let read = read.and_then(|()| text::read_lines(io::stdin().lock(), &mut collected));
            read.map_err(|why| Problem::of(path, why))?;
        }
        _ => (collected, dataset) = collect(paths, column, collected, "reading ids")?,
    }
    let parts = collected.parts.map_or(Ok(Vec::new()), Parts::finish).map_err(Problem::worded)?;
    dataset.samples = parts.len() as u64;
    Ok((parts, dataset))
}

/// Adds the values in the files. The dataset has the files, with how many samples each has.
fn collect(
    paths: &[PathBuf],
    column: Option<&str>,
    mut collected: Collected,
    doing: &'static str,
) -> Result<(Collected, Dataset), Problem> {
    let files = find(paths)?;
    let sizes = files.iter().map(|file| file.path.metadata().map_or(0, |metadata| metadata.len()));
    let bar = progress::bar(doing, sizes.sum());
    let mut dataset = Dataset::default();
    for file in &files {
        read(&file.path, column, &mut collected, &bar)?;
        let count = collected.len() as u64 - dataset.samples;
        dataset.push(Rows { path: file.path.clone(), first: dataset.samples, count, bytes: 0 });
    }
    Ok((collected, dataset))
}

impl Lengths {
    /// The lengths for a batcher, without a copy. `bar` counts the lengths that planning asks for.
    pub fn given(&self, bar: &ProgressBar) -> samedeal::Lengths {
        let (values, bar) = (Arc::clone(&self.values), bar.clone());
        samedeal::Lengths::from_fn(values.len() as u64, move |samples| {
            bar.inc(samples.len() as u64);
            Ok(samples.iter().map(|&sample| values[sample as usize]).collect())
        })
    }

    /// The number of samples and their lengths, in words.
    pub fn summary(&self) -> String {
        let (least, most) = (self.values.iter().min().unwrap_or(&0), self.values.iter().max().unwrap_or(&0));
        let all = self.values.iter().map(|&length| u64::from(length)).sum();
        let [least, most, all] = [u64::from(*least), u64::from(*most), all].map(grouped);
        let samples = counted(self.values.len() as u64, "sample", "samples");
        format!("{samples} of {least} to {most} {}, {all} together", self.unit)
    }
}

/// Adds the lengths of a file. Its first bytes decide the format, or else the ending of its name.
fn read(path: &Path, column: Option<&str>, lengths: &mut Collected, bar: &ProgressBar) -> Result<(), Problem> {
    let file = File::open(path).map_err(|error| Problem::of(path, error))?;
    let mut file = BufReader::with_capacity(1 << 16, file);
    let begin = file.fill_buf().map_err(|error| Problem::of(path, error))?;
    let extension = path.extension().map(|it| it.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    if begin.starts_with(b"PAR1") || extension == "parquet" {
        return parquet::read(path, column, lengths, bar);
    }
    let is_array = begin.starts_with(b"\x93NUMPY") || extension == "npy";
    // Text has no zero bytes, and compressed files have one soon.
    let is_binary = begin.contains(&0);
    let is_list = begin.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[');
    let file = BufReader::with_capacity(1 << 16, bar.wrap_read(file));
    let option = lengths.option();
    let read = match extension.as_str() {
        _ if is_array => without(column, "a NumPy array", option).and_then(|()| npy::read(file, lengths)),
        "json" if is_list => json::read_array(file, column, lengths),
        "json" => json::read_objects(file, column, lengths),
        "jsonl" | "ndjson" => json::read_lines(file, column, lengths),
        "csv" => text::read_table(file, b',', column, lengths),
        "tsv" => text::read_table(file, b'\t', column, lengths),
        _ if is_binary => Err("is no text; allowed: Parquet, .npy, .json, .jsonl, .csv, .tsv, or text".to_owned()),
        _ => {
            without(column, "a file with a sample in each line", option).and_then(|()| text::read_lines(file, lengths))
        }
    };
    read.map_err(|why| Problem::of(path, why))
}

/// Refuses the name of a column for a file without columns.
fn without(column: Option<&str>, what: &str, option: &str) -> Result<(), String> {
    column.map_or(Ok(()), |column| Err(format!("is {what}, without columns; leave {column:?} out after {option}")))
}
