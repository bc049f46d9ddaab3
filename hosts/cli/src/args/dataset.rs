use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};

use crate::args::values::number;
use crate::write::{Cell, Problem, progress};

/// The dataset that is dealt: a number of samples, or the rows of Parquet files.
#[derive(Args)]
#[group(multiple = false)]
pub struct DatasetArgs {
    /// Parquet files, or directories. A directory stands for all *.parquet below it, in the byte order of their paths, without names
    /// that begin with . or _. The samples are the rows of all files, one file after the other
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Number of samples, such as 50000, 50_000 or 5e4
    #[arg(long, value_name = "N", value_parser = number)]
    pub samples: Option<u64>,
    /// The dataset, once the recipe or the state was read. Kept, so that the footers of the files are read only once.
    #[arg(skip)]
    pub known: Option<Dataset>,
}

/// A dataset: a number of samples, which may be the rows of files, one file after the other.
#[derive(Clone, Default)]
pub struct Dataset {
    pub samples: u64,
    pub files: Vec<Rows>,
    /// The number of samples in each file, if a recipe or a state has it and no file is named.
    pub sizes: Option<Vec<u64>>,
}

/// A file that cannot be read.
pub struct Unreadable {
    pub path: PathBuf,
    /// Whether the path was named on the command line. Otherwise it was found below a directory.
    pub named: bool,
    pub why: Problem,
}

/// A file, and the run of samples that its rows are.
#[derive(Clone)]
pub struct Rows {
    pub path: PathBuf,
    /// Index of the sample in the first row.
    pub first: u64,
    pub count: u64,
    /// The compressed bytes of the row groups of a Parquet file; 0 for any other file.
    pub bytes: u64,
}

impl Dataset {
    pub fn new(args: &DatasetArgs) -> Result<Self, Problem> {
        match (&args.known, args.samples) {
            (Some(known), _) => Ok(known.clone()),
            (None, Some(samples)) => Ok(Self { samples, ..Self::default() }),
            (None, None) if args.paths.is_empty() => Err(Problem::message(
                "the samples are missing; needed: a PATH, --samples <N>, --recipe <FILE> or --resume <FILE>",
            )),
            (None, None) => Self::of_files(&args.paths),
        }
    }

    /// The dataset of the files at these paths. The number of rows of a file, and their bytes, come from its footer.
    pub fn of_files(paths: &[PathBuf]) -> Result<Self, Problem> {
        Self::of(paths, |broken| Err(broken.why))
    }

    /// The dataset at these paths. `broken` is called for each file that cannot be read: `Ok` leaves the file out, an
    /// error ends the search.
    pub fn of(paths: &[PathBuf], mut broken: impl FnMut(Unreadable) -> Result<(), Problem>) -> Result<Self, Problem> {
        let paths = find(paths)?;
        let mut dataset = Self { files: Vec::with_capacity(paths.len()), ..Self::default() };
        let bar = progress::bar("reading footers", paths.len() as u64);
        for Found { path, named } in paths {
            match footer(&path) {
                Ok((count, bytes)) => {
                    let first = dataset.samples;
                    dataset.push(Rows { path, first, count, bytes });
                }
                Err(why) => broken(Unreadable { path, named, why })?,
            }
            bar.inc(1);
        }
        Ok(dataset)
    }

    /// Adds a file, whose first row is the next sample.
    pub fn push(&mut self, file: Rows) {
        self.samples = self.samples.saturating_add(file.count);
        self.files.push(file);
    }

    /// The number of rows of each file; `None` if the dataset is only a number of samples.
    pub fn sizes(&self) -> Option<Vec<u64>> {
        match self.files.is_empty() {
            true => self.sizes.clone(),
            false => Some(self.files.iter().map(|file| file.count).collect()),
        }
    }

    /// The columns for the place of a sample; none if the dataset is only a number of samples.
    pub fn columns(&self) -> &'static [&'static str] {
        if self.files.is_empty() { &[] } else { &["file", "row"] }
    }

    /// The cells for [`Self::columns`]: the file and the row of a sample.
    pub fn row(&self, sample: u64) -> Vec<Cell> {
        self.stored(sample).map_or(Vec::new(), |(file, row)| vec![file.into(), row.into()])
    }

    /// Where a sample is stored, for answers: the path of the file, and the row.
    pub fn stored(&self, sample: u64) -> Option<(String, u64)> {
        self.place(sample).map(|(path, row)| (path.display().to_string(), row))
    }

    /// The file that holds a sample, and the row in it.
    pub fn place(&self, sample: u64) -> Option<(&Path, u64)> {
        let after = self.files.partition_point(|file| file.first <= sample);
        let file = self.files[..after].last()?;
        Some((&file.path, sample - file.first))
    }
}

