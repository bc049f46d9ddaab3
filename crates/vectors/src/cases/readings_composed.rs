//! Readings of composed orders: whole epochs, torn turns, chains of groups, additions to orders, nested orders, and
//! every failure.

use std::collections::BTreeMap;

use matrix::Engine;
use matrix::format::{Call, Case, Lists, Made, ReadCall, Subject, U64};
use matrix::native::Native;

use super::{asked, numbers};

/// Ranks, workers and batch size of a group.
type Group = (u32, u32, u32);

/// Lists that are passed beside a recipe, by their paths.
type Beside<'a> = &'a [(&'a str, &'a [u64])];

const REMAINDERS: [&str; 3] = ["pad", "drop", "uneven"];

pub fn cases() -> Vec<Case> {
    [wholes(), long(), rests(), chains(), additions(), nested(), lists(), refused(), other_states()].concat()
}

fn sharded(sizes: &str, lanes: u32, window: u32) -> String {
    format!("{{\"name\":\"sharded\",\"sizes\":[{sizes}],\"lanes\":{lanes},\"shuffle_window\":{window}}}")
}

fn source(name: &str, weight: u64, order: &str) -> String {
    format!("{{\"name\":\"{name}\",\"weight\":{weight},\"order\":{order}}}")
}

/// Three sources, each a dataset of several files.
fn three() -> String {
    let web = source("web", 7, &sharded("13,0,22,9", 4, 5));
    let code = source("code", 2, &sharded("11,6", 3, 4));
    [web, code, source("math", 1, &sharded("5", 1, 2))].join(",")
}

fn blend(more: &str) -> String {
    format!("{{\"name\":\"blend\",\"seed\":5{more},\"sources\":[{}]}}", three())
}

/// A blend of the same datasets, in which each lane follows the pattern on its own.
fn by_lane(name: &str, more: &str) -> String {
    let web = source("web", 7, &sharded("13,0,22,9", 4, 5));
    let code = source("code", 2, &sharded("11,6", 4, 4));
    let sources = [web, code, source("math", 1, &sharded("5", 4, 2))].join(",");
    format!("{{\"name\":\"{name}\",\"seed\":5,\"by_lane\":true{more},\"sources\":[{sources}]}}")
}

/// Every order that a reading can have.
fn orders() -> Vec<(&'static str, String)> {
    let near = sharded("13,5,0,21,9", 4, 4);
    let shared = [source("easy", 3, &near), source("hard", 1, &near)].join(",");
    vec![
        ("blend", blend(",\"samples\":60")),
        ("exact blend", blend("").replace("\"blend\"", "\"blend-exact\"")),
        ("stop", blend(",\"exhaustion\":\"stop\",\"max_passes\":2")),
        ("renormalize", blend(",\"exhaustion\":\"renormalize\"")),
        ("fail", blend(",\"exhaustion\":\"fail\",\"samples\":20")),
        (
            "stages",
            blend(",\"samples\":50,\"stages\":[{\"from\":30,\"weights\":[1,1,1]},{\"from\":110,\"weights\":[0,1,3]}]"),
        ),
        ("shared", format!("{{\"name\":\"blend\",\"samples\":40,\"index_space\":\"shared\",\"sources\":[{shared}]}}")),
        ("exclude", format!("{{\"name\":\"exclude\",\"indices\":[0,14,47],\"of\":{near}}}")),
        ("subset", format!("{{\"name\":\"subset\",\"indices\":[1,2,3,18,19,20,30,40,47],\"of\":{near}}}")),
        (
            "exclude of subset",
            format!(
                "{{\"name\":\"exclude\",\"indices\":[0,3,14,21,47],\"of\":{{\"name\":\"subset\",\"of\":{near},\
                 \"indices\":[0,1,2,3,5,6,7,8,13,14,15,16,17,19,20,21,22,23,39,40,41,42,43,44,46,47]}}}}"
            ),
        ),
        (
            "skip",
            format!(
                "{{\"name\":\"skip\",\"of\":{near},\"ranges\":[{{\"epoch\":1,\"start\":3,\"count\":40}},{{\"epoch\":3,\"start\":0,\"count\":48}}]}}"
            ),
        ),
        ("skip of whole rows of lanes", {
            let range = "{\"epoch\":1,\"start\":3,\"count\":8}";
            format!("{{\"name\":\"skip\",\"of\":{near},\"ranges\":[{range},{{\"epoch\":3,\"start\":0,\"count\":4}}]}}")
        }),
        ("skip of a blend by lane", {
            let mixed = by_lane("blend", ",\"samples\":48");
            format!(
                "{{\"name\":\"skip\",\"of\":{mixed},\"ranges\":[{{\"epoch\":1,\"start\":8,\"count\":12}},\
                 {{\"epoch\":3,\"start\":2,\"count\":3}}]}}"
            )
        }),
        ("copies", format!("{{\"name\":\"copies\",\"copies\":3,\"of\":{}}}", sharded("7,0,4", 2, 3))),
        ("one copy", format!("{{\"name\":\"copies\",\"copies\":1,\"of\":{near}}}")),
        ("no sample", format!("{{\"name\":\"exclude\",\"indices\":[0,1],\"of\":{}}}", sharded("1,1", 1, 1))),
        ("by lane", by_lane("blend", "")),
        ("by lane, exclude", {
            let math = sharded("5", 4, 2);
            let left = format!("{{\"name\":\"exclude\",\"indices\":[2],\"of\":{math}}}");
            by_lane("blend", "").replace(&math, &left)
        }),
        (
            "by lane, stages",
            by_lane(
                "blend-exact",
                ",\"samples\":48,\"stages\":[{\"from\":24,\"weights\":[1,1,1]},{\"from\":72,\"weights\":[0,1,3]}]",
            ),
        ),
    ]
}

