//! The matrix: every cell answers every golden case. For each group of cases, an adapter in tests/matrix or
//! tests/engines prints a line `matrix<TAB>ENGINE<TAB>GROUP<TAB>PASSED<TAB>FAILED`, with two fingerprints after it if
//! it computes them. If the engine lacks the interface, the line is `without<TAB>ENGINE<TAB>GROUP`. This module makes
//! one table of the lines.

mod cells;
mod needs;
mod page;
mod report;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use cells::{CELLS, Cell, Tier};
pub use needs::{FIREFOX, parts};

use crate::build;
use crate::counts::Counts;
use crate::machine;
use crate::plan::{Failure, Outcome, Plan, Report, Step};
use crate::progress::Progress;
use crate::project;
use crate::suites;

/// The cases that the cells answer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Cases {
    /// The golden cases, without those that are marked as slow.
    Small,
    /// All golden cases.
    All,
    /// Random cases: their number, and their seed.
    Random(u32, u64),
}

/// The folder of random cases. `RANDOM_TRANSCRIPTS` is the folder of their transcripts.
const RANDOM: &str = "target/random/cases";
const RANDOM_TRANSCRIPTS: &str = "target/random/transcripts";
const RANDOM_STEP: &str = "random cases";

impl Cases {
    /// The setting for the stamp of a suite.
    pub fn name(self) -> String {
        match self {
            Self::Small => "small cases".into(),
            Self::All => "all cases".into(),
            Self::Random(count, seed) => format!("{count} random cases of the seed {seed}"),
        }
    }

    /// Sets the environment variables that tell a program which cases to answer.
    pub fn tell(self, command: &mut Command) {
        match self {
            Self::Small => {}
            Self::All => {
                command.env("SAMEDEAL_SLOW", "1");
            }
            Self::Random(..) => {
                command.env("SAMEDEAL_CASES", project::path(RANDOM));
            }
        }
    }
}

/// The cells that need nothing but a build, and the table of their results. They leave out the slow cases, which take
/// several times as long as all others. The core answers the slow cases in the check of golden cases, and all cells
/// answer them in `cargo xtask matrix`.
pub fn quick() -> Vec<Step> {
    let cells = of(&[Tier::Test]);
    cells.iter().map(|cell| step(cell, Cases::Small)).chain([table("matrix", &cells)]).collect()
}

/// The cells that only `check` runs: the Rust host and the browser beside the quick cells, and core modules in the
/// engines that need no download.
pub fn slow() -> Vec<Step> {
    let browser = of(&[Tier::Check]);
    let core = of(&[Tier::Core]);
    let steps = [browser, core.clone()].concat().into_iter().map(|cell| step(cell, Cases::Small));
    let tables =
        [table("matrix with the browser", &of(&[Tier::Test, Tier::Check])), table("matrix of core modules", &core)];
    steps.chain(tables).collect()
}

/// `cargo xtask matrix`: all cells, or the cells with one of the words in their names, with the golden cases or with
/// random ones.
pub fn plan(words: &[&str], parts: Vec<Step>) -> Result<Plan, String> {
    let (cases, words) = options(words)?;
    let is_random = matches!(cases, Cases::Random(..));
    // The cell of wasm2c is left out for random cases: its program is built together with the recorded golden cases.
    let cells = CELLS.iter().filter(|cell| !(is_random && cell.step.contains("wasm2c")));
    let all = cells.map(|cell| step(cell, cases)).collect();
    let chosen = suites::chosen(all, &words)?;
    let cells: Vec<&Cell> = CELLS.iter().filter(|cell| chosen.iter().any(|step| step.name() == cell.step)).collect();
    let steps: Vec<&'static str> = cells.iter().map(|cell| cell.step).collect();
    let is_whole = !is_random && cells.len() == CELLS.len();
    let table = Step::new("matrix", &steps, move |_| {
        let report = compare(&cells, report::render_engines)?;
        if is_whole {
            let found: Vec<_> =
                cells.iter().map(|cell| Ok((cell.name(), found(cell)?))).collect::<Result<_, String>>()?;
            page::write(&found)?;
        }
        Ok(report)
    });
    let mut parts = parts;
    if let Cases::Random(count, seed) = cases {
        parts.push(Step::new(RANDOM_STEP, &[build::TOOLS], move |progress| {
            let (count, seed) = (count.to_string(), seed.to_string());
            progress.run(&mut project::own("target/debug/vectors", &["--random", &count, &seed, RANDOM]))?;
            Ok(Report { note: format!("{count} of the seed {seed}, in {RANDOM}"), ..Report::default() })
        }));
    }
    Ok(Plan::new("matrix", parts, chosen.into_iter().chain([table]).collect()).with_summary())
}

