//! `cargo xtask bench`: the measurements, which need an otherwise idle machine. The figures are kept, and written into
//! the pages of the documentation that state them.

use crate::build;
use crate::machine;
use crate::plan::{Plan, Report, Step};
use crate::project;
use crate::setup;

/// The program that takes the measurements in groups; each group is a part.
const BENCH: &str = "target/release/bench";

/// A part of the measurements that is a program of its own. The program takes `--smoke` for a small run.
struct Script {
    /// The name for `--only`, with which the ids of its figures begin.
    part: &'static str,
    words: &'static [&'static str],
    needs: &'static [&'static str],
    /// The picture that it draws with `--plot`.
    picture: Option<&'static str>,
}

/// All programs. To add a program, add an entry.
const SCRIPTS: &[Script] = &[
    Script {
        part: "batching-peers",
        words: &["target/venv-peers/bin/python", "tests/bench/batching.py"],
        needs: &[ENVIRONMENT],
        picture: Some("docs/comparison/batching.svg"),
    },
    Script {
        part: "blending",
        words: &["target/venv-peers/bin/python", "tests/bench/blending.py"],
        needs: &[ENVIRONMENT],
        picture: None,
    },
    Script {
        part: "first-use",
        words: &["target/venv/bin/python", "tests/bench/first_use.py"],
        needs: &[setup::PYTHON, build::COMPONENT_STEP],
        picture: None,
    },
    Script {
        part: "ledger",
        words: &["target/venv/bin/python", "tests/bench/ledger.py"],
        needs: &[setup::PYTHON, build::COMPONENT_STEP],
        picture: None,
    },
    Script {
        part: "mixtures",
        words: &["target/venv-peers/bin/python", "tests/bench/mixtures.py"],
        needs: &[ENVIRONMENT],
        picture: None,
    },
    Script {
        part: "streams",
        words: &["target/venv-peers/bin/python", "tests/bench/streams.py"],
        needs: &[ENVIRONMENT],
        picture: None,
    },
];

/// The environment with the programs that batch, blend and mix in other ways, for comparison. It uses torch from the
/// environment of `setup::TORCH`.
const PEERS: &str = "target/venv-peers";
const REQUIREMENTS: &str = "tests/bench/requirements-peers.txt";
const ENVIRONMENT: &str = "Python environment with other batches";
const MEASURING: &str = "measuring";
/// The program that keeps figures, writes them into pages, and lists the figures that were measured with other sources.
const KEEPER: &str = "tests/docs/measured.py";

/// The options of `cargo xtask bench`.
#[derive(Debug, Default, PartialEq)]
struct Options {
    /// The parts; all if there are none.
    only: Vec<String>,
    runs: Option<String>,
    smoke: bool,
    /// Measure nothing; list the figures that were measured with an older version of the sources.
    stale: bool,
}

impl Options {
    fn parse(words: &[&str]) -> Result<Options, String> {
        let mut options = Options::default();
        let mut words = words.iter();
        while let Some(&word) = words.next() {
            let mut value = || words.next().map(ToString::to_string).ok_or_else(|| format!("{word} needs a value"));
            match word {
                "--only" => options.only.extend(value()?.split(',').map(String::from)),
                "--runs" => options.runs = Some(value()?),
                "--smoke" => options.smoke = true,
                "--stale" => options.stale = true,
                _ => return Err(format!("unknown option: {word}")),
            }
        }
        Ok(options)
    }

    fn has(&self, part: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == part)
    }
}

/// The plan: builds what the parts need, then measures one part after the other.
pub fn plan(words: &[&str]) -> Result<Plan, String> {
    let options = Options::parse(words)?;
    if options.stale {
        let step = Step::new("figures of these sources", &[], |progress| {
            progress.run(&mut project::program(machine::python(), &[KEEPER, "stale"]))?;
            Ok(Report::default())
        });
        return Ok(Plan::new("bench --stale", Vec::new(), vec![step]));
    }
    let smoke = options.smoke;
    let scripts: Vec<&Script> = SCRIPTS.iter().filter(|script| options.has(script.part)).collect();
    let groups: Vec<String> =
        options.only.iter().filter(|only| SCRIPTS.iter().all(|script| script.part != *only)).cloned().collect();
    let has_groups = options.only.is_empty() || !groups.is_empty();

    // Nothing is built or installed while something is measured.
    let mut needs: Vec<&'static str> = scripts.iter().flat_map(|script| script.needs).copied().collect();
    let mut steps = Vec::new();
    if scripts.iter().any(|script| script.needs.contains(&ENVIRONMENT)) {
        steps.push(Step::new(ENVIRONMENT, &[setup::TORCH, build::COMPONENT_STEP], |progress| {
            setup::beyond_torch(progress, PEERS, REQUIREMENTS)
        }));
    }
    if has_groups {
        needs.extend([build::BENCH, build::NPM, setup::TORCH]);
        let mut arguments = vec!["--figures".to_string()];
        arguments.extend(smoke.then(|| "--smoke".to_string()));
        arguments.extend(options.runs.iter().flat_map(|runs| ["--runs".to_string(), runs.clone()]));
        if !groups.is_empty() {
            arguments.extend(["--only".to_string(), groups.join(",")]);
        }
        steps.push(part("measurements", &needs, &[BENCH], arguments, smoke));
    }
    for script in scripts {
        let mut arguments: Vec<String> = smoke.then(|| "--smoke".to_string()).into_iter().collect();
        let picture = script.picture.filter(|_| !smoke);
        arguments.extend(picture.into_iter().flat_map(|picture| ["--plot".to_string(), picture.to_string()]));
        steps.push(part(script.part, &needs, script.words, arguments, smoke));
    }
    Ok(Plan::new("bench", crate::parts(), steps))
}

/// Runs one program, shows the lines that it prints for people, and keeps its figures. With `--smoke`, the figures mean
/// nothing and are not kept.
fn part(
    name: &'static str,
    needs: &[&'static str],
    words: &'static [&'static str],
    arguments: Vec<String>,
    smoke: bool,
) -> Step {
    Step::new(name, needs, move |progress| {
        let output = format!("target/bench/{name}.txt");
        let path = project::path(&output);
        path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        progress.run_into(project::words(words).args(arguments), &path)?;
        let printed = std::fs::read_to_string(path)?;
        let is_figure = |line: &&str| ["figure: ", "versions: "].iter().any(|begin| line.starts_with(begin));
        let shown: Vec<&str> = printed.lines().filter(|line| !is_figure(line)).collect();
        if !smoke {
            progress.run(&mut project::program(machine::python(), &[KEEPER, "keep", &output]))?;
        }
        let count = printed.lines().filter(|line| line.starts_with("figure: ")).count();
        let note = format!("{count} figures, in {output}");
        Ok(Report { display: format!("\n{}\n", shown.join("\n")), ..Report::note(note) })
    })
    .with_lock(MEASURING)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_chosen_by_their_names() {
        let options = Options::parse(&["--only", "start,ledger", "--smoke", "--runs", "3"]).unwrap();
        assert!(options.has("start") && options.has("ledger") && !options.has("blending"));
        assert_eq!((options.runs.as_deref(), options.smoke), (Some("3"), true));
        assert!(Options::parse(&[]).unwrap().has("blending"));
        assert_eq!(Options::parse(&["--only"]), Err("--only needs a value".into()));
        assert_eq!(Options::parse(&["batching"]), Err("unknown option: batching".into()));
    }
}