fn made(
    order: &str,
    (world, workers, batch): Group,
    more: (&str, bool),
    lists: &[(&str, &[u64])],
    epoch: u64,
) -> Subject {
    let (remainder, drop_last) = more;
    let recipe = format!(
        "{{\"order\":{order},\"deal\":{{\"world_size\":{world},\"workers\":{workers},\"remainder\":\"{remainder}\"}},\
         \"batch\":{{\"batch_size\":{batch},\"drop_last\":{drop_last}}}}}"
    );
    let lists: Lists = BTreeMap::from_iter(lists.iter().map(|&(name, list)| (name.to_string(), numbers(list))));
    Subject::Reading(Made { recipe, lists, epoch: U64(epoch) })
}

/// The calls of a case, with an engine that has answered the calls so far.
struct Script {
    subject: Subject,
    engine: Native,
    group: Group,
    calls: Vec<Call>,
}

impl Script {
    fn new(order: &str, group: Group, remainder: &str, epoch: u64) -> Self {
        let subject = made(order, group, (remainder, false), &[], epoch);
        let engine = Native::create(&subject).expect("a reading");
        Self { subject, engine, group, calls: Vec::new() }
    }

    fn ask(&mut self, calls: impl IntoIterator<Item = ReadCall>) {
        for call in calls.into_iter().map(Call::Reading) {
            // A call that fails leaves the reading as it was.
            drop(self.engine.call(&call));
            self.calls.push(call);
        }
    }

    fn number(&mut self, call: ReadCall) -> u64 {
        let call = Call::Reading(call);
        let answer = self.engine.call(&call).expect("an answer");
        self.calls.push(call);
        answer.as_str().and_then(|text| text.parse().ok()).expect("a number")
    }

    /// Asks for the answers that are the same for every group of readers.
    fn itself(&mut self) {
        self.ask([
            ReadCall::Recipe,
            ReadCall::RecipeFingerprint,
            ReadCall::Seed,
            ReadCall::Sizes,
            ReadCall::ReadsPerRow,
            ReadCall::LanesReadOnce,
            ReadCall::MixingAdvice,
        ]);
    }

    /// Asks everything about all readers.
    fn everything(&mut self) {
        let (world, workers, _) = self.group;
        self.ask([ReadCall::Epoch, ReadCall::IsRest, ReadCall::StepBounds, ReadCall::NumIdleReaders]);
        for rank in 0..world {
            let steps = self.number(ReadCall::NumSteps { rank });
            self.ask(steps.checked_sub(1).map(|step| ReadCall::BatchAt { rank, step: U64(step) }));
            for worker in 0..workers {
                let count = self.number(ReadCall::NumSamples { rank, worker });
                self.ask([
                    ReadCall::NumPadding { rank, worker },
                    ReadCall::NumBatches { rank, worker },
                    ReadCall::Indices {
                        rank,
                        worker,
                        start: U64(count / 3),
                        count: (count - count / 3).min(64) as u32,
                    },
                ]);
                self.rounds(rank, worker, count);
            }
        }
    }