/// How many rows a file has, and how many bytes they take, compressed.
pub fn footer(path: &Path) -> Result<(u64, u64), Problem> {
    let reader = open(path)?;
    let metadata = reader.metadata();
    let says = |number: i64, what| {
        u64::try_from(number).map_err(|_| Problem::of(path, format!("says that it has {number} {what}")))
    };
    let rows = says(metadata.file_metadata().num_rows(), "rows")?;
    let (mut in_groups, mut bytes) = (0_u64, 0_u64);
    for group in metadata.row_groups() {
        in_groups = in_groups.saturating_add(says(group.num_rows(), "rows in a row group")?);
        for column in group.columns() {
            bytes = bytes.saturating_add(says(column.compressed_size(), "bytes in a column")?);
        }
    }
    if rows != in_groups {
        let what = format!("says that it has {rows} rows, and {in_groups} in its row groups; write it again");
        return Err(Problem::of(path, what));
    }
    Ok((rows, bytes))
}

pub fn open(path: &Path) -> Result<SerializedFileReader<File>, Problem> {
    let file = File::open(path).map_err(|error| Problem::of(path, error))?;
    SerializedFileReader::new(file).map_err(|error| {
        let what = "it is no Parquet file, or it is cut off: take it out of the folder or write it again";
        Problem::message(format!("{}; {what}", unreadable(path, &error)))
    })
}

pub fn unreadable(path: &Path, error: &ParquetError) -> Problem {
    Problem::of(path, format!("cannot be read as Parquet: {error}"))
}

/// A file to be read. It was `named` on the command line, or found below a directory.
pub struct Found {
    pub path: PathBuf,
    pub named: bool,
}

/// The files of `paths`, see [`all`]. A file that is there twice is an error: its samples would be seen twice in every
/// epoch.
pub fn find(paths: &[PathBuf]) -> Result<Vec<Found>, Problem> {
    let paths = all(paths)?;
    let mut known = HashMap::with_capacity(paths.len());
    for Found { path, .. } in &paths {
        // A path that does not exist fails later, when it is read.
        let Ok(real) = fs::canonicalize(path) else { continue };
        if let Some(before) = known.insert(real, path) {
            let what = format!("the same file as {}, which would be read twice; leave one out", before.display());
            return Err(Problem::of(path, what));
        }
    }
    Ok(paths)
}

/// The Parquet files of `paths`. A directory stands for the files that [`Search`] finds in it.
fn all(paths: &[PathBuf]) -> Result<Vec<Found>, Problem> {
    let mut found = Vec::new();
    for path in paths {
        if path.to_str().is_none() {
            return Err(not_utf8(path));
        }
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => {}
            // Only regular files are opened: opening a FIFO would wait for a writer.
            Ok(metadata) if !metadata.is_file() => {
                return Err(Problem::of(path, "is no regular file but a pipe, a socket or a device; name a file"));
            }
            // A path that does not exist fails later, when it is read.
            Ok(_) | Err(_) => {
                found.push(Found { path: path.clone(), named: true });
                continue;
            }
        }
        let mut search = Search { found: Vec::new(), above: Vec::new() };
        search.directory(path, "")?;
        if search.found.is_empty() {
            return Err(Problem::of(path, "holds no *.parquet files; name a directory that does, or the files"));
        }
        search.found.sort_unstable();
        found.extend(search.found.into_iter().map(|(_, path)| Found { path, named: false }));
    }
    Ok(found)
}

fn not_utf8(path: &Path) -> Problem {
    Problem::of(path, "is a name that is not UTF-8; rename it")
}

/// The search for the files of a directory: every regular file below it, at any depth, whose name ends in `.parquet`,
/// in the order of the bytes of their paths relative to the directory, with `/` between the parts. Names that begin
/// with `.` or `_` are passed over. Links are followed. A link or a directory that cannot be read is an error, so that
/// no file is left out silently.
struct Search {
    /// The files found, each after its path relative to the directory, which is the sort key.
    found: Vec<(String, PathBuf)>,
    /// The real paths of the directories from the first to the current one. A link to one of them, or to a directory
    /// above it, would make the search endless.
    above: Vec<PathBuf>,
}

impl Search {
    fn directory(&mut self, directory: &Path, prefix: &str) -> Result<(), Problem> {
        let failed = |error: io::Error| Problem::of(directory, error);
        let real = fs::canonicalize(directory).map_err(failed)?;
        if self.above.iter().any(|above| above.starts_with(&real)) {
            return Err(Problem::of(directory, "is a link that leads back to a directory above it; take it out"));
        }
        self.above.push(real);
        for entry in fs::read_dir(directory).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let (name, path) = (entry.file_name(), entry.path());
            if name.as_encoded_bytes().starts_with(b".") || name.as_encoded_bytes().starts_with(b"_") {
                continue;
            }
            let Some(name) = name.to_str() else { return Err(not_utf8(&path)) };
            let key = format!("{prefix}{name}");
            let metadata = fs::metadata(&path).map_err(|error| match entry.file_type() {
                Ok(kind) if kind.is_symlink() && error.kind() == io::ErrorKind::NotFound => {
                    Problem::of(&path, "is a link that leads nowhere; take it out, or put there what it leads to")
                }
                _ => Problem::of(&path, error),
            })?;
            if metadata.is_dir() {
                self.directory(&path, &format!("{key}/"))?;
            } else if metadata.is_file() && name.ends_with(".parquet") {
                self.found.push((key, path));
            }
        }
        self.above.pop();
        Ok(())
    }
}
