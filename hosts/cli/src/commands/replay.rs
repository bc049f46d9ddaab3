use std::time::Instant;

use clap::Args;
use parquet::basic::Type;
use parquet::column::reader::ColumnReader;
use parquet::data_type::ByteArrayType;
use parquet::file::reader::{FileReader, RowGroupReader};
use schemars::JsonSchema;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::args::dataset::{Dataset, Rows, open, unreadable};
use crate::args::deal::{EpochArgs, ReaderArgs};
use crate::args::format::{Format, Output};
use crate::commands::numbers::joined;
use crate::read::decoded::Decoded;
use crate::write::{Cell, Items, Problem, excerpt, grouped, hexadecimal, note, print, print_json, progress};

/// How many samples are shown from either end.
const SHOWN: usize = 5;
/// The most letters of a sample that a table shows.
const LETTERS: usize = 40;
/// The number that is hashed as the length of a sample without a value: no real length is as large.
const NO_VALUE: u64 = u64::MAX;

#[derive(Args)]
pub struct ReplayArgs {
    #[command(flatten)]
    pub epoch: EpochArgs,
    #[command(flatten)]
    pub reader: ReaderArgs,
    /// The column to read, of strings or bytes
    #[arg(long, default_value = "text")]
    pub column: String,
    #[command(flatten)]
    pub output: Output,
}

/// The values that were read of a column.
#[derive(Serialize, JsonSchema)]
pub struct Replayed<'a> {
    /// The host that read it, and the version of its engine.
    engine: String,
    /// How many samples and batches were read.
    samples: usize,
    batches: u64,
    /// At most five samples from either end.
    first: &'a [u64],
    last: &'a [u64],
    /// How many samples have no value.
    nulls: u64,
    /// SHA-256 of the values, in the order of the samples.
    sha256: String,
    seconds: f64,
}

/// `samedeal replay`
pub fn run(args: &ReplayArgs) -> Result<(), Problem> {
    let began = Instant::now();
    args.epoch.with_batches()?;
    let (dataset, mut readers) = args.epoch.open()?;
    if dataset.files.is_empty() {
        return Err(Problem::message("PATH is missing; needed: the Parquet files to read, or their directories"));
    }
    let reader = readers.reader(args.reader.rank, args.reader.worker.unwrap_or(0))?;
    let mut samples = Vec::new();
    for window in reader.windows(0, reader.samples.min(reader.batches.saturating_mul(reader.size))) {
        samples.extend(window?.1);
    }
    let share = Share::read(&dataset, samples.clone(), &args.column)?;
    let mut hash = Sha256::new();
    let mut nulls = 0_u64;
    for value in samples.iter().map(|&sample| share.get(sample)) {
        hash.update(value.map_or(NO_VALUE, |bytes| bytes.len() as u64).to_le_bytes());
        hash.update(value.unwrap_or_default());
        nulls += u64::from(value.is_none());
    }
    let sha256 = hexadecimal(&hash.finalize());
    let seconds = began.elapsed().as_secs_f64();
    let engine = format!("rust ({})", samedeal::ENGINE);
    let (count, batches) = (samples.len(), reader.batches);
    let [first, last] = [&samples[..count.min(SHOWN)], &samples[count.saturating_sub(SHOWN)..]];
    match args.output.format() {
        Format::Table => {
            let columns = [&["index", "sample"], dataset.columns(), &[args.column.as_str()]].concat();
            let mut items = Items::new(columns);
            for (index, &sample) in (0..).zip(&samples).filter(|(index, _)| *index < SHOWN || index + SHOWN >= count) {
                let value = share.get(sample);
                let contents =
                    value.map_or_else(String::new, |it| excerpt(&String::from_utf8_lossy(it), LETTERS)).into();
                items.push(
                    [(index as u64).into(), sample.into()].into_iter().chain(dataset.row(sample)).chain([contents]),
                );
            }
            items.print(Format::Table)?;
            let who = reader.who();
            let [samples, batches, size] = [count as u64, batches, reader.size].map(grouped);
            let without = if nulls > 0 { format!(", {} without a value", grouped(nulls)) } else { String::new() };
            note(format!("{who}: {samples} samples in {batches} batches of {size}{without}, {seconds:.2} s"))?;
            print(format!("sha256 {sha256}"))
        }
        Format::Json => print_json(&Replayed { engine, samples: count, batches, first, last, nulls, sha256, seconds }),
        format => {
            let mut items = Items::new(["name", "value"]);
            let words = |samples: &[u64]| match format {
                Format::Text => samples.iter().copied().map(Cell::from).collect(),
                _ => vec![joined(samples, " ").into()],
            };
            for (name, value) in [
                ("engine", vec![engine.into()]),
                ("samples", vec![(count as u64).into()]),
                ("batches", vec![batches.into()]),
                ("first", words(first)),
                ("last", words(last)),
                ("nulls", vec![nulls.into()]),
                ("sha256", vec![sha256.into()]),
                ("seconds", vec![seconds.to_string().into()]),
            ] {
                items.push([name.into()].into_iter().chain(value));
            }
            items.print(format)
        }
    }
}