    fn rounds(&mut self, rank: u32, worker: u32, count: u64) {
        let rounds = self.number(ReadCall::NumRounds { rank, worker });
        for number in (0..rounds).map(U64).take(3) {
            self.ask([ReadCall::Round { rank, worker, number }]);
            let left = count - number.0 * 1024;
            self.ask([
                ReadCall::RoundRows { rank, worker, number, start: U64(0), count: left.min(80) as u32 },
                ReadCall::RoundRows {
                    rank,
                    worker,
                    number,
                    start: U64(left.min(1024) / 2),
                    count: (left.min(1024) - left.min(1024) / 2).min(30) as u32,
                },
            ]);
        }
        self.ask(count.checked_sub(1).map(|index| ReadCall::RoundOf { rank, worker, index: U64(index) }));
    }

    fn case(self, name: &str) -> Case {
        asked(name, self.subject, self.calls)
    }
}

/// Every order for several groups, in several epochs.
fn wholes() -> Vec<Case> {
    let mut cases = Vec::new();
    for (nth, (name, order)) in orders().into_iter().enumerate() {
        for (at, group) in [(1, 1, 4), (2, 2, 3), (5, 1, 2)].into_iter().enumerate() {
            let remainder = REMAINDERS[(nth + at) % 3];
            let mut script = Script::new(&order, group, remainder, 0);
            script.itself();
            script.everything();
            script.ask([ReadCall::State { steps: U64(0) }, ReadCall::State { steps: U64(1) }]);
            for epoch in [1, 3] {
                script.ask([ReadCall::AtEpoch { epoch: U64(epoch) }]);
                script.everything();
            }
            script.ask([ReadCall::AtEpoch { epoch: U64(u64::MAX) }, ReadCall::Epoch]);
            cases.push(script.case(&format!("{name}: {group:?} {remainder}")));
        }
    }
    cases
}

/// Several rounds of a reader: of 1,024 samples, and of all windows.
fn long() -> Vec<Case> {
    let sources =
        [source("a", 3, &sharded("900,0,700,801", 8, 64)), source("b", 1, &sharded("300,200", 4, 32))].join(",");
    let order = format!("{{\"name\":\"blend\",\"samples\":3000,\"sources\":[{sources}]}}");
    let wide = order.replace("\"shuffle_window\":64", "\"shuffle_window\":200");
    let mut cases = Vec::new();
    let apart = wide.replace("\"sources\"", "\"by_lane\":true,\"sources\"").replace("\"lanes\":4", "\"lanes\":8");
    let orders =
        [("of 1,024 samples", order, (2, 1, 8)), ("of all windows", wide, (1, 1, 8)), ("by lane", apart, (2, 1, 8))];
    for (name, order, group) in orders {
        let mut script = Script::new(&order, group, "pad", 2);
        for rank in 0..group.0 {
            let count = script.number(ReadCall::NumSamples { rank, worker: 0 });
            script.rounds(rank, 0, count);
            script.ask([0, 1_000, 1_024, 1_499].map(|index| ReadCall::RoundOf { rank, worker: 0, index: U64(index) }));
        }
        cases.push(script.case(&format!("rounds {name}")));
    }
    // A third of all windows, which is no whole number of samples. Then more samples than a round may have.
    for (name, size, window, workers) in
        [("a third of all windows", "20000", 1_000, 3), ("2^20 samples", "8388608", 1 << 20, 1)]
    {
        let order = format!("{{\"name\":\"copies\",\"copies\":1,\"of\":{}}}", sharded(size, 4, window));
        let mut script = Script::new(&order, (1, workers, 8), "pad", 2);
        script.ask([ReadCall::NumRounds { rank: 0, worker: 0 }]);
        let indices = [0, 1_332, 1_333, 6_664, 6_665, (1 << 20) - 1, 1 << 20];
        script.ask(indices.map(|index| ReadCall::RoundOf { rank: 0, worker: 0, index: U64(index) }));
        cases.push(script.case(&format!("rounds of {name}")));
    }
    cases
}

