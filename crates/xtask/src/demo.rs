//! `cargo xtask demo`: Rust, Python and Node each read the same Parquet files and go through one epoch. The samples
//! that they saw are shown side by side. If they differ, the demo fails.

use std::path::Path;
use std::{env, fs, path};

use crate::build;
use crate::counts::Counts;
use crate::flat;
use crate::machine;
use crate::plan::{Outcome, Plan, Report, Step};
use crate::progress::Progress;
use crate::project;
use crate::replay::{self, Replay};
use crate::setup;
use crate::stamp::Stamp;

const WORLD: u32 = 4;
const BATCH_SIZE: &str = "32";
/// The folder of the default dataset, made from the standard library of Python, which is on every machine.
const DATA: &str = "target/demo/data";
/// A language of the demo, and its program.
struct Host {
    name: &'static str,
    step: &'static str,
    /// The program that goes through an epoch.
    words: &'static [&'static str],
    needs: &'static [&'static str],
}

/// The languages, in the order in which their programs are ready.
const HOSTS: &[Host] = &[
    Host {
        name: "Python",
        step: "demo: Python",
        words: &["target/venv/bin/python", "tests/demo/replay.py"],
        needs: &[setup::PYTHON, build::COMPONENT_STEP],
    },
    Host {
        name: "Node",
        step: "demo: Node",
        words: &["node", "tests/demo/replay.mjs"],
        needs: &[NPM, build::NPM_FOR_NODE],
    },
    Host {
        name: "Rust",
        step: "demo: Rust",
        words: &[COMMAND, "replay", "--format", "json"],
        needs: &[build::COMMAND],
    },
];
const COMMAND: &str = "target/debug/samedeal";
const DATASET: &str = "demo: dataset";
const NPM: &str = "demo: npm packages";
const SIDE_BY_SIDE: &str = "demo: the three side by side";
const TOGETHER: &str = "demo: all ranks together";
/// Commands that the reader can try next with the replayed files (`DIR`), and the reasons; `proof` runs every command.
const NEXT: &[(&str, &str)] = &[
    (
        "target/debug/samedeal batches DIR --world-size 4 --rank 3 --batch-size 32",
        "which samples a rank sees, batch by batch",
    ),
    (
        "target/debug/samedeal locate DIR --world-size 4 --batch-size 32 --sample 0",
        "when and where the first sample is seen",
    ),
    (
        "target/debug/samedeal verify DIR --world-size 8 --epoch 5 --batch-size 32",
        "another epoch, dealt to eight ranks",
    ),
];

/// The options of the demo: the files to read, and the ranks.
pub struct Options {
    /// A folder with Parquet files, absolute or from the root of the project.
    folder: String,
    column: String,
    ranks: Vec<u32>,
    own_data: bool,
}

impl Options {
    /// Reads `[DIR --column NAME] [--rank R | --all]`.
    pub fn parse(words: &[&str]) -> Result<Options, String> {
        let mut options = Options { folder: DATA.into(), column: "text".into(), ranks: vec![0], own_data: false };
        let mut column = None;
        let mut words = words.iter();
        while let Some(&word) = words.next() {
            let mut value = || words.next().copied().ok_or_else(|| format!("{word} needs a value"));
            match word {
                "--column" => column = Some(value()?.to_string()),
                "--all" => options.ranks = (0..WORLD).collect(),
                "--rank" => {
                    let rank = value()?.parse().ok().filter(|rank| *rank < WORLD);
                    options.ranks = vec![rank.ok_or_else(|| format!("--rank is 0 to {}", WORLD - 1))?];
                }
                option if option.starts_with('-') => return Err(format!("unknown option: {option}")),
                folder if options.own_data => return Err(format!("one folder, please, not also {folder}")),
                folder => {
                    let folder = path::absolute(folder).map_err(|error| format!("{folder}: {error}"))?;
                    options.folder = folder.to_str().ok_or("the name of the folder is not UTF-8")?.into();
                    options.own_data = true;
                }
            }
        }
        match (options.own_data, column) {
            (true, Some(column)) => options.column = column,
            (true, None) => return Err("which column holds the samples? Add --column NAME".into()),
            (false, Some(_)) => return Err("--column goes with a folder of your own".into()),
            (false, None) => {}
        }
        Ok(options)
    }
}

/// The demo as a command of its own.
pub fn plan(options: Options) -> Plan {
    let closing = closing(&options);
    Plan::new("demo", crate::parts(), steps(options)).with_closing(closing)
}

/// The demo as the last steps of `check`: all ranks, and the commands that it proposes at its end.
pub fn proof() -> Vec<Step> {
    let ranks = (0..WORLD).collect();
    let mut steps = steps(Options { folder: DATA.into(), column: "text".into(), ranks, own_data: false });
    steps.push(Step::new("demo: what to try next", &[TOGETHER], |progress| {
        for (line, _) in NEXT {
            let line = line.replace("DIR", DATA);
            progress.run(&mut project::words(&line.split(' ').collect::<Vec<_>>()))?;
        }
        Ok(Report::of(Counts { passed: NEXT.len() as u64, ..Counts::default() }))
    }));
    steps
}

/// Steps that only the demo needs.
pub fn parts() -> Vec<Step> {
    vec![
        Step::new(DATASET, &[setup::PYTHON], dataset),
        Step::new(NPM, &[setup::MACHINE], |progress| setup::npm_packages(progress, "tests/demo")),
    ]
}

