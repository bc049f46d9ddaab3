//! `cargo xtask bench`: the measurements, on an otherwise idle machine.

use crate::build;
use crate::counts::Counts;
use crate::machine;
use crate::plan::{Outcome, Plan, Report, Step};
use crate::progress::Progress;
use crate::project;
use crate::setup;
use crate::stamp::Stamp;

/// What takes them; its options are those of the command.
const BENCH: &str = "target/release/bench";
/// The measurements of batches that it takes.
const BATCHING: &str = "batching,batching-quality";

const TORCH: &str = "target/venv-torch";
/// Those whose batches are held against ours; torch is that of the other environment.
const PEERS: &str = "target/venv-peers";
const REQUIREMENTS: &str = "tests/bench/requirements-peers.txt";

/// Builds everything, then measures: `batching` or `blending` alone, beside others, or all that is ours.
pub fn plan(options: &[&str]) -> Plan {
    if let ["blending", options @ ..] = options {
        let smoke = options.contains(&"--smoke");
        let steps = vec![Step::new(ENVIRONMENT, &[setup::TORCH, build::COMPONENT_STEP], peers), blending(smoke)];
        return Plan::new("bench blending", crate::parts(), steps);
    }
    let (options, batching) = match options {
        ["batching", options @ ..] => (options, true),
        _ => (options, false),
    };
    let mut options: Vec<String> = options.iter().map(ToString::to_string).collect();
    let smoke = options.iter().any(|option| option == "--smoke");
    if batching {
        options.extend(["--only".to_string(), BATCHING.to_string()]);
    }
    let mut steps = vec![Step::new(MEASUREMENTS, &[build::BENCH, build::NPM, setup::TORCH], move |progress| {
        shown(progress, &[BENCH], &options, "target/xtask/bench.txt")
    })];
    if batching {
        steps.push(Step::new(ENVIRONMENT, &[setup::TORCH], peers));
        steps.push(comparison(smoke));
    }
    Plan::new(if batching { "bench batching" } else { "bench" }, crate::parts(), steps)
}

const MEASUREMENTS: &str = "measurements";
const ENVIRONMENT: &str = "Python environment with other batches";

/// Blends of the same sources, ours and those of others.
fn blending(smoke: bool) -> Step {
    let smoke = smoke.then(|| "--smoke".to_string());
    let options: Vec<String> = [String::from("--json=target/bench/blending.json")].into_iter().chain(smoke).collect();
    Step::new("blends beside those of others", &[ENVIRONMENT], move |progress| {
        let python = format!("{PEERS}/bin/python");
        shown(progress, &[&python, "tests/bench/blending.py"], &options, "target/bench/blending.md")
    })
}

/// Batches of the same lengths, ours and those of others.
fn comparison(smoke: bool) -> Step {
    let smoke = smoke.then(|| "--smoke".to_string());
    let files = ["--plot=target/bench/batching.svg", "--json=target/bench/batching.json"].map(String::from);
    let options: Vec<String> = files.into_iter().chain(smoke).collect();
    // Nothing else is measured meanwhile.
    Step::new("batches beside those of others", &[MEASUREMENTS, ENVIRONMENT], move |progress| {
        let python = format!("{PEERS}/bin/python");
        shown(progress, &[&python, "tests/bench/batching.py"], &options, "target/bench/batching.md")
    })
}

/// Runs a program, and shows all that it prints.
fn shown(progress: &Progress, words: &[&str], options: &[String], path: &str) -> Outcome {
    let path = project::path(path);
    path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    progress.run_into(project::words(words).args(options), &path)?;
    Ok(Report { display: format!("\n{}\n", std::fs::read_to_string(path)?), ..Report::default() })
}

/// An environment that sees all that is in the one with torch, 5 GB that need not be there twice.
fn peers(progress: &Progress) -> Outcome {
    let python = format!("{PEERS}/bin/python");
    let purelib = "import sysconfig; print(sysconfig.get_paths()['purelib'])";
    let torch = machine::answer(&mut project::own(&format!("{TORCH}/bin/python"), &["-c", purelib]));
    let torch = torch.ok_or_else(|| "there is no environment with torch".to_string())?;
    let version = machine::answer(&mut project::program(machine::python(), &["--version"])).unwrap_or_default();
    let oracle = "hosts/python/requirements-oracle.txt";
    let stamp = Stamp::of("target-venv-peers", &[REQUIREMENTS, oracle], &format!("{version} {torch}"))?;
    let works = machine::answer(&mut project::own(&python, &["-c", "import torch, samedeal; print('v')"])).is_some();
    if works && stamp.is_current() {
        return Ok(Report::note("up to date"));
    }
    progress.run(&mut project::program(machine::python(), &["-m", "venv", "--clear", PEERS]))?;
    let see = "import pathlib, sys, sysconfig\n\
               path = pathlib.Path(sysconfig.get_paths()['purelib'], 'torch.pth')\n\
               path.write_text(f'import site; site.addsitedir({sys.argv[1]!r})\\n')";
    progress.run(&mut project::own(&python, &["-c", see, &torch]))?;
    let install = ["-m", "pip", "install", "--disable-pip-version-check", "--progress-bar", "off", "--no-deps"];
    progress.run(project::own(&python, &install).args(["-r", REQUIREMENTS]))?;
    stamp.record(Counts::default())?;
    Ok(Report::note(format!("installed in {PEERS}")))
}
