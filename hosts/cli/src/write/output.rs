use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::write::partial::Partial;
use crate::write::problem::Problem;

/// Where an answer goes: standard output, or a file that appears under its name once it is complete.
pub struct Sink {
    writer: BufWriter<Box<dyn Write + Send>>,
    /// The file until it is complete; none for an output that is written directly.
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
                    // A device or a pipe is written directly: renaming would put a file in its place. A folder cannot
                    // be opened.
                    (Box::new(File::options().write(true).open(path).map_err(failed)?), None)
                } else {
                    let (partial, file) = Partial::create(path, name).map_err(failed)?;
                    (Box::new(file), Some(partial))
                }
            }
        };
        Ok(Self { writer: BufWriter::with_capacity(1 << 16, writer), file, is_standard: path.is_none() })
    }

    /// Whether the output is a terminal, which cannot show bytes.
    pub fn is_terminal(&self) -> bool {
        self.is_standard && io::stdout().is_terminal()
    }

    /// The width of standard output in letters: that of the terminal, or else the variable COLUMNS. `None` if neither
    /// is known, or for a file.
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

    /// [`Self::finish`] after another answer was printed. If that failed, no file appears. A closed pipe is no failure.
    pub fn finish_after(self, answered: Result<(), Problem>) -> Result<(), Problem> {
        if matches!(answered, Ok(()) | Err(Problem::Unheard)) {
            self.finish()?;
        }
        answered
    }

    /// The error, with the name of the file, if there is one.
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

/// A part of a whole as a percentage. A share below 0.01 % has two significant digits: with two decimals, it would be
/// 0.00 %, or 0.01 % for nearly twice as much.
pub fn percent(share: f64) -> String {
    match 100.0 * share {
        percent if percent > 0.0 && percent < 0.001 => format!("{percent:.1e} %"),
        percent if percent > 0.0 && percent < 0.01 => format!("{percent:.4} %"),
        percent => format!("{percent:.2} %"),
    }
}

/// A count and its noun: `one` for 1, otherwise `many`.
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

/// Prints a note below a table, unless --quiet is given.
pub fn note(text: impl std::fmt::Display) -> Result<(), Problem> {
    if is_quiet() { Ok(()) } else { print(text) }
}

/// Prints an answer in one piece, with the line feed that ends it.
pub fn print(text: impl std::fmt::Display) -> Result<(), Problem> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    Ok(out.flush()?)
}

/// Whether no check failed, after the answer is printed. `passed` is `None` if no check failed, but one was not made. A
/// closed pipe does not matter, because the exit code is an answer of its own.
pub fn verdict(printed: Result<(), Problem>, passed: Option<bool>) -> Result<bool, Problem> {
    match printed {
        Ok(()) | Err(Problem::Unheard) => Ok(passed != Some(false)),
        Err(problem) => Err(problem),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_above_0_is_never_shown_as_0() {
        for (share, shown) in [
            (0.0, "0.00 %"),
            (3e-12, "3.0e-10 %"),
            (9.9e-6, "9.9e-4 %"),
            (1e-5, "0.0010 %"),
            (4.9e-5, "0.0049 %"),
            (7e-5, "0.0070 %"),
            (1e-4, "0.01 %"),
            (0.7, "70.00 %"),
            (1.0, "100.00 %"),
        ] {
            assert_eq!(percent(share), shown);
        }
        for exponent in 0..2400 {
            let share = 10_f64.powf(-f64::from(exponent) / 100.0);
            let number = percent(share).trim_end_matches(" %").parse::<f64>().unwrap();
            assert!((number / (100.0 * share) - 1.0).abs() < 0.5, "{share} is shown as {}", percent(share));
        }
    }
}