/// The state after a group has taken its steps.
fn state_of(subject: &Subject, before: Option<String>, steps: u64) -> String {
    let mut engine = Native::create(subject).expect("a reading");
    if let Some(state) = before {
        engine.call(&Call::Reading(ReadCall::Resume { state })).expect("a state of this reading");
    }
    let text = engine.call(&Call::Reading(ReadCall::State { steps: U64(steps) })).expect("a state");
    text.as_str().map(String::from).expect("a text")
}

/// The state after several groups have taken their steps, one group after the other.
fn chain(order: &str, remainder: &str, epoch: u64, groups: &[(Group, u64)]) -> String {
    let step = |state, &(group, steps): &(Group, u64)| {
        Some(state_of(&made(order, group, (remainder, false), &[], epoch), state, steps))
    };
    groups.iter().fold(None, step).expect("a state")
}

/// The rest of an epoch, for the same group and for others.
fn rests() -> Vec<Case> {
    let mut cases = Vec::new();
    for (nth, (name, order)) in orders().into_iter().enumerate().filter(|(_, (name, _))| *name != "no sample") {
        for (at, (group, steps, next)) in
            [((2, 2, 2), 3, (2, 2, 2)), ((1, 3, 2), 2, (2, 1, 3)), ((3, 1, 2), 1, (1, 2, 2))].into_iter().enumerate()
        {
            let remainder = REMAINDERS[(nth + at) % 3];
            let state = chain(&order, remainder, 1, &[(group, steps.min(if name == "skip" { 1 } else { steps }))]);
            let mut script = Script::new(&order, next, remainder, 0);
            script.ask([ReadCall::Resume { state }]);
            script.everything();
            script.ask([0, 1, 2].map(|steps| ReadCall::State { steps: U64(steps) }));
            cases.push(script.case(&format!("{name}: {steps} steps of {group:?}, then {next:?} {remainder}")));
        }
    }
    cases
}

/// Several torn turns, one within the other, up to the end of the epoch.
fn chains() -> Vec<Case> {
    let chains: [&[(Group, u64)]; 5] = [
        &[((2, 2, 2), 1), ((1, 3, 3), 1), ((3, 1, 2), 1)],
        &[((1, 3, 2), 2), ((2, 2, 2), 1), ((1, 2, 3), 1), ((1, 2, 3), 2)],
        &[((2, 3, 1), 2), ((2, 3, 2), 1), ((2, 3, 1), 1), ((1, 1, 1), 3), ((3, 2, 1), 1)],
        &[((1, 4, 2), 3), ((1, 4, 2), 2), ((2, 2, 1), 3)],
        &[((2, 2, 5), 5), ((5, 1, 1), 1), ((1, 4, 3), 1)],
    ];
    let mut cases = Vec::new();
    let orders = [blend(",\"samples\":60"), by_lane("blend", ",\"samples\":60")];
    for (order, groups) in orders.iter().flat_map(|order| chains.map(|groups| (order, groups))) {
        for remainder in REMAINDERS {
            let state = chain(order, remainder, 2, groups);
            let mut script = Script::new(order, (2, 2, 2), remainder, 0);
            script.ask([ReadCall::Resume { state }]);
            script.everything();
            script.ask([0, 1, 3].map(|steps| ReadCall::State { steps: U64(steps) }));
            let which = if order.contains("by_lane") { "by lane, " } else { "" };
            cases.push(script.case(&format!("{which}after {groups:?} {remainder}")));
        }
    }
    cases
}

/// A case in which an order with additions resumes a state from before the additions.
fn resumed(before: &str, epoch: u64, groups: &[(Group, u64)], order: &str) -> Case {
    let state = chain(before, "uneven", epoch, groups);
    let mut script = Script::new(order, (2, 1, 2), "uneven", 0);
    script.ask([ReadCall::Resume { state }]);
    script.everything();
    script.ask([1].map(|steps| ReadCall::State { steps: U64(steps) }));
    script.case(&format!("{before} in epoch {epoch} after {groups:?}, then {order}"))
}

