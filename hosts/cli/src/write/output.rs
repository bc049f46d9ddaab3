use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::write::partial::Partial;
use crate::write::problem::Problem;

/// Where an answer goes: standard output, or a file that appears under its name once it is complete.
pub struct Sink {
    writer: BufWriter<Box<dyn Write + Send>>,
    /// None for what appears at once.
    file: Option<Partial>,
    is_standard: bool,
}

impl Sink {
    pub fn new(path: Option<&Path>) -> Result<Self, Problem> {
        let (writer, file): (Box<dyn Write + Send>, _) = match path {
            None => (Box::new(io::stdout()), None),
            Some(path) => {
                let failed = |error: io::Error| Problem::of(path, error);
                let name = path.file_name().ok_or_else(|| Problem::of(path, "is not the name of a file"))?;
                if fs::metadata(path).is_ok_and(|known| !known.is_file()) {
                    // A device or a pipe: a renaming would put a file in its place. A folder cannot be written.
                    (Box::new(File::options().write(true).open(path).map_err(failed)?), None)
                } else {
                    let (partial, file) = Partial::create(path, name).map_err(failed)?;
                    (Box::new(file), Some(partial))
                }
            }
        };
        Ok(Self { writer: BufWriter::with_capacity(1 << 16, writer), file, is_standard: path.is_none() })
    }

    /// Whether bytes would go to a terminal, which shows them as rubbish.
    pub fn is_terminal(&self) -> bool {
        self.is_standard && io::stdout().is_terminal()
    }

    /// How many columns the reader has: those of a terminal, or what COLUMNS says in its place. None if nobody says it.
    pub fn width(&self) -> Option<u16> {
        let said = || std::env::var("COLUMNS").ok()?.parse().ok().filter(|&width| width > 0);
        match self.is_standard {
            true if self.is_terminal() => {
                terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| width.0).or_else(said)
            }
            true => said(),
            false => None,
        }
    }

    pub fn finish(mut self) -> Result<(), Problem> {
        self.flush()?;
        let Some(partial) = self.file.take() else { return Ok(()) };
        let path = partial.path().to_owned();
        partial.complete().map_err(|error| Problem::of(&path, error))
    }

    /// `finish`, once an answer was given besides: there is no file where that failed. A reader that has gone away changes nothing.
    pub fn finish_after(self, answered: Result<(), Problem>) -> Result<(), Problem> {
        if matches!(answered, Ok(()) | Err(Problem::Unheard)) {
            self.finish()?;
        }
        answered
    }

    /// The error, with the name of the file that it is of.
    fn named(&self, error: io::Error) -> io::Error {
        match &self.file {
            Some(partial) => io::Error::new(error.kind(), format!("{}: {error}", partial.path().display())),
            None => error,
        }
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes).map_err(|error| self.named(error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush().map_err(|error| self.named(error))
    }
}

/// Writes an answer that is a text: to standard output, or to a file.
pub fn write_text(path: Option<&Path>, text: &str) -> Result<(), Problem> {
    let mut sink = Sink::new(path)?;
    writeln!(sink, "{text}")?;
    sink.finish()
}

/// A number with a comma after every three digits.
pub fn grouped(number: u64) -> String {
    indicatif::HumanCount(number).to_string()
}

pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A part of a whole.
pub fn percent(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}

/// So many things, by their name.
pub fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(count), if count == 1 { one } else { many })
}

/// Whether --quiet was given.
static QUIET: AtomicBool = AtomicBool::new(false);

pub fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

pub fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Prints what is said of a table, below it.
pub fn note(text: impl std::fmt::Display) -> Result<(), Problem> {
    if is_quiet() { Ok(()) } else { print(text) }
}

/// Prints an answer in one piece, with the line feed that ends it.
pub fn print(text: impl std::fmt::Display) -> Result<(), Problem> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    Ok(out.flush()?)
}

/// The result of a check, once it is printed: `None` if nothing failed, but something was not checked. The exit code is an answer of its
/// own, which a reader that has gone away does not change.
pub fn verdict(printed: Result<(), Problem>, passed: Option<bool>) -> Result<bool, Problem> {
    match printed {
        Ok(()) | Err(Problem::Unheard) => Ok(passed != Some(false)),
        Err(problem) => Err(problem),
    }
}
