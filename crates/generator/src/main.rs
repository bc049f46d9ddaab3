//! `generator WHAT WIT FOLDER` writes the files that are generated from the WIT and from the core's tables of members.
//! A file whose text has not changed is not written again. A module that is no longer generated is removed.

mod command;
mod facade;
mod javascript;
mod manual;
mod members;
mod python;
mod rust;
mod wit;
mod words;

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use wit_parser::Resolve;

use wit::Wit;

/// Texts by the names of their files.
type Files = BTreeMap<String, String>;
type Generator = fn(Wit<'_>) -> Result<Files, String>;

/// The generators, by the argument WHAT.
const GENERATORS: [(&str, Generator); 7] = [
    // The binding layer of the Python host: a module for each interface.
    ("python", python::modules),
    // The binding layer of the JavaScript host: a module for each world.
    ("javascript", javascript::modules),
    // The base classes of the JavaScript host: a module for each interface.
    ("typescript", javascript::facades::modules),
    // The methods of the Rust classes that only call the component.
    ("rust", rust::modules),
    // The types and traits that the crate `samedeal-interface` implements.
    ("interface", rust::interface::modules),
    // The tables of the options of the command.
    ("command", command::modules),
    // The interface as a page of the site.
    ("manual", manual::pages),
];

fn main() -> ExitCode {
    let words: Vec<_> = env::args().skip(1).collect();
    let generator = GENERATORS.iter().find(|(name, _)| words.first().is_some_and(|what| what == name));
    let (Some((_, generator)), [_, wit, folder]) = (generator, &words[..]) else {
        let names = GENERATORS.map(|(name, _)| name).join("|");
        eprintln!("usage: generator {names} WIT FOLDER");
        return ExitCode::from(2);
    };
    let mut resolve = Resolve::default();
    let read = resolve.push_dir(wit).map_err(|error| format!("{error:#}"));
    let files = read.and_then(|(package, _)| generator(Wit { resolve: &resolve, package }));
    match files.and_then(|files| write(&files, Path::new(folder)).map_err(|error| error.to_string())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{wit}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write(files: &Files, folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if [".py", ".js", ".ts", ".rs"].iter().any(|kind| name.ends_with(kind)) && !files.contains_key(&*name) {
            fs::remove_file(&path)?;
        }
    }
    for (name, text) in files {
        let path = folder.join(name);
        if fs::read_to_string(&path).is_ok_and(|old| old == *text) {
            continue;
        }
        // The file is replaced by a rename, so that a process that imports the package at this moment does not read
        // half a module.
        let temporary = path.with_extension("new");
        fs::write(&temporary, text)?;
        fs::rename(temporary, path)?;
    }
    Ok(())
}
