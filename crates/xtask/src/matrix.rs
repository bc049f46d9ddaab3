//! The matrix: every engine answers every golden case. Each adapter in tests/matrix prints, for each group of cases,
//! a line `matrix<TAB>ENGINE<TAB>GROUP<TAB>PASSED<TAB>FAILED`, or `without<TAB>ENGINE<TAB>GROUP` where the engine has no
//! such interface; here they become one table.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::build;
use crate::counts::Counts;
use crate::machine;
use crate::plan::{Failure, Outcome, Report, Step};
use crate::progress::Progress;
use crate::project;
use crate::setup;
use crate::suites;
use crate::table;

/// An engine's adapter.
struct Adapter {
    /// Its step.
    step: &'static str,
    words: &'static [&'static str],
    needs: &'static [&'static str],
    /// What its answers depend on, beside the golden cases and tests/matrix.
    inputs: &'static [&'static [&'static str]],
}

const ADAPTERS: &[Adapter] = &[
    Adapter {
        step: "matrix: native core",
        words: &["target/debug/matrix-native"],
        needs: &[build::TOOLS],
        inputs: &[suites::MANIFESTS, &["crates/core"]],
    },
    Adapter {
        step: "matrix: Rust host",
        words: &["target/debug/matrix-rust"],
        needs: &[build::TOOLS],
        inputs: &[suites::MANIFESTS, &["hosts/rust"]],
    },
    Adapter {
        step: "matrix: Python host",
        words: &["target/venv/bin/python", "tests/matrix/python.py"],
        needs: &[setup::PYTHON, build::COMPONENTS],
        inputs: &[suites::PYTHON],
    },
    Adapter {
        step: "matrix: Node",
        words: &["node", "tests/matrix/node.mjs"],
        needs: &[build::NPM],
        inputs: &[suites::JAVASCRIPT, build::WASM],
    },
    BROWSER,
];

/// It is not always there.
const BROWSER: Adapter = Adapter {
    step: "matrix: browser",
    words: &["node", "tests/matrix/browser.mjs"],
    needs: &[build::NPM, setup::BROWSER],
    inputs: &[suites::JAVASCRIPT, build::WASM],
};

/// Which of the golden cases are asked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Cases {
    /// Without those that are marked as slow.
    Small,
    /// Every one.
    All,
}

impl Cases {
    /// For the stamp of a suite.
    pub fn name(self) -> &'static str {
        match self {
            Self::Small => "small cases",
            Self::All => "all cases",
        }
    }

    /// Tells a program which to ask.
    pub fn tell(self, command: &mut Command) {
        if self == Self::All {
            command.env("SAMEDEAL_SLOW", "1");
        }
    }
}

/// The engines that need nothing but a build, and what they found side by side.
pub fn quick(cases: Cases) -> Vec<Step> {
    let quick: Vec<&Adapter> = ADAPTERS.iter().filter(|adapter| adapter.step != BROWSER.step).collect();
    quick.iter().map(|adapter| step(adapter, cases)).chain([table("matrix", &quick)]).collect()
}

/// The browser, and what all of them found side by side.
pub fn slow() -> Vec<Step> {
    let all: Vec<&Adapter> = ADAPTERS.iter().collect();
    vec![step(&BROWSER, Cases::All), table("matrix with the browser", &all)]
}

fn step(adapter: &Adapter, cases: Cases) -> Step {
    let &Adapter { step, words, needs, inputs } = adapter;
    Step::new(step, needs, move |progress| run(progress, step, words, cases))
        .made_from(&[inputs.concat().as_slice(), &["tests/matrix", "tests/vectors"]])
        .with_setting(cases.name())
}

/// Holds against each other what the adapters found.
fn table(name: &str, adapters: &[&Adapter]) -> Step {
    let steps: Vec<&'static str> = adapters.iter().map(|adapter| adapter.step).collect();
    Step::new(name, &steps.clone(), move |_| compare(&steps))
}