/// The contents of the samples that a rank is dealt.
struct Share {
    /// The samples in ascending order, each once.
    samples: Vec<u64>,
    /// The end of the contents of each sample in `bytes`.
    ends: Vec<usize>,
    bytes: Vec<u8>,
    /// The samples that have no value, ascending.
    nulls: Vec<u64>,
}

impl Share {
    /// Reads a column, file after file, and stores its values for the samples.
    fn read(dataset: &Dataset, mut samples: Vec<u64>, column: &str) -> Result<Self, Problem> {
        samples.sort_unstable();
        samples.dedup();
        let mut share = Self { ends: Vec::with_capacity(samples.len()), samples, bytes: Vec::new(), nulls: Vec::new() };
        let bar = progress::bar("reading", dataset.files.len() as u64);
        for file in &dataset.files {
            share.read_file(file, column)?;
            bar.inc(1);
        }
        Ok(share)
    }

    fn read_file(&mut self, file: &Rows, column: &str) -> Result<(), Problem> {
        let reader = open(&file.path)?;
        let schema = reader.metadata().file_metadata().schema_descr();
        let Some(number) = schema.columns().iter().position(|found| found.path().string() == column) else {
            let known = schema.columns().iter().map(|found| found.path().string()).collect::<Vec<_>>().join(", ");
            return Err(Problem::of(&file.path, format!("has no column {column:?}; name one with --column: {known}")));
        };
        let described = schema.column(number);
        if described.physical_type() != Type::BYTE_ARRAY || described.max_rep_level() > 0 {
            return Err(Problem::of(&file.path, format!("its column {column:?} does not hold strings or bytes")));
        }
        let nullable = described.max_def_level();
        let mut first = file.first;
        for group in 0..reader.num_row_groups() {
            let end = first.saturating_add(reader.metadata().row_group(group).num_rows().unsigned_abs());
            if self.next().is_some_and(|sample| sample < end) {
                let group = reader.get_row_group(group).map_err(|error| unreadable(&file.path, &error))?;
                self.read_group(&*group, number, nullable, first, end).map_err(|why| Problem::of(&file.path, why))?;
            }
            first = end;
        }
        match self.next() {
            Some(sample) if sample < file.first + file.count => {
                Err(Problem::of(&file.path, "its parts hold fewer rows than its footer says"))
            }
            _ => Ok(()),
        }
    }

    /// Stores the values that `samples` have in one row group. The rows of the row group are the samples `first` to
    /// before `end` of the dataset.
    fn read_group(
        &mut self,
        group: &dyn RowGroupReader,
        column: usize,
        nullable: i16,
        mut first: u64,
        end: u64,
    ) -> Result<(), String> {
        let corrupt = |error| format!("cannot be read as Parquet: {error}");
        let ColumnReader::ByteArrayColumnReader(mut reader) = group.get_column_reader(column).map_err(corrupt)? else {
            return Err("its column changes its type".to_owned());
        };
        let mut rows = Decoded::<ByteArrayType>::default();
        while self.next().is_some_and(|sample| sample < end) {
            let count = rows.decode(&mut reader, nullable, 0).map_err(corrupt)?;
            if count == 0 {
                return Err(format!("ends after {first} samples of the dataset, where its footer says {end}"));
            }
            let mut values = rows.values.iter();
            for row in 0..count {
                let value = if rows.is_null(row, nullable) { None } else { values.next() };
                if self.next() == Some(first + row as u64) {
                    match value {
                        Some(value) => self.bytes.extend_from_slice(value.data()),
                        None => self.nulls.push(first + row as u64),
                    }
                    self.ends.push(self.bytes.len());
                }
            }
            first += count as u64;
        }
        Ok(())
    }

    /// The next sample whose value is to be stored.
    fn next(&self) -> Option<u64> {
        self.samples.get(self.ends.len()).copied()
    }

    /// The value of a sample of this rank, if it has one.
    fn get(&self, sample: u64) -> Option<&[u8]> {
        if self.nulls.binary_search(&sample).is_ok() {
            return None;
        }
        let place = self.samples.partition_point(|&other| other < sample);
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some(&self.bytes[start..self.ends[place]])
    }
}