/// A case in which an order refuses the state of another order.
fn refused_state(before: &str, groups: &[(Group, u64)], order: &str) -> Case {
    let mut script = Script::new(order, (1, 1, 1), "uneven", 0);
    script.ask([ReadCall::Resume { state: chain(before, "uneven", 0, groups) }, ReadCall::IsRest]);
    script.case(&format!("refused: {before} after {groups:?}, then {order}"))
}

fn additions() -> Vec<Case> {
    let staged = |stages: &str| blend(&format!(",\"samples\":60,\"stages\":[{stages}]"));
    let stage = |from: u64| format!("{{\"from\":{from},\"weights\":[1,2,7]}}");
    let before = staged("");
    let mut cases = Vec::new();
    // One step of two ranks takes two of the four batches of a turn. The turn ends at position 16.
    let torn: &[(Group, u64)] = &[((2, 2, 4), 1)];
    for from in [60, 75, 76, 77, 200] {
        cases.push(resumed(&before, 1, torn, &staged(&stage(from))));
    }
    for from in [68, 75, 76, 84] {
        cases.push(resumed(&before, 1, &[((2, 2, 4), 1), ((1, 1, 4), 1)], &staged(&stage(from))));
        cases.push(resumed(&staged(&stage(40)), 1, &[((2, 1, 4), 1)], &staged(&[stage(40), stage(from)].join(","))));
    }
    let fourth = |weight| {
        let whole = before.strip_suffix("]}").expect("a list at the end");
        format!("{whole},{}]}}", source("new", weight, &sharded("6,7", 2, 2)))
    };
    let more = |weight, from: u64| {
        fourth(weight).replace("\"stages\":[", &format!("\"stages\":[{{\"from\":{from},\"weights\":[7,2,1,5]}}"))
    };
    for order in [more(0, 76), more(0, 75), more(1, 76), fourth(0), before.replace("\"weight\":2", "\"weight\":3")] {
        cases.push(resumed(&before.replace("\"stages\":[],", ""), 1, torn, &order));
    }
    // A state of a plain order that has consumed more positions than are left in the epoch after a range is skipped.
    for (samples, start, count) in [("8", 6, 2), ("6", 4, 1), ("8", 7, 1)] {
        let plain = sharded(samples, 1, 1);
        let range = format!("{{\"epoch\":0,\"start\":{start},\"count\":{count}}}");
        let skip = format!("{{\"name\":\"skip\",\"of\":{plain},\"ranges\":[{range}]}}");
        let end = samples.parse().expect("a number");
        cases.push(refused_state(&plain, &[((1, 1, 1), end)], &skip));
    }
    let near = sharded("13,5,0,21,9", 4, 4);
    let skip = |of: &str, start: u64| {
        format!("{{\"name\":\"skip\",\"of\":{of},\"ranges\":[{{\"epoch\":1,\"start\":{start},\"count\":9}}]}}")
    };
    for start in [15, 16, 39] {
        cases.push(resumed(&near, 1, torn, &skip(&near, start)));
        cases.push(resumed(&skip(&near, 30), 1, torn, &skip(&skip(&near, 30), start.min(30))));
        cases.push(resumed(&before, 1, torn, &skip(&before, start)));
    }
    cases
}

/// Pseudorandom numbers for nested orders.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn order(&mut self, depth: u32) -> String {
        if depth == 0 {
            let sizes = [self.below(9) + 1, self.below(20), self.below(6)].map(|size| size.to_string()).join(",");
            return sharded(&sizes, self.below(4) as u32 + 1, self.below(5) as u32 + 1);
        }
        let of = self.order(depth - 1);
        match self.below(5) {
            0 => format!("{{\"name\":\"copies\",\"copies\":{},\"of\":{of}}}", self.below(3) + 1),
            1 => format!("{{\"name\":\"exclude\",\"indices\":[0,{}],\"of\":{of}}}", self.below(5) + 1),
            2 => format!(
                "{{\"name\":\"skip\",\"of\":{of},\"ranges\":[{{\"epoch\":0,\"start\":1,\"count\":{}}}]}}",
                self.below(3)
            ),
            _ => {
                let other = self.order(depth - 1);
                let sources = [source("x", self.below(9) + 1, &of), source("y", self.below(5), &other)].join(",");
                format!("{{\"name\":\"blend\",\"samples\":{},\"sources\":[{sources}]}}", self.below(60) + 5)
            }
        }
    }
}