/// The values of `--random COUNT` and `--seed SEED`, and the other words.
fn options<'a>(words: &[&'a str]) -> Result<(Cases, Vec<&'a str>), String> {
    let (mut count, mut seed, mut rest) = (None, None, Vec::new());
    let mut words = words.iter();
    while let Some(&word) = words.next() {
        let mut number = |least: u64| {
            let value = words.next().and_then(|value| value.parse::<u64>().ok()).filter(|&value| value >= least);
            value.ok_or_else(|| format!("{word} needs a whole number from {least} on"))
        };
        match word {
            "--random" => count = Some(u32::try_from(number(1)?).map_err(|_| "--random: at most 2^32 - 1 cases")?),
            "--seed" => seed = Some(number(0)?),
            option if option.starts_with('-') => return Err(format!("unknown option: {option}")),
            _ => rest.push(word),
        }
    }
    match (count, seed) {
        (Some(count), seed) => Ok((Cases::Random(count, seed.unwrap_or(0)), rest)),
        (None, Some(_)) => Err("--seed is for --random COUNT".into()),
        (None, None) => Ok((Cases::All, rest)),
    }
}

/// The cells of these tiers.
fn of(tiers: &[Tier]) -> Vec<&'static Cell> {
    CELLS.iter().filter(|cell| tiers.contains(&cell.tier)).collect()
}

fn step(cell: &'static Cell, cases: Cases) -> Step {
    let more: &[&'static str] = if let Cases::Random(..) = cases { &[RANDOM_STEP] } else { &[] };
    Step::new(cell.step, &[cell.needs, more].concat(), move |progress| run(progress, cell, cases))
        .made_from(&[cell.inputs.concat().as_slice(), &["tests/vectors", "crates/vectors"]])
        .with_setting(cases.name())
}

/// The step that compares the results of the cells, and shows them as a table.
fn table(name: &str, cells: &[&'static Cell]) -> Step {
    let cells = cells.to_vec();
    let steps: Vec<&'static str> = cells.iter().map(|cell| cell.step).collect();
    Step::new(name, &steps, move |_| compare(&cells, report::render))
}

fn run(progress: &Progress, cell: &Cell, cases: Cases) -> Outcome {
    let is_random = matches!(cases, Cases::Random(..));
    let moved = |word: &&'static str| if is_random && *word == cells::TRANSCRIPTS { RANDOM_TRANSCRIPTS } else { word };
    let words: Vec<&str> = cell.words.iter().map(moved).collect();
    let mut command = machine::with_browser(project::words(&words));
    cases.tell(&mut command);
    let output = lines_of(cell.step);
    let result = progress.run_into(&mut command, &output);
    let cells = match (report::parse(&fs::read_to_string(output)?), &result) {
        (Ok(cells), _) => cells,
        // The program failed in the middle of a line: its failure says more than the broken line.
        (Err(_), Err(why)) => return Err(why.clone().into()),
        (Err(why), Ok(())) => return Err(why.into()),
    };
    let counts =
        Counts { passed: report::sum(&cells, |c| c.passed), failed: report::sum(&cells, |c| c.failed), skipped: 0 };
    match result {
        Err(why) => Err(Failure { why, counts }),
        Ok(()) if counts.failed > 0 => Err(Failure { why: format!("{counts}, though it ended well"), counts }),
        Ok(()) if counts.passed == 0 => Err("it printed no results".to_string().into()),
        Ok(()) => Ok(Report { note: counts.to_string(), counts, display: String::new() }),
    }
}

/// The file with the lines of a cell, which the step of the cell writes and the table reads.
fn lines_of(step: &str) -> PathBuf {
    let file: String =
        step.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect();
    project::path("target/xtask").join(format!("{file}.tsv"))
}

/// The results that a cell printed.
fn found(cell: &Cell) -> Result<Vec<report::Cell>, String> {
    let lines = fs::read_to_string(lines_of(cell.step)).unwrap_or_default();
    match report::parse(&lines)? {
        found if found.is_empty() => Err(format!("{}: no results", cell.step)),
        found => Ok(found),
    }
}

fn compare(cells: &[&Cell], render: impl Fn(&[report::Cell]) -> String) -> Outcome {
    let mut all = Vec::new();
    let mut problems = Vec::new();
    for cell in cells {
        match found(cell) {
            Ok(found) => all.extend(found),
            Err(why) => problems.push(why),
        }
    }
    problems.extend(report::differences(&all));
    let display = format!("\n{}\n", render(&all));
    if problems.is_empty() {
        let note = format!("{} engines, {} groups", report::engines(&all).len(), report::groups(&all).len());
        return Ok(Report { note, display, ..Report::default() });
    }
    Err(format!("{display}{}", problems.join("\n")).into())
}
