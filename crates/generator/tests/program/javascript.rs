//! Tests of the modules of JavaScript and TypeScript.

use super::{check_parts, made};

fn world(name: &str, body: &str) -> Result<String, String> {
    let wit = format!("package a:b@0.1.0; world w {{ export i; }} interface i {{ {body} }}");
    super::sample("javascript", name, &wit).map(|files| files["w.js"].clone())
}

#[test]
fn every_kind_of_type_and_of_call() {
    let wit = world(
        "every-kind",
        "record two { first-one: u32, other: list<string> } enum side { left, right }
        resource thing {
            constructor(side: side) -> result<thing, string>;
            of-two: func(two: two, pairs: list<tuple<u64, s64>>) -> option<bool>;
        }
        take: func(thing: borrow<thing>, given: thing) -> result<_, two>;",
    );
    let made = wit.unwrap();
    let two = "['record', ['firstOne', 'u32'], ['other', ['list', 'string']]]";
    for expected in [
        "  'i': {\n    id: 'a:b/i@0.1.0',\n    resources: {\n      'thing': {\n".to_owned(),
        "new: ['[constructor]thing', [['enum', 'left', 'right']], ['result', ['own', 'thing'], 'string']]".into(),
        format!(
            "ofTwo: ['[method]thing.of-two', [['borrow', 'thing'], {two}, ['list', ['tuple', 'u64', 's64']]], ['option', 'bool']]"
        ),
        format!("take: ['take', [['borrow', 'thing'], ['own', 'thing']], ['result', null, {two}]]"),
    ] {
        assert!(made.contains(&expected), "{expected} is not in {made}");
    }
}

#[test]
fn what_the_runtime_cannot_do_is_an_error() {
    let many = (0..17).map(|i| format!("p{i}: u32")).collect::<Vec<_>>().join(", ");
    for (at, (body, error)) in [
        (format!("f: func({many});"), "world w: f: parameters in memory have no form in JavaScript yet"),
        ("f: func(a: f32);".into(), "world w: F32 has no form in JavaScript yet"),
        ("f: func() -> list<u8>;".into(), "world w: U8 has no form in JavaScript yet"),
        ("variant v { a, b(u32) } f: func() -> v;".into(), "world w: a variant has no form in JavaScript yet"),
    ]
    .into_iter()
    .enumerate()
    {
        let said = world(&format!("refused-{at}"), &body).unwrap_err();
        assert!(said.trim_end().ends_with(error), "{said}");
    }
}

#[test]
fn values_are_properties_and_arguments_are_checked() {
    let made = made("typescript", "values");
    check_parts(
        &made,
        &[
            (
                "sampling.ts",
                "  /** Number of the epoch; a `bigint` where it is beyond 2^53 - 1. */\n  get epoch(): Integer {\n    return plain(this.call((raw) => raw.epoch()));\n  }\n",
            ),
            (
                "sampling.ts",
                "  get epochLength(): number {\n    return Number(this.call((raw) => raw.epochLength()));\n",
            ),
            (
                "sampling.ts",
                "  locate(sample: Integer, batchSize: Integer): Place | null {\n\
             \x20   const rawSample = u53('sample', sample, (other) => this.locate(other, batchSize));\n\
             \x20   const rawBatchSize = u32('batch_size', batchSize, (other) => this.locate(sample, other));\n\
             \x20   const found = this.call((raw) => raw.locate(rawSample, rawBatchSize));\n\
             \x20   return found === undefined ? null : placeOf(found);\n",
            ),
            ("sampling.ts", "  numBatches(batchSize: Integer, options?: { dropLast?: boolean }): number {\n"),
            ("sampling.ts", "    places: raw.places.map(placeOf),\n"),
            ("readings.ts", "  round(rank: Integer, worker: Integer, number: Integer): ReadRound {\n"),
            ("readings.ts", "  shards(rank: Integer, worker: Integer = 0): Uint32Array<ArrayBuffer> {\n"),
            ("batches.ts", "<R extends { plan: RawBatcher }> extends Facade<ComponentBindings, R> {\n"),
            ("batches.ts", "  flush(): void {\n    this.call((raw) => raw.flush());\n"),
            ("launch.ts", "  localRank?: number;\n"),
        ],
    );
}

#[test]
fn texts_have_the_words_of_javascript() {
    let made = made("typescript", "texts");
    check_parts(
        &made,
        &[
            ("sampling.ts", "`null` if it is not seen again."),
            (
                "sampling.ts",
                "   * @throws SamedealError `contradiction` (`name`: it is no blend; `indexSpace`: several sources may have the\n",
            ),
            // The reference to another function is replaced with its errors.
            (
                "sampling.ts",
                "   * @throws SamedealError `contradiction` (`name`: it is not `sharded`; `layout`: it is `rotated`; `unit`: above 1).\n",
            ),
            ("steps.ts", "/** Which samples of a step belong to a rank, see `Sampler.layout`. */"),
            ("ledger.ts", "   * - `commit`: the reader has finished the run."),
            ("launch.ts", "`world_size=value`"),
        ],
    );
    for text in made.values() {
        assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
        for wrong in ["rrors: ", ", 64-bit", "(64-bit)", "None ", "`none` if"] {
            assert!(!text.contains(wrong) || text.contains("`none` if nothing is set"), "{wrong}: {text}");
        }
    }
}
