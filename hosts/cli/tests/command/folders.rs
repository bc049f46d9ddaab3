//! The files that a directory stands for.
#![cfg(unix)]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use crate::files::{self, Dataset};
use crate::{command, failing, json, refuses};

fn samples(path: &Path) -> u64 {
    json(&format!("verify {} --json", path.display()))["dataset_size"].as_u64().unwrap()
}

#[track_caller]
fn refused(path: &Path, words: &[&str]) {
    let (code, said) = failing(&format!("verify {}", path.display()));
    assert!(code == 2 && words.iter().all(|word| said.contains(word)), "{said}");
}

#[test]
fn hidden_and_temporary_names_are_passed_over() {
    let dataset = Dataset::write("folder-hidden");
    let folder = &dataset.folder;
    let file = folder.join("a.parquet");
    for name in [".a.parquet", "_a.parquet", "a/.tmp.parquet", "_temporary/a.parquet", ".git/a.parquet"] {
        fs::create_dir_all(folder.join(name).parent().unwrap()).unwrap();
        fs::copy(&file, folder.join(name)).unwrap();
    }
    // The first file does not end in `.parquet`, and the link is hidden, so it is not followed.
    fs::write(folder.join("A.PARQUET"), "no Parquet").unwrap();
    symlink("nowhere", folder.join(".link")).unwrap();
    assert_eq!(samples(folder), 130);
    // A hidden file counts if it is named on the command line.
    assert_eq!(samples(&folder.join(".a.parquet")), 40);
}

#[test]
fn links_are_followed() {
    let dataset = Dataset::write("folder-links");
    let folder = files::folder("folder-linked");
    symlink(&dataset.folder, folder.join("all")).unwrap();
    assert_eq!(samples(&folder), 130);
    fs::remove_file(folder.join("all")).unwrap();
    symlink(dataset.folder.join("a.parquet"), folder.join("x.parquet")).unwrap();
    symlink(dataset.folder.join("b"), folder.join("b")).unwrap();
    assert_eq!(samples(&folder), 69);
    // The file has two paths through the link, so it is refused.
    symlink("b", folder.join("c")).unwrap();
    refused(&folder, &["the same file as"]);
}

#[test]
fn links_that_lead_nowhere_or_back_are_named() {
    for (name, target) in [("nowhere", "no-such-file"), ("nowhere.parquet", "no-such-file"), ("itself", "itself")] {
        let dataset = Dataset::write("folder-dangling");
        symlink(target, dataset.folder.join("b").join(name)).unwrap();
        refused(&dataset.folder, &[&format!("folder-dangling/b/{name}: ")]);
    }
    for target in ["..", ".", "../.."] {
        let dataset = Dataset::write("folder-circle");
        symlink(target, dataset.folder.join("b/back")).unwrap();
        refused(&dataset.folder, &["folder-circle/b/back: is a link that leads back to a directory above it"]);
    }
    // The two links lead to each other.
    let dataset = Dataset::write("folder-circles");
    symlink("../b", dataset.folder.join("a/x")).unwrap();
    symlink("../a", dataset.folder.join("b/y")).unwrap();
    refused(&dataset.folder, &["leads back to a directory above it"]);
}

#[test]
fn what_cannot_be_listed_is_named() {
    let dataset = Dataset::write("folder-closed");
    let closed = dataset.folder.join("b");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    // Root can list a closed directory, so this is only tested for other users.
    if fs::read_dir(&closed).is_err() {
        refused(&dataset.folder, &["folder-closed/b: "]);
    }
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(samples(&dataset.folder), 130);
}

#[test]
fn a_pipe_is_an_error_and_no_wait() {
    let dataset = Dataset::write("folder-pipe");
    let pipe = dataset.folder.join("pipe.parquet");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    refused(&pipe, &["pipe.parquet: is no regular file"]);
    refuses(&format!("batches {} --lengths n --max-tokens 9", pipe.display()), "is no regular file");
    // Files that are no regular files are left out if they are below a directory.
    assert_eq!(samples(&dataset.folder), 130);
    refused(Path::new("/dev/null"), &["/dev/null: is no regular file"]);
}

#[test]
fn names_that_are_not_utf8_are_errors() {
    let dataset = Dataset::write("folder-names");
    let name = OsStr::from_bytes(b"caf\xe9.parquet");
    // Some file systems do not allow such names.
    if fs::copy(dataset.folder.join("a.parquet"), dataset.folder.join("b").join(name)).is_err() {
        return;
    }
    refused(&dataset.folder, &["folder-names/b/caf", "is a name that is not UTF-8; rename it"]);
    let output = command("verify").arg(dataset.folder.join("b").join(name)).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("is a name that is not UTF-8"));
}

#[test]
fn an_output_that_cannot_be_put_in_its_place_leaves_nothing() {
    let folder = files::folder("output-is-a-folder");
    std::fs::create_dir(folder.join("there")).unwrap();
    let output = command("recipe --samples 10 --output there").current_dir(&folder).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let names: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["there"]);
}
