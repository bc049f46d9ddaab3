//! Writes the golden cases, the tables of members in the specification, and the schema of recipes. `vectors` brings
//! them up to date. `vectors --check` fails if they are out of date. `vectors --random COUNT SEED FOLDER` writes random
//! cases, which nobody commits, to another folder.
//!
//! Only the questions are written here; the answers come from the core. The files are committed, so that a changed
//! value shows as a difference. A released id forbids such a difference.

mod cases;
mod schema;
mod tables;
mod write;

use std::collections::HashMap;
use std::path::Path;
use std::process::ExitCode;
use std::{env, fs, io};

use serde_json::Value;

fn main() -> ExitCode {
    let check = match env::args().skip(1).collect::<Vec<_>>().as_slice() {
        [] => false,
        [flag] if flag == "--check" => true,
        [flag, count, seed, folder] if flag == "--random" => {
            let (Ok(count), Ok(seed)) = (count.parse(), seed.parse()) else { return usage() };
            let folder = Path::new(folder);
            return match random(count, seed, folder) {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => {
                    eprintln!("{}: {error}", folder.display());
                    ExitCode::FAILURE
                }
            };
        }
        _ => return usage(),
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors");
    match run(&folder, check) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            eprintln!("the golden cases, the tables of members or the schema of recipes are not what the core has.");
            eprintln!("Where only questions were added: `cargo xtask vectors`, and commit the files.");
            eprintln!("Where a value changed: no released id may change its values; see docs/maintaining/names.md.");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{}: {error}", folder.display());
            ExitCode::FAILURE
        }
    }
}

fn usage() -> ExitCode {
    eprintln!("usage: vectors [--check | --random COUNT SEED FOLDER]");
    ExitCode::from(2)
}

fn random(count: usize, seed: u64, folder: &Path) -> io::Result<()> {
    let file = cases::random(count, seed);
    fs::create_dir_all(folder)?;
    replace(&folder.join(format!("{}.json", file.group)), &write::file(&file))
}

/// Writes a file by a rename, so that a process that reads it meanwhile never finds half a file.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let temporary = path.with_extension("new");
    fs::write(&temporary, text)?;
    fs::rename(&temporary, path)
}

/// The names of cases of the old text that the new text does not have as they were.
fn changed(old: &str, new: &str) -> Vec<String> {
    let cases = |text: &str| {
        let file: Value = serde_json::from_str(text).unwrap_or_default();
        let mut seen = HashMap::new();
        let cases = file["cases"].as_array().cloned().unwrap_or_default().into_iter();
        let keyed = cases.map(|case| {
            // Several cases of a file can have one name, so they are counted.
            let name = case["name"].as_str().unwrap_or_default().to_owned();
            let number = seen.entry(name.clone()).and_modify(|number| *number += 1).or_insert(0_usize);
            ((name, *number), case)
        });
        keyed.collect::<Vec<_>>()
    };
    let new: HashMap<(String, usize), Value> = cases(new).into_iter().collect();
    cases(old).into_iter().filter(|(key, case)| new.get(key) != Some(case)).map(|((name, _), _)| name).collect()
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
        let changed = changed(&fs::read_to_string(&path).unwrap_or_default(), &text);
        replace(&path, &text)?;
        println!("wrote tests/vectors/{name}: {} cases", file.cases.len());
        if let [first, ..] = &*changed {
            println!(
                "  {} of the cases that were there have other answers or are gone, such as: {first}",
                changed.len()
            );
        }
    }
    let root = folder.join("../..");
    tables::check_grammar(&root)?;
    for (path, text) in tables::pages(&root)?.into_iter().chain([(schema::PATH, schema::text()?)]) {
        if fs::read_to_string(root.join(path)).is_ok_and(|old| old == text) {
            continue;
        }
        fresh = false;
        if check {
            eprintln!("stale: {path}");
        } else {
            replace(&root.join(path), &text)?;
            println!("wrote {path}");
        }
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
