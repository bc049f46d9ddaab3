//! The developer's commands: `cargo xtask <command>`. Each does the set-up it needs, shows what it is doing, and does
//! only what is out of date the second time.

mod bench;
mod build;
mod check;
mod counts;
mod demo;
mod flat;
mod machine;
mod matrix;
mod plan;
mod progress;
mod project;
mod replay;
mod setup;
mod stamp;
mod suites;
mod table;

use std::process::ExitCode;

use plan::Plan;

const HELP: &str = "\
Usage: cargo xtask <command>

  demo [DIR --column NAME] [--rank R | --all]
                     one epoch over the same Parquet files in Rust, Python and Node, side by side; without DIR over
                     the functions of Python's standard library
  test               every test of every language, the matrix of engines, and the demo
  check              format and lints, then test: what CI runs
  build              the component, the web build, the command `samedeal`, the Python and the npm package
  bench [--runs N] [--only NAME] [--json FILE]
                     the measurements, as a table
  bench batching     batches beside those of Lhotse, transformers, seqpacker and TRL, and their targets
  vectors [--check]  write the golden cases of tests/vectors, or check that they are fresh
  setup              what `build` and `test` download: targets, environments, browser
  help               this text

Every command does its own set-up below target/ (and in node_modules), and is incremental. The whole output of each
step is kept in target/xtask/.";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let plan = match words.as_slice() {
        [] | ["help" | "--help" | "-h"] => {
            println!("{HELP}");
            return ExitCode::SUCCESS;
        }
        ["setup"] => Plan::new("setup").with(setup::for_build()).with(setup::for_test()),
        ["build"] => Plan::new("build").with(setup::for_build()).with(build::steps()),
        ["vectors"] => Plan::new("vectors").with(vec![suites::vectors(false)]),
        ["vectors", "--check"] => Plan::new("vectors --check").with(vec![suites::vectors(true)]),
        ["test"] => suites::plan(),
        ["check"] => check::plan(),
        ["bench", options @ ..] => bench::plan(options),
        ["demo", options @ ..] => match demo::Options::parse(options) {
            Ok(options) => demo::plan(options),
            Err(why) => return wrong(&why),
        },
        _ => return wrong(&format!("unknown command: {}", words.join(" "))),
    };
    plan.run()
}

fn wrong(why: &str) -> ExitCode {
    eprintln!("{why}\n\n{HELP}");
    ExitCode::from(2)
}
