//! `cargo xtask fuzz`: random and hostile questions to the core, to every host and to the command.

use std::time::Duration;

use crate::build;
use crate::plan::{Failure, Outcome, Plan, Report, Step};
use crate::progress::Progress;
use crate::project;
use crate::setup;
use crate::suites;

/// A program that takes `--minutes M`, `--calls N` and `--seed S`. Its last line is a JSON object with its findings.
struct Fuzzer {
    word: &'static str,
    words: &'static [&'static str],
    needs: &'static [&'static str],
    inputs: &'static [&'static [&'static str]],
    /// The number of calls (for `cases`: of cases) in the short run of `check`.
    smoke: &'static str,
}

const FUZZ: &str = "tests/fuzz";

const FUZZERS: &[Fuzzer] = &[
    Fuzzer {
        word: "cases",
        words: &["target/engine/debug/fuzz-cases"],
        needs: &[build::ENGINE_TOOLS, build::NPM, setup::PYTHON],
        inputs: &[
            suites::MANIFESTS,
            suites::PYTHON,
            suites::JAVASCRIPT,
            build::WASM,
            suites::CORE,
            &["hosts/rust", "tests/matrix", "tests/reference", "tests/vectors", FUZZ],
        ],
        smoke: "2500",
    },
    Fuzzer {
        word: "rust",
        words: &["target/engine/debug/fuzz-rust"],
        needs: &[build::ENGINE_TOOLS],
        inputs: &[suites::MANIFESTS, &["hosts/rust", FUZZ]],
        smoke: "1500",
    },
    Fuzzer {
        word: "command",
        words: &["target/engine/debug/fuzz-command"],
        needs: &[build::ENGINE_TOOLS, build::COMMAND],
        inputs: &[suites::MANIFESTS, &["hosts/rust", "hosts/cli", FUZZ]],
        smoke: "150",
    },
    Fuzzer {
        word: "python",
        words: &["target/venv/bin/python", "tests/fuzz/python/fuzz.py"],
        needs: &[setup::PYTHON, build::COMPONENT_STEP],
        inputs: &[suites::PYTHON, &[FUZZ]],
        smoke: "3000",
    },
    Fuzzer {
        word: "torch",
        words: &["target/venv-torch/bin/python", "tests/fuzz/python/fuzz.py", "--environment", "torch"],
        needs: &[setup::TORCH, build::COMPONENT_STEP],
        inputs: &[suites::TORCH, build::WASM, &[FUZZ]],
        smoke: "300",
    },
    Fuzzer {
        word: "javascript",
        words: &["node", "tests/fuzz/javascript/fuzz.mjs"],
        needs: &[build::NPM],
        inputs: &[suites::JAVASCRIPT, build::WASM, &[FUZZ]],
        smoke: "3000",
    },
];

/// The lock of all fuzzers. They run one at a time, because each may use all cores and measures the time of answers.
const ALONE: &str = "fuzz";

/// `cargo xtask fuzz [WORD ...] [--minutes M] [--seed S]`.
pub fn plan(words: &[&str], parts: Vec<Step>) -> Result<Plan, String> {
    let (minutes, seed, words) = options(words)?;
    let known: Vec<&str> = FUZZERS.iter().map(|fuzzer| fuzzer.word).collect();
    if let Some(word) = words.iter().find(|word| !known.contains(word)) {
        return Err(format!("there is no {word} to fuzz, but {}", known.join(", ")));
    }
    let chosen: Vec<&Fuzzer> =
        FUZZERS.iter().filter(|fuzzer| words.is_empty() || words.contains(&fuzzer.word)).collect();
    let share = minutes / chosen.len() as f64;
    let step = |fuzzer: &&'static Fuzzer| {
        let fuzzer = *fuzzer;
        let options = ["--minutes".to_string(), share.to_string(), "--seed".into(), seed.to_string()];
        step(format!("fuzz: {}", fuzzer.word), fuzzer, options.to_vec())
    };
    Ok(Plan::new("fuzz", parts, chosen.iter().map(step).collect()).with_summary())
}

/// Short runs for `check`. The seed is fixed, so that the questions are always the same.
pub fn smoke() -> Vec<Step> {
    let step = |fuzzer: &'static Fuzzer| {
        let options = ["--calls", fuzzer.smoke, "--seed", "1"].map(String::from).to_vec();
        step(format!("fuzz, in small: {}", fuzzer.word), fuzzer, options).made_from(fuzzer.inputs)
    };
    FUZZERS.iter().map(step).collect()
}

fn step(name: String, fuzzer: &'static Fuzzer, options: Vec<String>) -> Step {
    Step::new(name, fuzzer.needs, move |progress| run(progress, fuzzer, &options)).with_lock(ALONE)
}

fn run(progress: &Progress, fuzzer: &Fuzzer, options: &[String]) -> Outcome {
    let mut command = project::words(fuzzer.words);
    command.args(options).env("PYTHONPATH", project::path("hosts/python/src"));
    let result = progress.run(&mut command);
    let log = progress.log_text();
    // The line may begin with the progress of the program.
    let last = log.rfind("{\"host\"").and_then(|at| log[at..].lines().next()).unwrap_or_default();
    match result {
        Ok(()) if last.is_empty() => Err("it printed no result".to_string().into()),
        Ok(()) => {
            let time = Duration::from_secs(progress.elapsed().as_secs());
            let note = format!("{} calls in {time:?}, no failure", number(last, "calls"));
            Ok(Report { note, display: format!("{last}\n"), ..Report::default() })
        }
        Err(why) => Err(Failure::from(format!("{why}\n{}", last.chars().take(2000).collect::<String>()))),
    }
}

/// A number in the line with the findings.
fn number<'a>(line: &'a str, name: &str) -> &'a str {
    let rest = line.split_once(&format!("\"{name}\":")).map_or("", |(_, rest)| rest.trim_start());
    rest.split([',', '}']).next().unwrap_or_default()
}

/// The values of `--minutes M` and `--seed S`, and the other words.
fn options<'a>(words: &[&'a str]) -> Result<(f64, u64, Vec<&'a str>), String> {
    let (mut minutes, mut seed, mut rest) = (10.0, 1, Vec::new());
    let mut words = words.iter();
    while let Some(&word) = words.next() {
        let value = || words.clone().next().copied().unwrap_or_default();
        match word {
            "--minutes" => {
                let given: Option<f64> = value().parse().ok();
                minutes = given.filter(|&given| given > 0.0 && given <= 1e5).ok_or("--minutes: a number above 0")?;
            }
            "--seed" => seed = value().parse().map_err(|_| "--seed: a whole number from 0 on")?,
            option if option.starts_with('-') => return Err(format!("unknown option: {option}")),
            _ => {
                rest.push(word);
                continue;
            }
        }
        words.next();
    }
    Ok((minutes, seed, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_may_stand_anywhere() {
        assert_eq!(options(&["cases", "--minutes", "0.5", "rust", "--seed", "7"]), Ok((0.5, 7, vec!["cases", "rust"])));
        assert_eq!(options(&[]), Ok((10.0, 1, vec![])));
        for wrong in [&["--minutes"][..], &["--minutes", "0"], &["--seed", "-1"], &["--hours", "1"]] {
            assert!(options(wrong).is_err(), "{wrong:?}");
        }
        assert_eq!(number("{\"calls\": 12,\"seconds\":3}", "calls"), "12");
    }
}
