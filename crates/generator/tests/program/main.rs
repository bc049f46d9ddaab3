//! The files that the program writes, from the WIT of the project and from small WITs with types that the project does
//! not use.

mod javascript;
mod manual;
mod python;
mod rust;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn run(language: &str, wit: &Path, folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_generator")).arg(language).args([wit, folder]).output().unwrap()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
}

/// An empty folder with this name.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::remove_dir_all(&path).ok();
    fs::create_dir_all(&path).unwrap();
    path
}

fn files(folder: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
    entries
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read_to_string(&path).unwrap()))
        .collect()
}

/// The files that are generated from the WIT of the project.
fn made(language: &str, test: &str) -> BTreeMap<String, String> {
    let out = folder(&format!("{test}-{language}"));
    let done = run(language, &root().join("wit"), &out);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    files(&out)
}

/// The files that are generated from a WIT, or the error text.
fn sample(language: &str, name: &str, wit: &str) -> Result<BTreeMap<String, String>, String> {
    let folder_of_wit = folder(&format!("{name}-{language}-wit"));
    fs::write(folder_of_wit.join("sample.wit"), wit).unwrap();
    let out = folder(&format!("{name}-{language}-out"));
    let done = run(language, &folder_of_wit, &out);
    if done.status.success() { Ok(files(&out)) } else { Err(String::from_utf8(done.stderr).unwrap()) }
}

/// Checks that each file contains its part.
fn check_parts(made: &BTreeMap<String, String>, parts: &[(&str, &str)]) {
    for (file, part) in parts {
        assert!(made[*file].contains(part), "{part} is not in {file}");
    }
}

/// The modules of a host that differ from the newly generated ones, each with the first line that differs.
fn outdated(host: &str, made: &BTreeMap<String, String>) -> String {
    let held = files(&root().join(host));
    let names: BTreeSet<_> = made.keys().chain(held.keys()).collect();
    let differs = |name: &String| match (made.get(name), held.get(name)) {
        (Some(made), Some(held)) if made == held => None,
        (Some(made), Some(held)) => {
            let (mut made, mut held) = (made.split('\n'), held.split('\n'));
            let mut pairs = (1..).map(|line| (line, held.next(), made.next()));
            let (line, held, made) = pairs.find(|(_, held, made)| held != made)?;
            let shown = |line: Option<&str>| line.map_or("no line".to_owned(), |line| format!("{line:?}"));
            Some(format!("{host}/{name}, line {line}: has {}, generated is {}\n", shown(held), shown(made)))
        }
        (None, _) => Some(format!("{host}/{name} is not generated\n")),
        (_, None) => Some(format!("{host}/{name} is not there\n")),
    };
    names.into_iter().filter_map(differs).collect()
}

#[test]
fn hosts_hold_what_is_generated_now() {
    for (language, host, fewest) in [
        ("python", "hosts/python/src/samedeal/generated", 6),
        ("typescript", "hosts/js/src/generated", 6),
        ("rust", "hosts/rust/src/generated", 11),
        ("interface", "crates/interface/src/generated", 1),
        ("command", "hosts/cli/src/generated", 1),
    ] {
        let made = made(language, "current");
        assert!(made.len() >= fewest, "{language}: {:?}", made.keys());
        let outdated = outdated(host, &made);
        assert!(outdated.is_empty(), "run `cargo xtask build`:\n{outdated}");
    }
}

#[test]
fn what_is_as_it_should_be_is_not_written_again() {
    let out = folder("again");
    let write = || assert!(run("python", &root().join("wit"), &out).status.success());
    write();
    let gone = out.join("gone.py");
    fs::write(&gone, "").unwrap();
    let kept = out.join("readings.py");
    let before = fs::metadata(&kept).unwrap().modified().unwrap();
    fs::write(out.join("mesh.py"), "changed").unwrap();
    write();
    assert!(!gone.exists());
    assert_eq!(fs::metadata(&kept).unwrap().modified().unwrap(), before);
    assert_ne!(fs::read_to_string(out.join("mesh.py")).unwrap(), "changed");
}
