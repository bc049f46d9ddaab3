//! What the program writes, from the WIT of the project and from one with what that has not.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn run(wit: &Path, folder: &Path) -> Output {
    run_for("python", wit, folder)
}

fn run_for(language: &str, wit: &Path, folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_bindings")).arg(language).args([wit, folder]).output().unwrap()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
}

/// An empty folder of its own.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::remove_dir_all(&path).ok();
    fs::create_dir_all(&path).unwrap();
    path
}

fn modules(folder: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .filter(|path| path.extension().is_some_and(|extension| extension == "py" || extension == "rs"))
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read_to_string(&path).unwrap()))
        .collect()
}

/// The modules of a host that are not what is generated now, each with the first line that differs.
fn outdated(host: &str, made: &BTreeMap<String, String>) -> String {
    let held = modules(&root().join(host));
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

/// The only module of a package with one interface `sample`.
fn sample(name: &str, items: &str) -> Result<String, String> {
    let wit = folder(&format!("{name}-wit"));
    fs::write(wit.join("sample.wit"), format!("package a:b@1.0.0;\ninterface sample {{\n{items}\n}}\n")).unwrap();
    let out = folder(&format!("{name}-out"));
    let done = run(&wit, &out);
    if done.status.success() {
        Ok(modules(&out).remove("sample.py").unwrap())
    } else {
        Err(String::from_utf8(done.stderr).unwrap())
    }
}

#[test]
fn the_python_host_holds_what_is_generated_now() {
    let out = folder("current");
    assert!(run(&root().join("wit"), &out).status.success());
    let made = modules(&out);
    assert!(made.len() > 5);
    let outdated = outdated("hosts/python/src/samedeal/bindings", &made);
    assert!(outdated.is_empty(), "run `cargo xtask build`:\n{outdated}");
}

#[test]
fn the_rust_host_holds_what_is_generated_now() {
    let out = folder("current-rust");
    assert!(run_for("rust", &root().join("wit"), &out).status.success());
    let made = modules(&out);
    assert!(made.len() > 10);
    let outdated = outdated("hosts/rust/src/generated", &made);
    assert!(outdated.is_empty(), "run `cargo xtask build`:\n{outdated}");
}

#[test]
fn the_command_holds_what_is_generated_now() {
    let out = folder("current-command");
    assert!(run_for("command", &root().join("wit"), &out).status.success());
    let outdated = outdated("hosts/cli/src/generated", &modules(&out));
    assert!(outdated.is_empty(), "run `cargo xtask build`:\n{outdated}");
}

#[test]
fn what_is_as_it_should_be_is_not_written_again() {
    let out = folder("again");
    assert!(run(&root().join("wit"), &out).status.success());
    let gone = out.join("gone.py");
    fs::write(&gone, "").unwrap();
    let kept = out.join("readings.py");
    let before = fs::metadata(&kept).unwrap().modified().unwrap();
    fs::write(out.join("mesh.py"), "changed").unwrap();
    assert!(run(&root().join("wit"), &out).status.success());
    assert!(!gone.exists());
    assert_eq!(fs::metadata(&kept).unwrap().modified().unwrap(), before);
    assert_ne!(fs::read_to_string(out.join("mesh.py")).unwrap(), "changed");
}

#[test]
fn names_that_python_reserves_are_changed_in_python_alone() {
    let text = sample("names", "record place { %from: u32, count: u32 }\n pass: func(%as: place, core: u32);").unwrap();
    assert!(text.contains("    from_: int\n"), "{text}");
    assert!(text.contains("    count: int  # type: ignore[assignment]"), "{text}");
    assert!(text.contains("def pass_(core: Core, as_: Place, core_: int) -> None:"), "{text}");
    assert!(text.contains("ABI_PLACE = abi.record(Place, {\"from\": abi.U32, \"count\": abi.U32})"), "{text}");
    assert!(text.contains("#pass\", abi.NOTHING, {\"as\": ABI_PLACE, \"core\": abi.U32})"), "{text}");
}

#[test]
fn resources_come_and_go_by_their_handles() {
    let items = "resource thing {
        constructor();
        other: func(lent: borrow<thing>, given: option<thing>) -> thing;
        both: func() -> tuple<thing, u32>;
        find: static func(name: string) -> option<thing>;
    }";
    let text = sample("resources", items).unwrap();
    assert!(text.contains("    def __init__(self, core: Core) -> None:"), "{text}");
    assert!(text.contains("    def other(self, lent: Thing, given: Thing | None) -> Thing:"), "{text}");
    assert!(text.contains("    def both(self) -> tuple[Thing, int]:"), "{text}");
    assert!(text.contains("    @staticmethod\n    def find(core: Core, name: str) -> Thing | None:"), "{text}");
    assert!(text.contains("{\"self\": abi.U32, \"lent\": ABI_THING, \"given\": abi.option(ABI_THING)}"), "{text}");
    assert!(text.contains("abi.returned(abi.group(ABI_THING, abi.U32))"), "{text}");
    assert!(text.contains("#[constructor]thing\", abi.scalar(abi.U32), {})"), "{text}");
    assert!(text.contains("call_thing_drop = abi.Function(f\"{_INTERFACE}#[dtor]thing\""), "{text}");
}