fn run(progress: &Progress, step: &str, words: &[&str], cases: Cases) -> Outcome {
    let mut command = machine::with_browser(project::words(words));
    cases.tell(&mut command);
    let output = lines_of(step);
    let result = progress.run_into(&mut command, &output);
    let cells = match (parse(&fs::read_to_string(output)?), &result) {
        (Ok(cells), _) => cells,
        // It ended in the middle of a line.
        (Err(_), Err(why)) => return Err(why.clone().into()),
        (Err(why), Ok(())) => return Err(why.into()),
    };
    let counts = Counts { passed: sum(&cells, |c| c.passed), failed: sum(&cells, |c| c.failed), skipped: 0 };
    match result {
        Err(why) => Err(Failure { why, counts }),
        Ok(()) if counts.failed > 0 => Err(Failure { why: format!("{counts}, though it ended well"), counts }),
        Ok(()) if counts.passed == 0 => Err("it printed no results".to_string().into()),
        Ok(()) => Ok(Report { note: counts.to_string(), counts, display: String::new() }),
    }
}

/// Where the lines of an adapter are kept between its step and the table.
fn lines_of(step: &str) -> PathBuf {
    project::path("target/xtask").join(format!("{}.tsv", step.replace(": ", "-").replace(' ', "-").to_lowercase()))
}

fn compare(steps: &[&str]) -> Outcome {
    let mut cells = Vec::new();
    let mut problems = Vec::new();
    for step in steps {
        let lines = fs::read_to_string(lines_of(step)).unwrap_or_default();
        let found = parse(&lines).unwrap_or_default();
        if found.is_empty() {
            problems.push(format!("{step}: no results"));
        }
        cells.extend(found);
    }
    problems.extend(differences(&cells));
    let display = format!("\n{}\n", render(&cells));
    if problems.is_empty() {
        let note = format!("{} engines, {} groups", engines(&cells).len(), groups(&cells).len());
        return Ok(Report { note, display, ..Report::default() });
    }
    Err(format!("{display}{}", problems.join("\n")).into())
}

/// What one engine made of one group of cases.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Cell {
    engine: String,
    group: String,
    passed: u64,
    failed: u64,
    /// Whether the engine has no such interface.
    without: bool,
}

/// The cells in what an adapter printed; other lines are passed over.
fn parse(output: &str) -> Result<Vec<Cell>, String> {
    let lines = output.lines().filter(|line| line.starts_with("matrix\t") || line.starts_with("without\t"));
    let cell = |line: &str| match line.split('\t').collect::<Vec<_>>()[..] {
        ["matrix", engine, group, passed, failed] => {
            let (passed, failed) = (passed.parse().ok()?, failed.parse().ok()?);
            Some(Cell { engine: engine.into(), group: group.into(), passed, failed, without: false })
        }
        ["without", engine, group] => {
            Some(Cell { engine: engine.into(), group: group.into(), passed: 0, failed: 0, without: true })
        }
        _ => None,
    };
    lines.map(|line| cell(line).ok_or_else(|| format!("not a line of the matrix: {line}"))).collect()
}

/// Where an engine failed, or did not run the same groups with the same number of cases as the first.
fn differences(cells: &[Cell]) -> Vec<String> {
    let mut problems = Vec::new();
    let engines = engines(cells);
    for group in groups(cells) {
        let cases = |engine: &str| find(cells, engine, group).map_or(0, |cell| cell.passed + cell.failed);
        for engine in &engines {
            let (mine, first) = (cases(engine), cases(engines[0]));
            if mine != first && !find(cells, engine, group).is_some_and(|cell| cell.without) {
                problems.push(format!("{group}: {engine} ran {mine} cases, {} {first}", engines[0]));
            }
            if let Some(cell) = find(cells, engine, group).filter(|cell| cell.failed > 0) {
                problems.push(format!("{group}: {engine} failed {} of {mine} cases", cell.failed));
            }
        }
    }
    let twice = |cell: &&Cell| find(cells, &cell.engine, &cell.group) != Some(cell);
    problems.extend(cells.iter().filter(twice).map(|cell| format!("{}: {} came twice", cell.group, cell.engine)));
    problems
}