fn nested() -> Vec<Case> {
    let mut numbers = Numbers(13);
    let mut cases = Vec::new();
    while cases.len() < 30 {
        let order = numbers.order(3);
        let group = (numbers.below(3) as u32 + 1, numbers.below(3) as u32 + 1, 2);
        if Native::create(&made(&order, group, ("pad", false), &[], 0)).is_err() {
            continue;
        }
        let mut script = Script::new(&order, group, REMAINDERS[cases.len() % 3], 0);
        script.ask([ReadCall::Sizes, ReadCall::Recipe]);
        script.everything();
        script.ask([ReadCall::State { steps: U64(1) }]);
        cases.push(script.case(&format!("nested: {group:?} {order}")));
    }
    cases
}

/// Lists that are passed beside the text.
fn lists() -> Vec<Case> {
    let order = "{\"name\":\"exclude\",\"of\":{\"name\":\"blend\",\"sources\":[{\"name\":\"a\",\"order\":{\"name\":\"sharded\"}}]}}";
    let view = "{\"name\":\"blend\",\"sources\":[{\"name\":\"a\",\"order\":{\"name\":\"exclude\",\"of\":{\"name\":\"sharded\",\"lanes\":2}}}]}";
    let own: Beside = &[("sources/a/of/sizes", &[4, 0, 9]), ("sources/a/indices", &[0, 5])];
    let long: Vec<u64> = (0..300).map(|size| size % 7).collect();
    let far: Beside = &[("sources/a/of/sizes", &long), ("sources/a/indices", &[0, 5])];
    let cases: [(&str, Beside); 9] = [
        (view, own),
        (view, far),
        (view, &own[..1]),
        (view, &[own[0], own[1], ("sources/b/sizes", &[1])]),
        (view, &[own[0], own[1], ("bytes", &[1])]),
        (view, &[own[0], own[1], ("sources/a/bytes", &[1])]),
        (view, &[own[0], own[1], ("sources/a/colours", &[1])]),
        (order, &[("of/sources/a/sizes", &[3]), ("indices", &[0])]),
        ("{\"name\":\"sharded\"}", &[("sizes", &[4, 5]), ("indices", &[1])]),
    ];
    let calls = || [ReadCall::Recipe, ReadCall::Sizes, ReadCall::NumSamples { rank: 0, worker: 0 }].map(Call::Reading);
    let case = |(number, (order, lists)): (usize, &(&str, Beside))| {
        asked(&format!("lists number {number}"), made(order, (1, 1, 1), ("pad", false), lists, 0), calls())
    };
    let mut cases: Vec<Case> = cases.iter().enumerate().map(case).collect();
    let recipe = "{\"shards\":{\"sizes\":[4,5]}}".to_string();
    let lists: Lists = BTreeMap::from([("of/indices".to_string(), numbers(&[1]))]);
    let subject = Subject::Reading(Made { recipe, lists, epoch: U64(0) });
    cases.push(asked("a list of an order, with whole shards", subject, calls()));
    cases
}

