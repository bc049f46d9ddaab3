//! The golden cases as types, and the runner that compares an engine with them. `tests/vectors/README.md` describes the
//! format for readers in other languages.

pub mod format;
pub mod native;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use format::{Body, Call, Case, Failure, File, Outcome, Subject};
use serde_json::Value;

/// An object that answers the calls of a golden case.
pub trait Engine: Sized {
    /// Makes the object of a case by its constructor.
    fn create(subject: &Subject) -> Result<Self, Failure>;
    /// The result of a call, in the notation of the format.
    fn call(&mut self, call: &Call) -> Result<Value, Failure>;
}

/// The variable that requests the slow cases, too.
const SLOW: &str = "SAMEDEAL_SLOW";
/// The variable with the largest processor time of a case, in milliseconds. Golden cases have no such limit.
const BOUND: &str = "SAMEDEAL_BOUND";

/// Runs every case of the golden files on an engine and prints a line per group for the matrix.
pub fn run<E: Engine>(engine: &str) -> ExitCode {
    let mut names: Vec<_> = fs::read_dir(folder())
        .expect("the folder of the golden cases")
        .map(|entry| entry.expect("an entry of that folder").file_name().into_string().expect("a name in UTF-8"))
        .filter_map(|name| name.strip_suffix(".json").map(str::to_owned))
        .filter(|name| name != "schema")
        .collect();
    names.sort();
    let mut good = !names.is_empty();
    let bound: Option<f64> = std::env::var(BOUND).ok().map(|bound| bound.parse().expect("a number of milliseconds"));
    // The first use on a machine compiles the component. This time must not count for a case.
    let mut is_compiled = bound.is_none();
    for name in names {
        let (mut passed, mut failed) = (0, 0);
        let mut answers = crc32fast::Hasher::new();
        for case in cases(&name) {
            if !is_compiled {
                drop(E::create(&case.subject));
                is_compiled = true;
            }
            let started = milliseconds();
            let checked = check::<E>(&case.subject, &case.body, |answer| answers.update(sorted(answer).as_bytes()));
            let took = milliseconds() - started;
            let in_time = match bound {
                Some(bound) if took > bound => Err(format!("took {took:.0} ms of processor time")),
                _ => Ok(()),
            };
            match checked.and(in_time) {
                Ok(()) => passed += 1,
                Err(why) => {
                    failed += 1;
                    eprintln!("{engine}: {name}: {}: {why}", case.name);
                }
            }
        }
        good &= failed == 0 && passed > 0;
        println!("matrix\t{engine}\t{name}\t{passed}\t{failed}\t{:08x}", answers.finalize());
    }
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// A value as JSON with sorted names, because packages of this build may or may not sort maps.
fn sorted(mut value: Value) -> String {
    value.sort_all_objects();
    value.to_string()
}

/// The processor time of this process.
fn milliseconds() -> f64 {
    cpu_time::ProcessTime::now().as_duration().as_secs_f64() * 1e3
}

/// Runs the cases of some groups on an engine, and stops at the first one that fails. This is fast if most runs have a
/// failing case.
pub fn judge<E: Engine>(groups: &[&str]) -> Result<usize, String> {
    let mut passed = 0;
    for &group in groups {
        for case in cases(group) {
            check::<E>(&case.subject, &case.body, |_| ()).map_err(|why| format!("{group}: {}: {why}", case.name))?;
            passed += 1;
        }
    }
    Ok(passed)
}

/// The folder of the golden cases, or of other cases in their form, such as random ones.
fn folder() -> PathBuf {
    let other = std::env::var_os("SAMEDEAL_CASES").map(PathBuf::from);
    other.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../vectors"))
}

/// The cases of a group that are to be run.
fn cases(group: &str) -> impl Iterator<Item = Case> {
    let path = folder().join(format!("{group}.json"));
    let text = fs::read(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    let file: File = serde_json::from_slice(&text).expect("a golden file");
    assert_eq!(file.group, group, "a file has the name of its group");
    let slow = std::env::var_os(SLOW).is_some();
    file.cases.into_iter().filter(move |case| slow || !case.slow)
}

/// Runs a case; `note` gets each answer in the notation of the format.
fn check<E: Engine>(subject: &Subject, body: &Body, mut note: impl FnMut(Value)) -> Result<(), String> {
    let mut engine = match (E::create(subject), body) {
        (Err(failure), Body::Fails(expected)) if failure == *expected => {
            note(format::record(Outcome::Fails(failure)));
            return Ok(());
        }
        (Ok(engine), Body::Calls(_)) => engine,
        (Err(failure), _) => return Err(format!("the constructor failed with {failure:?}, expected {body:?}")),
        (Ok(_), Body::Fails(expected)) => return Err(format!("the constructor succeeded, expected {expected:?}")),
    };
    let Body::Calls(steps) = body else { unreachable!("the constructor succeeded as expected") };
    for step in steps {
        let outcome = match engine.call(&step.call) {
            Ok(value) => Outcome::Returns(value),
            Err(failure) => Outcome::Fails(failure),
        };
        note(format::record(&outcome));
        if outcome != step.outcome {
            return Err(format!("{:?} gave {outcome:?}, expected {:?}", step.call, step.outcome));
        }
    }
    Ok(())
}
