//! The golden cases as types, and the runner that holds an engine against them. `tests/vectors/README.md` describes
//! the format for readers in other languages.

pub mod format;
pub mod native;

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use format::{Body, Call, Failure, File, Outcome, Subject};
use serde_json::Value;

/// Something that answers the calls of a golden case.
pub trait Engine: Sized {
    /// What the constructor does.
    fn create(subject: &Subject) -> Result<Self, Failure>;
    /// What a call returns, in the notation of the format.
    fn call(&mut self, call: &Call) -> Result<Value, Failure>;
}

/// Asks for the slow cases, too.
const SLOW: &str = "SAMEDEAL_SLOW";

/// Runs every case of the golden files on an engine and prints a line per group for the matrix.
pub fn run<E: Engine>(engine: &str) -> ExitCode {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../vectors");
    let mut paths: Vec<_> = fs::read_dir(&folder)
        .expect("the folder of the golden cases")
        .map(|entry| entry.expect("an entry of that folder").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .filter(|path| path.file_name().is_some_and(|name| name != "schema.json"))
        .collect();
    paths.sort();
    let slow = std::env::var_os(SLOW).is_some();
    let mut good = !paths.is_empty();
    for path in paths {
        let file: File = serde_json::from_slice(&fs::read(&path).expect("a readable file")).expect("a golden file");
        let (mut passed, mut failed) = (0, 0);
        for case in file.cases.iter().filter(|case| slow || !case.slow) {
            match check::<E>(&case.subject, &case.body) {
                Ok(()) => passed += 1,
                Err(why) => {
                    failed += 1;
                    eprintln!("{engine}: {}: {}: {why}", file.group, case.name);
                }
            }
        }
        good &= failed == 0 && passed > 0;
        println!("matrix\t{engine}\t{}\t{passed}\t{failed}", file.group);
    }
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn check<E: Engine>(subject: &Subject, body: &Body) -> Result<(), String> {
    let mut engine = match (E::create(subject), body) {
        (Err(failure), Body::Fails(expected)) if failure == *expected => return Ok(()),
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
        if outcome != step.outcome {
            return Err(format!("{:?} gave {outcome:?}, expected {:?}", step.call, step.outcome));
        }
    }
    Ok(())
}
