//! The commands for developers: `cargo xtask <command>`. Each does the set-up that it needs, and shows what it is
//! doing. When it runs again, it does only what is out of date.

mod bench;
mod build;
mod circles;
mod counts;
mod crossing;
mod debian;
mod demo;
mod docs;
mod flat;
mod fuzz;
mod lints;
mod machine;
mod matrix;
mod mutants;
mod packages;
mod plan;
mod progress;
mod project;
mod replay;
mod robustness;
mod setup;
mod stamp;
mod suites;
mod table;

use std::process::ExitCode;

use plan::{Plan, Step};

const HELP: &str = "\
Usage: cargo xtask <command>

  demo [DIR --column NAME] [--rank R | --all]
                     one epoch over the same Parquet files in Python, Node and Rust, side by side; without DIR over
                     the functions of Python's standard library
  test [WORD ...]    the tests of the core and of every host, the documents; with words, only the suites that have one
                     of them in their names
  lint [WORD ...]    formats, lints and types of every language
  check [WORD ...]   test and lint, and Rust over the component and its engine, PyTorch, frameworks, browsers, more engines,
                     tutorials, the demo: what CI runs
  build [python | node | rust | native]
                     the Python package, the npm package, the command `samedeal` in release and the crate; native: what
                     the crate and the command need without an engine, which is generated code and no component
  bench [--only PART,...] [--runs N] [--smoke]
                     the measurements: shows them, keeps them in docs/comparison/figures, and writes them into the pages
                     (takes an hour); with parts, only these; with --smoke, whether they work, and keeps nothing
  bench --stale      which of the kept figures are of other sources than those of the tree
  matrix [WORD ...]  the golden cases on every engine and machine, of which `check` runs some: installs them, and writes
                     docs/matrix.md (takes half an hour); with words, only those that have one of them in their names
  matrix --random COUNT [--seed SEED] [WORD ...]
                     so many random orders in orders, in place of the golden cases
  crossing [--rounds N] [--seed S] [HOST ...]
                     every host begins and is killed, every other one continues; writes docs/crossing.md (takes some
                     minutes); with hosts, only those and Rust, and no page
  fuzz [cases | rust | command | python | torch | javascript ...] [--minutes M] [--seed S]
                     random and hostile questions: no trap, no undocumented error, the same answers everywhere
  mutants [PART ...] [--shard K/N]
                     change the core in one place at a time: a golden case must fail for each change (takes hours)
  exhaust            all small cases, not random ones: every epoch of a few samples, on a few ranks, with every option and
                     history: each sample once (takes minutes)
  dist [--check]     everything that a release publishes, in target/dist; with --check, also made again elsewhere, and
                     installed where there is no Rust
  engines            the packages on the oldest and the newest of what they run on: Python, NumPy, wasmtime, Node
  trials [WORD ...] [--rounds N] [--seed S] [--trial T]
                     random chains of resumptions, killed processes, logs that fail: every sample once (takes an hour);
                     with words, only the trials that have one of them in their names
  statistics [--seeds N]
                     whether shuffles can be told from uniform ones; weak shuffles must fail (takes half an hour)
  soak [--minutes M] all kinds of work for an hour, in Python and in Node: memory and latencies must stay flat
  docs [--serve]     the site of the documentation, in target/docs; every link is checked
  vectors [--check]  write the golden cases of tests/vectors, or check that they are fresh
  setup              what `build` and `check` download: targets, environments, browser
  help               this text

Every command does its own set-up below target/ (and in node_modules). A suite whose inputs have not changed since it
passed is not run again, unless `test`, `lint` or `check` gets --again. The whole output of each step is kept in target/xtask/.";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let plan = match words.as_slice() {
        [] | ["help" | "--help" | "-h"] => {
            println!("{HELP}");
            return ExitCode::SUCCESS;
        }
        ["setup"] => Ok(Plan::new("setup", Vec::new(), setup::parts())),
        ["build", words @ ..] => build(words),
        ["vectors"] => Ok(Plan::new("vectors", Vec::new(), vec![suites::vectors(false)])),
        ["vectors", "--check"] => Ok(Plan::new("vectors --check", Vec::new(), vec![suites::vectors(true)])),
        ["mutants", words @ ..] => mutants::plan(words),
        ["exhaust"] => Ok(robustness::exhaust()),
        ["dist", words @ ..] => packages::plan(words),
        ["engines"] => Ok(packages::engines()),
        ["fuzz", words @ ..] => fuzz::plan(words, parts()),
        ["matrix", words @ ..] => matrix::plan(words, parts()),
        ["crossing", words @ ..] => crossing::plan(words, parts()),
        ["test", words @ ..] => tests("test", suites::test(), words),
        ["lint", words @ ..] => tests("lint", lints::quick(), words),
        ["check", words @ ..] => tests("check", suites::check(), words),
        ["trials", options @ ..] => Ok(robustness::trials(options)),
        ["statistics", options @ ..] => Ok(robustness::statistics(options)),
        ["soak", options @ ..] => Ok(robustness::soak(options)),
        ["docs", options @ ..] => docs::plan(options, parts()),
        ["bench", options @ ..] => bench::plan(options),
        ["demo", options @ ..] => demo::Options::parse(options).map(demo::plan),
        _ => Err(format!("unknown command: {}", words.join(" "))),
    };
    match plan {
        Ok(plan) => plan.run(),
        Err(why) => {
            eprintln!("{why}\n\n`cargo xtask help` lists the commands.");
            ExitCode::from(2)
        }
    }
}