/// Orders that a reading cannot have.
fn refused() -> Vec<Case> {
    let near = sharded("4,9", 2, 2);
    let two = |space: &str, other: &str| {
        let sources = [source("a", 1, &near), source("b", 1, other)].join(",");
        format!("{{\"name\":\"blend\",\"index_space\":\"{space}\",\"sources\":[{sources}]}}")
    };
    let feistel = "{\"samples\":13}";
    let all = [
        two("joined", feistel),
        two("shared", feistel),
        two("shared", &sharded("4,8", 2, 2)),
        two("shared", &sharded("4,9,0", 2, 2)),
        two("shared", &sharded("4,9", 1, 7)),
        "{\"name\":\"blend\",\"sources\":[{\"name\":\"a\",\"samples\":13}]}".into(),
        format!("{{\"name\":\"exclude\",\"indices\":[1],\"of\":{feistel}}}"),
        "{\"name\":\"exclude\",\"indices\":[1],\"of\":{\"name\":\"torch\",\"samples\":13}}".into(),
        "{\"name\":\"grown\",\"samples\":13}".into(),
        "{\"name\":\"windows\",\"sizes\":[4,9],\"length\":2}".into(),
        "{\"name\":\"balance\",\"classes\":[0,0],\"factors\":[1000000]}".into(),
        "{\"name\":\"weighted\",\"weights\":[2,1]}".into(),
        format!("{{\"name\":\"copies\",\"copies\":0,\"of\":{near}}}"),
        format!("{{\"name\":\"exclude\",\"indices\":[13],\"of\":{near}}}"),
        format!("{{\"name\":\"copies\",\"copies\":2,\"of\":{near},\"lanes\":4}}"),
        "{\"name\":\"sequential\",\"sizes\":[4,9],\"copies\":2}".into(),
        "{\"name\":\"mixed\",\"sizes\":[4,9]}".into(),
        format!("{{\"name\":\"copies\",\"copies\":4294967295,\"of\":{}}}", sharded("4194304", 1, 1)),
    ];
    let mut cases: Vec<Case> = all
        .iter()
        .map(|order| asked(&format!("refused: {order}"), made(order, (1, 1, 1), ("pad", false), &[], 0), []))
        .collect();
    let copies = format!("{{\"name\":\"copies\",\"copies\":1048576,\"of\":{}}}", sharded("4294967296", 1, 1));
    for (epoch, world) in [(0, 1), (1, 1), (2, 1), (u64::MAX, 1)] {
        let calls = [0, 1, 2].map(|epoch| Call::Reading(ReadCall::AtEpoch { epoch: U64(epoch) }));
        let subject = made(&copies, (world, 1, 1), ("pad", false), &[], epoch);
        cases.push(asked(&format!("an epoch that can be used or not: {epoch}"), subject, calls));
    }
    let both = format!("{{\"order\":{{\"of\":{near}}},\"shards\":{{\"sizes\":[4,9]}}}}");
    let both = Subject::Reading(Made { recipe: both, lists: Lists::new(), epoch: U64(0) });
    cases.push(asked("an order beside whole shards", both, []));
    cases
}

/// Texts that are no states of this reading.
fn other_states() -> Vec<Case> {
    let order = blend(",\"samples\":60");
    let own = chain(&order, "pad", 1, &[((2, 2, 4), 1)]);
    let plain = chain(&sharded("13,0,22,9", 4, 5), "pad", 1, &[((2, 2, 4), 1)]);
    let texts = [
        own.clone(),
        plain.clone(),
        own.replace(",\"positions\":60", ""),
        own.replace(":60,\"history", ":9007199254740992,\"history"),
        own.replace(":60,\"history", ":59,\"history"),
        own.replace(":60,\"history", ":3,\"history"),
        own.replace("\"consumed\":0", "\"consumed\":60"),
        own.replace("\"consumed\":0", "\"consumed\":61"),
        own.replace("\"steps\":1}", "\"steps\":0}"),
        own.replace("\"steps\":1}", "\"steps\":17}"),
        own.replace("\"workers\":2", "\"workers\":0"),
        own.replace("\"epoch\":1", "\"epoch\":\"18446744073709551615\""),
        own.replace("\"lanes\":4", "\"lanes\":5"),
        own.replace("\"seed\":5", "\"seed\":6"),
        own.replace("\"name\":\"blend\"", "\"name\":\"blend-exact\""),
        own.replace("\"recipe\":{", "\"recipe\":{\"shards\":{},"),
        own.replace("\"recipe\":{\"order\"", "\"recipe\":{\"shards\""),
        plain.replace("\"consumed\":0", "\"consumed\":0,\"positions\":44"),
    ];
    let mut cases = Vec::new();
    for (number, state) in texts.iter().enumerate() {
        for (kind, order) in [("blend", &order), ("plain", &sharded("13,0,22,9", 4, 5))] {
            let calls =
                [ReadCall::Resume { state: state.clone() }, ReadCall::IsRest, ReadCall::StepBounds].map(Call::Reading);
            let subject = made(order, (1, 2, 4), ("pad", false), &[], 0);
            cases.push(asked(&format!("text number {number}, to a {kind} order"), subject, calls));
        }
    }
    cases
}
