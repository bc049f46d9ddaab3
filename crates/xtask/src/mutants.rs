//! `cargo xtask mutants`: changes the core in one place at a time (cargo-mutants), and expects that a golden case fails
//! for each change. A change that no case can see is listed in `tests/vectors/mutants.txt`, with the reason.

use std::fs;

use crate::build;
use crate::machine;
use crate::plan::{Outcome, Plan, Report, Step};
use crate::progress::Progress;
use crate::project;

const TOOL: &str = "cargo-mutants";
const VERSION: &str = "27.1.0";
const PROGRAM: &str = "target/tools/bin/cargo-mutants";
/// A target folder of its own. Cargo takes the newest build in a folder for current: here, that is a changed core in a
/// copy of the tree.
const TARGET: &str = "target/mutants-build";
const CORE: &str = "crates/core/src/";
const KNOWN: &str = "tests/vectors/mutants.txt";
const SEPARATOR: &str = " :: ";

/// Files of the core, and the groups of golden cases that can see a change in them. Groups that fail fast come first.
struct Part {
    name: &'static str,
    files: &'static [&'static str],
    groups: &'static [&'static str],
}

const BATCHES: &[&str] = &[
    "batches-padded",
    "batches-budget",
    "batches-stream",
    "batches-bucket",
    "batches-state",
    "batches-default",
    "batches-index",
    "recipes-batch",
    "batches-pack",
    "batches-composed",
];
const SAMPLERS: &[&str] = &[
    "inverse",
    "deal-strided",
    "deal-contiguous",
    "deal-unit",
    "batches",
    "epochs-and-ranks",
    "short-epochs",
    "failures",
    "windows",
    "recipes",
    "state",
    "feistel-large",
    "order-sharded",
    "order-feistel",
    "order-sequential",
    "order-dotnet",
    "order-python",
    "order-torch",
    "order-torch-2.5",
    "order-fisher-yates",
    "fingerprints",
    "orders-composed",
    "ledger",
];

const PARTS: &[Part] = &[
    Part { name: "batches", files: &["batch/*.rs"], groups: BATCHES },
    Part { name: "packing", files: &["batch/packing/*.rs"], groups: &["batches-pack", "batches-default"] },
    Part { name: "collation", files: &["batch/collate.rs"], groups: &["collation"] },
    Part { name: "base", files: &["base/*.rs"], groups: ALL },
    Part { name: "orders", files: &["order/*.rs"], groups: SAMPLERS },
    Part {
        name: "composed",
        files: &["order/compose/*.rs"],
        groups: &["orders-composed", "batches-composed", "steps"],
    },
    Part { name: "deals", files: &["deal/*.rs"], groups: SAMPLERS },
    Part { name: "schedules", files: &["steps/*.rs"], groups: &["steps"] },
    Part { name: "splits", files: &["split/*.rs"], groups: &["splits"] },
    Part {
        name: "shards",
        files: &["shard/*.rs"],
        groups: &["shards-verify", "shards-stream", "shards-plan", "readings"],
    },
    Part { name: "readings", files: &["read/*.rs"], groups: &["readings", "readings-composed"] },
    Part { name: "topology", files: &["topology/*.rs"], groups: &["mesh", "launch"] },
    Part { name: "ledgers", files: &["ledger/*.rs"], groups: &["ledger", "ledger-client"] },
    Part {
        name: "texts",
        files: &["document/*.rs", "texts/*.rs"],
        groups: &[
            "recipes",
            "recipes-batch",
            "recipes-shards",
            "state",
            "batches-state",
            "ledger",
            "ledger-client",
            "readings",
            "readings-composed",
            "shards-stream",
            "splits",
            "steps",
            "orders-composed",
        ],
    },
];
/// Stands for all groups.
const ALL: &[&str] = &[];

/// A step for each part, or only for the named parts. With `--shard K/N`, only every N-th change is tried.
pub fn plan(words: &[&str]) -> Result<Plan, String> {
    let (words, shard) = match words {
        [words @ .., "--shard", shard] => (words, Some((*shard).to_string())),
        words => (words, None),
    };
    if let Some(word) = words.iter().find(|word| !PARTS.iter().any(|part| part.name == **word)) {
        let names: Vec<&str> = PARTS.iter().map(|part| part.name).collect();
        return Err(format!("there is no part {word} of the core, but {}", names.join(", ")));
    }
    let chosen = PARTS.iter().filter(|part| words.is_empty() || words.contains(&part.name));
    let step = |part: &'static Part| {
        let shard = shard.clone();
        Step::new(format!("mutants: {}", part.name), &[TOOL], move |progress| judge(progress, part, shard.as_deref()))
            .with_lock(build::CARGO)
    };
    let steps = chosen.map(step).collect();
    Ok(Plan::new("mutants", vec![Step::new(TOOL, &[], install).with_lock(build::CARGO)], steps))
}