/// All steps that others need. First come the steps that the longest builds wait for; downloads run beside these
/// builds.
fn parts() -> Vec<Step> {
    let mut first = setup::parts();
    let downloads = first.split_off(setup::FIRST);
    [first, build::parts(), downloads, demo::parts(), docs::parts(), matrix::parts(), packages::parts()]
        .into_iter()
        .flatten()
        .collect()
}

fn tests(name: &str, suites: Vec<Step>, words: &[&str]) -> Result<Plan, String> {
    let (options, words): (Vec<&str>, Vec<&str>) = words.iter().partition(|word| word.starts_with('-'));
    if let Some(option) = options.iter().find(|option| **option != "--again") {
        return Err(format!("unknown option: {option}"));
    }
    let chosen = suites::chosen(suites, &words)?;
    Ok(Plan::new(name, parts(), chosen).again(!options.is_empty()).with_summary())
}

fn build(words: &[&str]) -> Result<Plan, String> {
    let all = ["python", "node", "rust", "native"];
    if let Some(word) = words.iter().find(|word| !all.contains(word)) {
        return Err(format!("there is no {word} to build, but {}", all.join(", ")));
    }
    let has = |word: &str| words.is_empty() || words.contains(&word);
    let mut needs = Vec::new();
    needs.extend(has("python").then_some(build::COMPONENT_STEP));
    needs.extend(has("node").then_some(build::NPM));
    if has("rust") {
        // The crate contains the component.
        needs.extend([build::RELEASE, build::COMPONENT_STEP]);
    }
    needs.extend(has("native").then_some(build::GENERATED));
    Ok(Plan::of("build", parts(), &needs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_the_steps_that_it_needs() {
        // A plan with a step that does not exist panics.
        for words in [&[][..], &["python"], &["node"], &["rust"], &["native"], &["node", "rust"]] {
            build(words).unwrap();
        }
        assert!(build(&["cobol"]).is_err());
        tests("test", suites::test(), &[]).unwrap();
        tests("lint", lints::quick(), &["imports"]).unwrap();
        tests("check", suites::check(), &["--again"]).unwrap();
        for suite in suites::check() {
            tests("check", suites::check(), &[suite.name()]).unwrap();
        }
        assert!(tests("test", suites::test(), &["--faster"]).is_err());
        matrix::plan(&[], parts()).unwrap();
        matrix::plan(&["s390x"], parts()).unwrap();
        matrix::plan(&["--random", "10", "--seed", "3", "Deno"], parts()).unwrap();
        for wrong in [["--random"].as_slice(), &["--random", "0"], &["--seed", "1"], &["--randon", "1"]] {
            assert!(matrix::plan(wrong, parts()).is_err(), "{wrong:?}");
        }
        assert!(matrix::plan(&["z80"], parts()).is_err());
        packages::plan(&[]).unwrap();
        packages::plan(&["--check"]).unwrap();
        assert!(packages::plan(&["--publish"]).is_err());
        packages::engines();
        crossing::plan(&["--rounds", "2", "--seed", "0", "node"], parts()).unwrap();
        for wrong in [["--rounds"].as_slice(), &["--rounds", "0"], &["--seed", "-1"], &["--page"]] {
            assert!(crossing::plan(wrong, parts()).is_err(), "{wrong:?}");
        }
        robustness::trials(&["chains", "--rounds", "5"]);
        robustness::statistics(&[]);
        robustness::soak(&["--minutes", "5"]);
        fuzz::plan(&[], parts()).unwrap();
        fuzz::plan(&["rust", "--minutes", "1"], parts()).unwrap();
        assert!(fuzz::plan(&["cobol"], parts()).is_err());
        docs::plan(&[], parts()).unwrap();
        docs::plan(&["--serve"], parts()).unwrap();
        assert!(docs::plan(&["--server"], parts()).is_err());
        bench::plan(&[]).unwrap();
        bench::plan(&["--stale"]).unwrap();
        bench::plan(&["--only", "batching,batching-peers", "--smoke"]).unwrap();
        bench::plan(&["--only", "ledger"]).unwrap();
        assert!(bench::plan(&["batching"]).is_err());
        demo::plan(demo::Options::parse(&[]).unwrap());
    }
}
