//! Writes the golden cases: `vectors` brings `tests/vectors` up to date, `vectors --check` fails where it is not.
//!
//! Only the questions are written here; the answers come from the core. They are golden because they are committed:
//! a change of a value is a difference in a file that a released id forbids.

mod cases;
mod write;

use std::path::Path;
use std::process::ExitCode;
use std::{env, fs, io};

fn main() -> ExitCode {
    let check = match env::args().skip(1).collect::<Vec<_>>().as_slice() {
        [] => false,
        [flag] if flag == "--check" => true,
        _ => {
            eprintln!("usage: vectors [--check]");
            return ExitCode::from(2);
        }
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors");
    match run(&folder, check) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            eprintln!("the golden cases are not what the core computes.");
            eprintln!("Where only questions were added: `cargo xtask vectors`, and commit the files.");
            eprintln!("Where a value changed: no released id may change its values; see CONTRIBUTING.md.");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{}: {error}", folder.display());
            ExitCode::FAILURE
        }
    }
}

fn run(folder: &Path, check: bool) -> io::Result<bool> {
    let mut fresh = true;
    let mut known = Vec::new();
    for file in cases::files() {
        let name = format!("{}.json", file.group);
        let path = folder.join(&name);
        let text = write::file(&file);
        known.push(name.clone());
        if fs::read_to_string(&path).is_ok_and(|old| old == text) {
            continue;
        }
        fresh = false;
        if check {
            eprintln!("stale: tests/vectors/{name}");
            continue;
        }
        let temporary = folder.join(format!(".{name}.new"));
        fs::write(&temporary, text)?;
        fs::rename(&temporary, &path)?;
        println!("wrote tests/vectors/{name}: {} cases", file.cases.len());
    }
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".json") && name != "schema.json" && !known.contains(&name) {
            fresh = false;
            eprintln!("nothing writes tests/vectors/{name}: remove it");
        }
    }
    Ok(fresh || !check)
}