fn install(progress: &Progress) -> Outcome {
    let version = machine::answer(&mut project::own(PROGRAM, &["mutants", "--version"]));
    if version.is_some_and(|version| version.ends_with(VERSION)) {
        return Ok(Report::note("up to date"));
    }
    progress.run(&mut project::cargo(&[
        "install",
        TOOL,
        "--locked",
        "--version",
        VERSION,
        "--root",
        "target/tools",
    ]))?;
    Ok(Report::note("installed in target/tools"))
}

fn judge(progress: &Progress, part: &Part, shard: Option<&str>) -> Outcome {
    let groups = if part.groups.is_empty() { all_groups()? } else { part.groups.join(",") };
    let test = ["--profile=mutants", "--package=matrix", "--features=matrix/judge", "--test=judge"];
    progress.run(project::cargo(&["test"]).args(test).env("SAMEDEAL_GROUPS", &groups))?;
    let folder = format!("target/mutants/{}", part.name);
    let output = project::path(&folder);
    fs::remove_dir_all(&output).ok();
    fs::create_dir_all(&output)?;
    let mut mutants = project::own(
        PROGRAM,
        &[
            "mutants",
            "--package=samedeal-core",
            "--test-package=matrix",
            "--features=matrix/judge",
            "--profile=mutants",
        ],
    );
    // The judge limits its own processor time, so that the timeouts are only a last resort. Code for WebAssembly alone
    // is left out, because the judge does not contain it.
    mutants.args(["--baseline=skip", "--timeout=600", "--build-timeout=600", "--colors=never"]);
    mutants.args(["--exclude-re=simd128::", &format!("--output={folder}")]);
    mutants.args(part.files.iter().map(|file| format!("--file={CORE}{file}")));
    let others = PARTS.iter().filter(|other| other.name != part.name).flat_map(|other| other.files);
    let inner = others.filter(|other| part.files.iter().any(|file| covers(file, other)));
    mutants.args(inner.map(|file| format!("--exclude={CORE}{file}")));
    mutants.args(shard.iter().flat_map(|shard| [format!("--shard={shard}"), "--sharding=round-robin".into()]));
    mutants.args(["--", "--test=judge"]);
    mutants.env("SAMEDEAL_GROUPS", &groups).env("CARGO_TARGET_DIR", project::path(TARGET));
    // The program also fails if a change survives. The counts below show whether it tried all changes.
    let ended = progress.run(&mut mutants);
    let read = |name: &str| fs::read_to_string(output.join("mutants.out").join(name)).unwrap_or_default();
    let count = |name: &str| read(name).lines().count();
    let (caught, unviable) = (count("caught.txt") + count("timeout.txt"), count("unviable.txt"));
    let missed = read("missed.txt");
    let survived: Vec<String> = missed.lines().map(described).collect::<Result<_, _>>()?;
    let total = read("mutants.json").matches("\"genre\":").count();
    if total != caught + unviable + survived.len() {
        ended?;
        return Err(format!("only {} of {total} changes were tried", caught + unviable + survived.len()).into());
    }
    let (new, gone) = compare(survived.clone(), known(&fs::read_to_string(project::path(KNOWN))?, part));
    let note = format!("{total} changes: {caught} caught, {unviable} do not compile, {} survive", survived.len());
    if !new.is_empty() {
        let why = "no golden case sees these changes; add one, or name the change there with the reason";
        return Err(format!("{note}\n{KNOWN}: {why}:\n{}", new.join("\n")).into());
    }
    if shard.is_none() && !gone.is_empty() {
        return Err(format!("{note}\n{KNOWN}: these are caught or not there any more:\n{}", gone.join("\n")).into());
    }
    Ok(Report::note(note))
}

