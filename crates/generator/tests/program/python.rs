//! Tests of the modules of Python.

use super::{check_parts, made};

/// The only module of a package with one interface `sample`.
fn sample(name: &str, items: &str) -> Result<String, String> {
    let wit = format!("package a:b@1.0.0;\ninterface sample {{\n{items}\n}}\n");
    super::sample("python", name, &wit).map(|mut files| files.remove("sample.py").unwrap())
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
    }";
    let text = sample("resources", items).unwrap();
    assert!(text.contains("\nfrom typing import TYPE_CHECKING\n\nfrom ..engine import abi\n"), "{text}");
    assert!(text.contains("    def __init__(self, core: Core) -> None:"), "{text}");
    assert!(text.contains("    def other(self, lent: Thing, given: Thing | None) -> Thing:"), "{text}");
    assert!(text.contains("    def both(self) -> tuple[Thing, int]:"), "{text}");
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
    // `indices` and `at-rank` are written by hand.
    assert!(!facade.contains("def indices") && !facade.contains("def at_rank"), "{facade}");
}

#[test]
fn options_are_keywords_with_types_texts_and_defaults() {
    check_parts(
        &made("python", "options"),
        &[
            ("batches.py", "        strategy: str | None = None,\n"),
            ("batches.py", "        boundaries: ArrayLike | Iterable[SupportsIndex] | None = None,\n"),
            // The texts contain the meanings of names, and ranges.
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
        ],
    );
}

#[test]
fn results_are_values_or_errors() {
    let items = "record failure { why: string }\n a: func() -> result<u32, failure>;\n b: func() -> result<_, failure>;
        c: func() -> result<option<list<u64>>, failure>;";
    let text = sample("results", items).unwrap();
    for line in [
        "from typing import TYPE_CHECKING, NamedTuple\n\nfrom ..engine import abi\n",
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
        ("variant", "variant one { a, b(u32) }", "one: a variant has no form"),
        ("static", "resource thing { find: static func() -> u32; }", "a static function has no form"),
        ("nested", "a: func() -> option<result<u32, u32>>;", "a result has no form in Python"),
    ] {
        let error = sample(name, items).unwrap_err();
        assert!(error.contains("interface sample") && error.contains(said), "{error}");
    }
}

#[test]
fn a_docstring_has_a_first_line_and_a_section_of_errors() {
    let items = "resource some-thing { constructor(); }
    /// How many batches of
    /// `batch-size` there are: up to 2^53 - 1. See `some-thing`. As torch's `some_thing_of`.
    /// Errors: `out-of-range` (`batch-size` is 0), `contradiction` (`layout`: `none-such`), `out-of-range` (`num-batches`),
    /// `out-of-memory`.
    a: func(batch-size: u32, num-batches: u32) -> u32;
    /// The names.
    b: func();
    record c {
        /// `a-b`
        d: u32,
    }";
    let text = sample("docstring", items).unwrap();
    for part in [
        concat!(
            "    \"\"\"How many batches of `batch_size` there are: up to 2**53 - 1.\n\n",
            "    See `SomeThing`. As torch's `some_thing_of`.\n\n",
            "    Raises:\n",
            "        OutOfRangeError: `batch_size` is 0; `num_batches`.\n",
            "        ContradictionError: \"layout\": \"none-such\".\n",
            "        OutOfMemoryError: There is not enough memory.\n",
            "    \"\"\"\n"
        ),
        "    \"\"\"The names.\"\"\"\n",
        "    \"\"\" \"a-b\" \"\"\"\n",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
}

#[test]
fn long_lines_are_wrapped_and_items_of_a_list_stay_apart() {
    let items = format!(
        "record names {{\n/// Names:\n///\n/// - `a`: one;\n///   more.\n/// - `b`: {}\n c: u32 }}",
        "word ".repeat(40)
    );
    let text = sample("list", &items).unwrap();
    assert!(text.contains("\"\"\"Names:\n\n    - \"a\": one; more.\n\n    - \"b\": word word"), "{text}");
    assert!(text.contains("word\n      word"), "{text}");
    assert!(text.lines().all(|line| line.len() <= 120));
}

#[test]
fn errors_are_read_one_by_one() {
    let items = "/// Batch. Errors: `out-of-range` (`size` is 0; `batch`, or more (of them)),
    /// `out-of-memory`.
    batch: func(size: u32);
    /// The same.
    ///
    /// Errors: as `batch`, and `contradiction` (`samples`).
    more: func();
    /// Adds. Errors:
    ///
    /// - `missing` (`a`: one, two);
    /// - `out-of-range` (`b`, `c`).
    add: func(b: u32, c: u32);
    /// Errors of others: none.
    others: func();";
    let text = sample("errors", items).unwrap();
    let batch = "        OutOfRangeError: `size` is 0; `batch`, or more (of them).\n        OutOfMemoryError: There is not enough memory.\n";
    for part in [
        format!("    \"\"\"Batch.\n\n    Raises:\n{batch}    \"\"\"\n"),
        format!("    \"\"\"The same.\n\n    Raises:\n{batch}        ContradictionError: \"samples\".\n    \"\"\"\n"),
        "    \"\"\"Adds.\n\n    Raises:\n        MissingError: \"a\": one, two.\n        OutOfRangeError: `b` or `c` is outside its range.\n"
            .to_owned(),
        "    \"\"\"Errors of others: none.\"\"\"\n".to_owned(),
    ] {
        assert!(text.contains(&part), "{part} is not in\n{text}");
    }
}

#[test]
fn every_error_of_the_interface_has_a_kind() {
    let mut seen = 0;
    for (file, text) in made("python", "kinds") {
        assert!(!text.contains("rrors: "), "{file}");
        for section in text.split("Raises:\n").skip(1) {
            let section = section.split("\"\"\"").next().unwrap();
            let indent = section.find(|c| c != ' ').unwrap();
            let entries = section.lines().filter(|line| line.find(|c| c != ' ') == Some(indent));
            for (class, about) in entries.filter_map(|entry| entry.trim().split_once(": ")) {
                let is_known = match class {
                    "SamedealError" => {
                        ["As ", "Those of ", "With the first entry"].iter().any(|of| about.starts_with(of))
                    }
                    class => [
                        "WrongType",
                        "UnknownName",
                        "UnknownMember",
                        "OutOfRange",
                        "Missing",
                        "Contradiction",
                        "OutOfMemory",
                    ]
                    .contains(&class.trim_end_matches("Error")),
                };
                assert!(is_known, "{file}: {class}: {about}");
                seen += 1;
            }
        }
    }
    assert!(seen > 100, "{seen}");
}