#[test]
fn a_facade_has_values_and_calls_that_check() {
    let items = "type u53 = u64;
    record place { at: u53 }
    record failure { kind: string, field: string, value: string, allowed: string, facts: list<tuple<string, string>> }
    /// Steps.
    resource schedule {
        /// Reads a recipe. Errors: `out-of-range` (`rank`).
        constructor(recipe: string, rank: u32) -> result<schedule, failure>;
        /// The rank.
        rank: func() -> u32;
        /// The step of a `draw`, 64-bit. Errors: `out-of-range` (`draw`: above 2^53 - 1), `out-of-memory`.
        step-of: func(draw: u53, position: u53, drop-last: bool) -> result<place, failure>;
        /// The name. Errors: as `step-of`.
        name-of: func(state: string) -> result<string, failure>;
        indices: func(start: u53) -> list<u53>;
        at-rank: func(rank: u32) -> schedule;
    }";
    let text = sample("facade", items).unwrap();
    let (_, facade) = text.split_once("class ScheduleBase(Answered):").unwrap();
    for part in [
        "        memory_limit: SupportsIndex = 2**31,\n    ) -> Self:\n        \"\"\"Reads a recipe.\n",
        "        made._begin(recipes.read(recipe), memory_limit, check.u32(\"rank\", rank))\n        return made\n",
        "    @property\n    def rank(self) -> int:\n        \"\"\"The rank.\"\"\"\n        found: int = self._engine.config.rank\n",
        "    def step_of(self, draw: SupportsIndex, position: SupportsIndex = 0, drop_last: bool = False) -> Place:\n",
        "        \"\"\"The step of a `draw`.\n\n        Raises:\n            OutOfRangeError: `draw`: above 2**53 - 1.\n",
        "            check.u53(\"draw\", draw),\n",
        "    def name_of(self, state: str | Mapping[str, Any]) -> str:\n        \"\"\"The name.\n\n        Raises:\n            OutOfRangeError",
        "        return self._ask(Schedule.name_of, check.state(state))\n",
    ] {
        assert!(facade.contains(part), "{part} is not in\n{facade}");
    }
    // Those are written by hand.
    assert!(!facade.contains("def indices") && !facade.contains("def at_rank"), "{facade}");
}

#[test]
fn options_are_keywords_with_types_texts_and_defaults() {
    let out = folder("options");
    assert!(run(&root().join("wit"), &out).status.success());
    let made = modules(&out);
    for (file, part) in [
        ("batches.py", "        strategy: str | None = None,\n"),
        ("batches.py", "        boundaries: ArrayLike | Iterable[SupportsIndex] | None = None,\n"),
        // What the names mean, and the ranges.
        (
            "batches.py",
            "            strategy: How items become batches. \"budget\" (the default): as many samples of similar length as",
        ),
        (
            "batches.py",
            "            quadratic: Factor of the squared length in the cost of an item: `linear` * length + `quadratic` * length\n",
        ),
        ("sampling.py", "            world_size: Number of ranks. Range: 1 to 2**32 - 1. Default: 1.\n"),
        (
            "readings.py",
            "            reshuffle: With the deal \"shards\": whether each reader shuffles its own shards again, after the deal.",
        ),
        ("shards.py", "            \"deal\": {\"world_size\": world_size, \"workers\": workers},\n"),
    ] {
        assert!(made[file].contains(part), "{part} is not in {file}");
    }
}

#[test]
fn results_are_values_or_errors() {
    let items = "record failure { why: string }\n a: func() -> result<u32, failure>;\n b: func() -> result<_, failure>;
        c: func() -> result<option<list<u64>>, failure>;";
    let text = sample("results", items).unwrap();
    for line in [
        "def a(core: Core) -> int:",
        "def b(core: Core) -> None:",
        "def c(core: Core) -> NDArray[np.int64] | None:",
        "abi.fallible(abi.UNIT, ABI_FAILURE)",
        "abi.fallible(abi.option(abi.U64S), ABI_FAILURE)",
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
}

#[test]
fn what_has_no_form_in_python_is_refused_by_name() {
    for (name, items, said) in [
        ("float", "a: func(b: f64);", "F64"),
        ("flags", "flags all { one, two }", "all: a flags has no form"),
        ("nested", "a: func() -> option<result<u32, u32>>;", "a result has no form in Python here"),
    ] {
        let error = sample(name, items).unwrap_err();
        assert!(error.contains("interface sample") && error.contains(said), "{error}");
    }
}