/// A line per group, a column per engine; the engine's version stands below its name.
fn render(cells: &[Cell]) -> String {
    let engines = engines(cells);
    let halves = engines.iter().map(|engine| engine.split_once(" (").unwrap_or((engine, "")));
    let (names, versions): (Vec<&str>, Vec<&str>) = halves.unzip();
    let row = |first: &str, rest: Vec<String>| [vec![first.to_string()], rest].concat();
    let heading = [
        row("cases passed", names.iter().map(|name| name.to_string()).collect()),
        row("", versions.iter().map(|version| version.trim_end_matches(')').to_string()).collect()),
    ];
    let text = |cell: Option<&Cell>| match cell {
        Some(cell) if cell.failed > 0 => format!("FAILED {}", cell.failed),
        Some(cell) if cell.without => "none".into(),
        Some(cell) => cell.passed.to_string(),
        None => "-".into(),
    };
    let cases = |group: &str| engines.iter().map(|engine| text(find(cells, engine, group))).collect();
    let mut rows: Vec<Vec<String>> = groups(cells).into_iter().map(|group| row(group, cases(group))).collect();
    let total = |engine: &&str| cells.iter().filter(|c| c.engine == *engine).map(|c| c.passed).sum::<u64>().to_string();
    rows.push(row("all", engines.iter().map(total).collect()));
    table::render(&heading, &rows)
}

fn engines(cells: &[Cell]) -> Vec<&str> {
    distinct(cells.iter().map(|cell| cell.engine.as_str()))
}

fn groups(cells: &[Cell]) -> Vec<&str> {
    distinct(cells.iter().map(|cell| cell.group.as_str()))
}

/// Without repetitions, in the order of the first appearance.
fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = Vec::new();
    names.for_each(|name| {
        if !seen.contains(&name) {
            seen.push(name)
        }
    });
    seen
}

fn find<'a>(cells: &'a [Cell], engine: &str, group: &str) -> Option<&'a Cell> {
    cells.iter().find(|cell| cell.engine == engine && cell.group == group)
}

fn sum(cells: &[Cell], number: impl Fn(&Cell) -> u64) -> u64 {
    cells.iter().map(number).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "noise\nmatrix\tnative (x86)\torders\t3\t0\nmatrix\tnative (x86)\tdeals\t5\t0\n\
                        matrix\tnode (v20)\torders\t3\t0\nmatrix\tnode (v20)\tdeals\t5\t0\n";

    fn problems(lines: &str) -> Vec<String> {
        differences(&parse(lines).unwrap())
    }

    #[test]
    fn equal_engines_have_no_differences() {
        assert_eq!(problems(GOOD), Vec::<String>::new());
    }

    #[test]
    fn every_kind_of_difference_is_named() {
        let short = GOOD.replace("node (v20)\tdeals\t5\t0", "node (v20)\tdeals\t4\t0");
        assert_eq!(problems(&short), ["deals: node (v20) ran 4 cases, native (x86) 5"]);
        let failed = GOOD.replace("node (v20)\tdeals\t5\t0", "node (v20)\tdeals\t4\t1");
        assert_eq!(problems(&failed), ["deals: node (v20) failed 1 of 5 cases"]);
        let without = GOOD.replace("matrix\tnode (v20)\tdeals\t5\t0", "without\tnode (v20)\tdeals");
        assert_eq!(problems(&without), Vec::<String>::new());
        let both = format!("{GOOD}without\tnode (v20)\tdeals\n");
        assert_eq!(problems(&both), ["deals: node (v20) came twice"]);
        let absent = GOOD.replace("matrix\tnode (v20)\tdeals\t5\t0\n", "");
        assert_eq!(problems(&absent), ["deals: node (v20) ran 0 cases, native (x86) 5"]);
        let more = format!("{GOOD}matrix\tnode (v20)\textra\t1\t0\n");
        assert_eq!(problems(&more), ["extra: node (v20) ran 1 cases, native (x86) 0"]);
        let twice = format!("{GOOD}matrix\tnode (v20)\tdeals\t6\t0\n");
        assert_eq!(problems(&twice), ["deals: node (v20) came twice"]);
    }

    #[test]
    fn a_broken_line_is_an_error() {
        assert!(parse("matrix\tnode\torders\t3").is_err());
        assert!(parse("matrix\tnode\torders\tall\t0").is_err());
    }

    #[test]
    fn the_table_has_a_column_per_engine() {
        let lines = GOOD.replace("node (v20)\tdeals\t5\t0", "node (v20)\tdeals\t4\t1");
        let expected = "cases passed  native  node\n              x86     v20\n\
                        --------------------------------\n\
                        orders             3  3\ndeals              5  FAILED 1\nall                8  7\n";
        let table = render(&parse(&lines).unwrap());
        let squeeze = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(squeeze(&table.replace('-', "")), squeeze(&expected.replace('-', "")));
    }
}
