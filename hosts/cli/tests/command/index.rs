//! The index of batches by length: written by any number of threads, and used in place of planning an epoch.

use std::fs;

use crate::{failing, files, json, refuses, text};

#[test]
fn an_index_is_the_same_from_any_number_of_threads() {
    let folder = files::folder("index");
    let (lengths, path) = (folder.join("lengths.json"), folder.join("epoch.index"));
    let numbers = (0..20_000_u32).map(|sample| (sample * 7919 % 400 + 1).to_string()).collect::<Vec<_>>();
    fs::write(&lengths, format!("[{}]", numbers.join(","))).unwrap();
    let of = format!("{} --lengths --max-tokens 4096 --world-size 2 --batch-window 1000 --epoch 1", lengths.display());
    let index = text(&format!("index {of}"));
    for threads in [1, 2, 7] {
        assert_eq!(text(&format!("index {of} --threads {threads} --output {}", path.display())), "");
        assert_eq!(fs::read_to_string(&path).unwrap(), index, "{threads} threads");
    }
    let with = format!("{of} --index {}", path.display());
    for shown in ["batches --start 300 --count 2 --rank 1 --json", "step 17 --json", "locate --sample 4321 --json"] {
        let (name, options) = shown.split_once(' ').unwrap();
        let words = if name == "step" { options.split_once(' ').unwrap() } else { ("", options) };
        let asked = |of: &str| json(&format!("{name} {} {of} {}", words.0, words.1));
        assert_eq!(asked(&with), asked(&of), "{shown}");
    }

    // The index is refused for batches with other options or of another epoch, and by commands that do not use an
    // index.
    for (arguments, told) in [
        (format!("batches {with} --max-length 500"), "recipe_fingerprint is"),
        (format!("batches {} --epoch 0", with.replace(" --epoch 1", "")), "epoch is 1; allowed: 0"),
        (format!("batches {with} --compare"), "--index has no meaning here"),
        (format!("recipe {}", with.replace(" --epoch 1", "")), "--index has no meaning here"),
        (format!("index {with}"), "--index has no meaning here"),
        ("index --samples 100".to_owned(), "--lengths is missing"),
    ] {
        refuses(&arguments, told);
    }
    let changed = index.replacen("\"steps\":[", "\"steps\":[1", 1);
    fs::write(&path, changed).unwrap();
    let (_, said) = failing(&format!("batches {with}"));
    assert!(said.contains("epoch.index: ") && said.contains("index is"), "{said}");
}
