//! Every public function of the Rust host is called by the fuzzer of that host.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Files whose types users cannot name, so that their functions are not listed.
const OWN_FILES: [&str; 5] = ["recipe.rs", "cache.rs", "component.rs", "native.rs", "named.rs"];
/// Functions that the fuzzer need not call. `claim` sleeps until other readers are done; `try_claim`, which is called,
/// does the same without sleep. The others are parts of errors and iterators, and take no arguments.
const NOT_CALLED: [&str; 4] = ["claim", "cause", "io", "schedule"];

fn sources(folder: &Path, texts: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, texts);
        } else if path.extension().is_some_and(|end| end == "rs") {
            let name = path.file_name().expect("a file").to_string_lossy().into_owned();
            texts.push((name, fs::read_to_string(&path).expect("a source")));
        }
    }
}

#[test]
fn every_public_function_is_called() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut host, mut fuzzer) = (Vec::new(), Vec::new());
    sources(&root.join("../../hosts/rust/src"), &mut host);
    sources(&root.join("src/bin/rust"), &mut fuzzer);
    let all: String = fuzzer.into_iter().map(|(_, text)| text).collect();
    let mut missing = BTreeSet::new();
    let mut found = 0;
    for (file, text) in host.iter().filter(|(file, _)| !OWN_FILES.contains(&file.as_str())) {
        for line in text.lines() {
            let Some(rest) = line.trim_start().strip_prefix("pub fn ") else { continue };
            let name = rest.split(['(', '<']).next().unwrap_or_default();
            found += 1;
            // A match within a longer word is the function of another type, so it does not count as a call.
            let is_called = ["(", "::<"].iter().any(|end| {
                let call = format!("{name}{end}");
                all.match_indices(&call).any(|(at, _)| {
                    let before = all[..at].chars().next_back().unwrap_or(' ');
                    !before.is_alphanumeric() && before != '_'
                })
            });
            if !is_called && !NOT_CALLED.contains(&name) {
                missing.insert(format!("{file}: {name}"));
            }
        }
    }
    assert!(found > 200, "the host has {found} public functions");
    assert!(missing.is_empty(), "no program of src/bin/rust calls {missing:#?}");
}