fn steps(options: Options) -> Vec<Step> {
    let Options { folder, column, ranks, own_data } = options;
    let mut steps = Vec::new();
    let mut names = Vec::new();
    for &Host { name, step, words, needs } in HOSTS {
        let (folder, column, ranks) = (folder.clone(), column.clone(), ranks.clone());
        names.push(step);
        let made = Step::new(step, needs, move |progress| {
            for &rank in &ranks {
                // The output replaces that of an earlier run, so that an old output is never compared.
                let output = output_of(name, rank);
                fs::create_dir_all(project::path("target/demo"))?;
                let mut command = project::words(words);
                command.args([&folder, "--column", &column, "--rank", &rank.to_string()]);
                command.args(["--world-size", &WORLD.to_string(), "--batch-size", BATCH_SIZE]);
                progress.run_into(&mut command, Path::new(&output))?;
            }
            let shown = replay::render(&title(ranks[0]), &[replay_of(name, ranks[0])?]);
            Ok(Report { display: format!("\n{shown}\n"), ..Report::default() })
        });
        steps.push(if own_data { made } else { made.and_needs(&[DATASET]) });
    }
    steps.push(Step::new(SIDE_BY_SIDE, &names, move |_| compare(&ranks)));
    steps.push(Step::new(TOGETHER, &[build::COMMAND, SIDE_BY_SIDE], move |progress| {
        let mut command = project::own(COMMAND, &["verify", &folder]);
        let output = project::path("target/demo/verify.txt");
        progress.run_into(command.args(["--world-size", &WORLD.to_string(), "--batch-size", BATCH_SIZE]), &output)?;
        let counts = Counts { passed: 1, ..Counts::default() };
        Ok(Report { counts, display: format!("\n{}\n", fs::read_to_string(output)?.trim()), ..Report::default() })
    }));
    steps
}

/// Makes the dataset, unless it is there and was made from the same version of Python.
fn dataset(progress: &Progress) -> Outcome {
    let python = "target/venv/bin/python";
    let library = "import sys, sysconfig; print(*sys.version_info, sysconfig.get_path('stdlib'))";
    let library = machine::answer(&mut project::own(python, &["-c", library])).unwrap_or_default();
    let stamp = Stamp::of("demo-data", &["tests/demo/make_dataset.py"], &library)?;
    if stamp.is_current() && project::path(DATA).is_dir() {
        return Ok(Report::note("up to date"));
    }
    progress.run(&mut project::own(python, &["tests/demo/make_dataset.py", DATA]))?;
    stamp.record(Counts::default())?;
    let log = progress.log_text();
    Ok(Report::note(log.lines().last().unwrap_or_default()))
}

/// The output of a host for a rank, read from its file.
fn replay_of(host: &str, rank: u32) -> Result<Replay, String> {
    let text = fs::read_to_string(output_of(host, rank)).map_err(|error| format!("{host}: {error}"))?;
    let fields = flat::fields(&text).map_err(|why| format!("{host}, rank {rank}: {why}"))?;
    Ok(Replay { host: host.to_string(), fields })
}

fn title(rank: u32) -> String {
    format!("rank {rank} of {WORLD}")
}

fn compare(ranks: &[u32]) -> Outcome {
    let mut display = String::new();
    let mut problems = Vec::new();
    for &rank in ranks {
        let replays = HOSTS.iter().map(|host| replay_of(host.name, rank)).collect::<Result<Vec<_>, _>>()?;
        display += &format!("\n{}", replay::render(&title(rank), &replays));
        problems.extend(replay::differences(&replays).into_iter().map(|problem| format!("rank {rank}: {problem}")));
    }
    if problems.is_empty() {
        let counts = Counts { passed: ranks.len() as u64, ..Counts::default() };
        return Ok(Report { note: "identical".into(), counts, display: display + "\n" });
    }
    Err(format!("THE DEALS DIFFER\n{display}\n{}", problems.join("\n")).into())
}

fn output_of(host: &str, rank: u32) -> String {
    let file = format!("target/demo/{}-{rank}.json", host.to_lowercase());
    project::path(&file).display().to_string()
}

fn closing(options: &Options) -> String {
    let mut text = String::from("Three languages, one deal. What to try next:\n\n");
    for (line, why) in NEXT {
        text += &format!("  # {why}\n  {}\n", line.replace("DIR", &quoted(&options.folder)));
    }
    if !options.own_data {
        text += "  # the same demo on Parquet files of your own\n  cargo xtask demo DIR --column NAME --all\n";
    }
    let root = project::path("");
    let there = env::current_dir().is_ok_and(|folder| folder == root.components().as_path());
    if !there {
        text += &format!("\n(paths from {})\n", root.display());
    }
    text
}

/// A path as one word of a shell.
fn quoted(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte);
    if path.bytes().all(plain) { path.into() } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_quoted_where_a_shell_would_part_them() {
        assert_eq!(quoted("target/demo/data"), "target/demo/data");
        assert_eq!(quoted("/my data/it's"), r"'/my data/it'\''s'");
    }

    #[test]
    fn options_are_read() {
        let options = Options::parse(&["/data", "--column", "image", "--rank", "3"]).unwrap();
        assert_eq!((options.folder.as_str(), options.column.as_str(), options.ranks), ("/data", "image", vec![3]));
        let options = Options::parse(&["--all"]).unwrap();
        assert_eq!((options.folder.as_str(), options.ranks.len(), options.own_data), (DATA, 4, false));
    }

    #[test]
    fn options_that_make_no_sense_are_errors() {
        for words in [
            &["/data"][..],
            &["--column", "text"],
            &["/a", "/b", "--column", "c"],
            &["--rank", "4"],
            &["--rank"],
            &["--fast"],
        ] {
            assert!(Options::parse(words).is_err(), "{words:?}");
        }
    }
}