/// Whether a pattern for all files of a folder covers another file.
fn covers(pattern: &str, file: &str) -> bool {
    let name = pattern.strip_suffix("*.rs").and_then(|folder| file.strip_prefix(folder));
    name.is_some_and(|name| !name.contains('/')) && file != pattern
}

fn all_groups() -> Result<String, String> {
    let folder = project::path("tests/vectors");
    let entries = fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter_map(|name| name.strip_suffix(".json").map(String::from)).collect();
    names.retain(|name| name != "schema");
    names.sort();
    Ok(names.join(","))
}

/// A survivor in the form of the list of known changes. `crates/core/src/FILE:LINE:COLUMN: CHANGE` becomes
/// `FILE :: CHANGE :: TEXT OF THE LINE`, which stays the same if lines are added above it.
fn described(survivor: &str) -> Result<String, String> {
    let strange = || format!("no line of cargo-mutants: {survivor}");
    let mut parts = survivor.splitn(4, ':');
    let (file, line) = (parts.next().ok_or_else(strange)?, parts.next().ok_or_else(strange)?);
    let change = parts.nth(1).ok_or_else(strange)?.trim();
    let text = fs::read_to_string(project::path(file)).map_err(|error| format!("{file}: {error}"))?;
    let number: usize = line.parse().map_err(|_| strange())?;
    let line = text.lines().nth(number.saturating_sub(1)).ok_or_else(strange)?.trim();
    Ok([file.strip_prefix(CORE).unwrap_or(file), change, line].join(SEPARATOR))
}

/// The known changes of a part: the indented lines of the list. All other lines are reasons.
fn known(text: &str, part: &Part) -> Vec<String> {
    let named = text.lines().filter_map(|line| line.strip_prefix("    "));
    let file = |line: &str| line.split(SEPARATOR).next().unwrap_or_default().to_string();
    named.filter(|line| owner(&file(line)).is_some_and(|name| name == part.name)).map(String::from).collect()
}

/// The part to which a file belongs: the one with the longest matching pattern.
fn owner(file: &str) -> Option<&'static str> {
    let patterns = PARTS.iter().flat_map(|part| part.files.iter().map(move |pattern| (part.name, *pattern)));
    let of = patterns.filter(|(_, pattern)| *pattern == file || covers(pattern, file));
    of.max_by_key(|(_, pattern)| pattern.len()).map(|(name, _)| name)
}

/// Survivors that are not known, and known changes that did not survive. A change that occurs twice on a line is listed
/// twice.
fn compare(survived: Vec<String>, mut known: Vec<String>) -> (Vec<String>, Vec<String>) {
    let is_new = |change: &String| match known.iter().position(|other| other == change) {
        Some(place) => {
            known.swap_remove(place);
            false
        }
        None => true,
    };
    let new = survived.into_iter().filter(is_new).collect();
    known.sort();
    (new, known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_has_one_part() {
        assert_eq!(owner("batch/pack.rs"), Some("batches"));
        assert_eq!(owner("batch/collate.rs"), Some("collation"));
        assert_eq!(owner("batch/packing/mod.rs"), Some("packing"));
        assert_eq!(owner("order/feistel.rs"), Some("orders"));
        assert_eq!(owner("lib.rs"), None);
    }

    #[test]
    fn what_is_known_names_files_and_lines_that_are_there() {
        let text = fs::read_to_string(project::path(KNOWN)).unwrap();
        let mut count = 0;
        for line in text.lines().filter_map(|line| line.strip_prefix("    ")) {
            let parts: Vec<&str> = line.splitn(3, SEPARATOR).collect();
            let [file, _, source] = parts[..] else { panic!("{line}") };
            assert!(owner(file).is_some(), "{line}");
            let text = fs::read_to_string(project::path(CORE).join(file)).unwrap();
            assert!(text.lines().any(|line| line.trim() == source), "{line}");
            count += 1;
        }
        assert!(count > 0);
    }

    #[test]
    fn a_change_that_is_there_twice_is_named_twice() {
        let [a, b] = ["a", "b"].map(String::from);
        let (new, gone) = compare(vec![a.clone(), a.clone()], vec![b.clone(), a.clone()]);
        assert_eq!((new, gone), (vec![a], vec![b]));
    }

    #[test]
    fn parts_are_chosen_by_name() {
        assert!(plan(&[]).is_ok());
        assert!(plan(&["packing", "--shard", "0/4"]).is_ok());
        assert!(plan(&["pack"]).is_err());
    }
}
