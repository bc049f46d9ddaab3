//! Subjects of cases in the form that the modules of cases write: options by their names. The files have recipes
//! instead.

use matrix::Engine;
use matrix::format::{self, Call, Failure, Lists, S64, U64};
use matrix::native;
use serde_json::{Map, Value, json};

/// The largest number of entries of a list in the text of a recipe. Longer lists are passed beside the text.
const IN_TEXT: usize = 40;

/// The options of a sampler.
#[derive(Clone)]
pub struct Config {
    pub samples: U64,
    pub seed: S64,
    pub epoch: U64,
    pub order: String,
    pub rank: u32,
    pub world: u32,
    pub remainder: String,
    pub layout: String,
    pub consumed: U64,
}

/// The options of the order `sharded`.
#[derive(Clone)]
pub struct Sharding {
    pub sizes: Vec<U64>,
    pub lanes: u32,
    pub window: u32,
}

#[derive(Clone)]
pub struct Plan {
    pub sizes: Vec<U64>,
    /// Empty if the plan has no bytes.
    pub bytes: Vec<U64>,
    pub world: u32,
    pub workers: u32,
    pub policy: String,
    pub worker_policy: String,
    pub weight: String,
    pub locality: Option<Locality>,
    pub shuffle: bool,
    pub reshuffle: bool,
    pub seed: S64,
    pub epoch: U64,
}

#[derive(Clone)]
pub struct Locality {
    pub holder_offsets: Vec<u32>,
    pub holders: Vec<u32>,
    pub rank_nodes: Vec<u32>,
    pub tolerance: u32,
}

#[derive(Clone)]
pub struct ChunkStream {
    /// None if the number of chunks is not known.
    pub chunks: Option<U64>,
    pub reader: u32,
    pub readers: u32,
    pub order: String,
    pub seed: S64,
    pub epoch: U64,
}

#[derive(Clone)]
pub struct Reading {
    pub sizes: Vec<U64>,
    pub options: ReadOptions,
}

/// The options of a reading. An option that is none is left out of the recipe.
#[derive(Clone, Default)]
pub struct ReadOptions {
    pub seed: Option<S64>,
    /// Whether whole shards are dealt, and not samples.
    pub of_shards: bool,
    pub shuffle: Option<bool>,
    pub lanes: Option<u32>,
    pub window: Option<u32>,
    pub remainder: Option<String>,
    pub shuffle_rows: Option<bool>,
    pub reshuffle: Option<bool>,
    pub policy: Option<String>,
    pub worker_policy: Option<String>,
    pub weight: Option<String>,
    pub bytes: Option<Vec<U64>>,
    pub world_size: Option<u32>,
    pub workers: Option<u32>,
    pub batch_size: Option<u32>,
    pub drop_last: Option<bool>,
}

#[derive(Clone)]
pub enum Subject {
    Config(Config),
    Sharded { config: Config, sharding: Sharding },
    Plan(Plan),
    ChunkStream(ChunkStream),
    Reading(Reading),
    Form(format::Subject),
}

impl From<format::Subject> for Subject {
    fn from(subject: format::Subject) -> Self {
        Self::Form(subject)
    }
}

impl Subject {
    /// The subject in the form of the files, and the calls that come before all others.
    pub fn form(&self) -> (format::Subject, Vec<Call>) {
        match self {
            Self::Config(config) => sampler(config, None),
            Self::Sharded { config, sharding } => sampler(config, Some(sharding)),
            Self::Plan(plan) => (format::Subject::Plan(plan.made()), vec![]),
            Self::ChunkStream(stream) => (format::Subject::ChunkStream(stream.form()), vec![]),
            Self::Reading(reading) => (format::Subject::Reading(reading.made()), vec![]),
            Self::Form(subject) => (subject.clone(), vec![]),
        }
    }
}

/// The core with a subject in the form of this module.
pub struct Native(native::Native);

impl Native {
    pub fn create(subject: &Subject) -> Result<Self, Failure> {
        let (subject, before) = subject.form();
        let mut engine = native::Native::create(&subject)?;
        for call in before {
            engine.call(&call)?;
        }
        Ok(Self(engine))
    }

    pub fn call(&mut self, call: &Call) -> Result<Value, Failure> {
        self.0.call(call)
    }
}

/// The members of a section. A value that is null is left out.
#[derive(Default)]
struct Members(Map<String, Value>);

impl Members {
    fn set(&mut self, name: &str, value: impl Into<Value>) {
        let value = value.into();
        if !value.is_null() {
            self.0.insert(name.into(), value);
        }
    }

    /// Adds a list: a short one to the section, a long one to `lists`, which are passed beside the text.
    fn list(&mut self, name: &str, numbers: &[U64], lists: &mut Lists) {
        if numbers.len() > IN_TEXT {
            lists.insert(name.into(), numbers.to_vec());
        } else {
            self.set(name, numbers.iter().map(|number| number.0).collect::<Vec<_>>());
        }
    }

    fn list32(&mut self, name: &str, numbers: &[u32], lists: &mut Lists) {
        let numbers: Vec<U64> = numbers.iter().map(|&number| U64(number.into())).collect();
        self.list(name, &numbers, lists);
    }
}

/// A number in the form of recipes: beyond 2^53 - 1 it is a string.
pub fn wide(number: i128) -> Value {
    if number.unsigned_abs() < 1 << 53 { json!(number as i64) } else { json!(number.to_string()) }
}

fn text(sections: Value) -> String {
    sections.to_string()
}

fn sampler(config: &Config, sharding: Option<&Sharding>) -> (format::Subject, Vec<Call>) {
    let Config { samples, seed, epoch, order, rank, world, remainder, layout, consumed } = config;
    let mut lists = Lists::new();
    let mut members = Members::default();
    members.set("name", &**order);
    members.set("samples", samples.0);
    members.set("seed", wide(seed.0.into()));
    if let Some(Sharding { sizes, lanes, window }) = sharding {
        members.set("lanes", *lanes);
        members.set("shuffle_window", *window);
        members.list("sizes", sizes, &mut lists);
    }
    let deal = json!({"world_size": world, "remainder": remainder, "layout": layout});
    let recipe = text(json!({"order": members.0, "deal": deal}));
    let made = format::Made { recipe, lists, epoch: *epoch };
    let rest = (consumed.0 > 0).then_some(Call::Rest { consumed: *consumed });
    (format::Subject::Sampler(format::Sampler { made, rank: *rank }), rest.into_iter().collect())
}

impl Plan {
    fn made(&self) -> format::Made {
        let Self { sizes, bytes, world, workers, policy, worker_policy, weight, locality, .. } = self;
        let mut lists = Lists::new();
        let mut members = Members::default();
        members.set("shuffle", self.shuffle);
        members.set("shuffle_rows", true);
        members.set("reshuffle", self.reshuffle);
        members.set("seed", wide(self.seed.0.into()));
        members.set("policy", &**policy);
        members.set("worker_policy", &**worker_policy);
        members.set("balance_by", &**weight);
        members.list("sizes", sizes, &mut lists);
        if !bytes.is_empty() {
            members.list("bytes", bytes, &mut lists);
        }
        if let Some(Locality { holder_offsets, holders, rank_nodes, tolerance }) = locality {
            members.set("tolerance", *tolerance);
            members.list32("holders", holders, &mut lists);
            members.list32("holder_offsets", holder_offsets, &mut lists);
            members.list32("rank_nodes", rank_nodes, &mut lists);
        }
        let deal = json!({"world_size": world, "workers": workers});
        format::Made { recipe: text(json!({"shards": members.0, "deal": deal})), lists, epoch: self.epoch }
    }
}

impl ChunkStream {
    fn form(&self) -> format::ChunkStream {
        let mut order = Members::default();
        order.set("name", &*self.order);
        order.set("chunks", self.chunks.map(|chunks| chunks.0));
        order.set("seed", wide(self.seed.0.into()));
        let recipe = text(json!({"order": order.0, "deal": {"readers": self.readers}}));
        format::ChunkStream { recipe, epoch: self.epoch, reader: self.reader }
    }
}

impl Reading {
    fn made(&self) -> format::Made {
        let Self { sizes, options } = self;
        let ReadOptions { of_shards, shuffle, remainder, bytes, .. } = options;
        let mut lists = Lists::new();
        let [mut order, mut shards, mut deal, mut batch]: [Members; 4] = Default::default();
        shards.set("shuffle_rows", options.shuffle_rows);
        shards.set("reshuffle", options.reshuffle);
        shards.set("policy", options.policy.clone());
        shards.set("worker_policy", options.worker_policy.clone());
        shards.set("balance_by", options.weight.clone());
        if let Some(bytes) = bytes {
            shards.list("bytes", bytes, &mut lists);
        }
        order.set("lanes", options.lanes);
        order.set("shuffle_window", options.window);
        let (own, has_other) =
            if *of_shards { (&mut shards, !order.0.is_empty()) } else { (&mut order, !shards.0.is_empty()) };
        own.list("sizes", sizes, &mut lists);
        own.set("seed", options.seed.map(|seed| wide(seed.0.into())));
        if *of_shards {
            own.set("shuffle", *shuffle);
        } else if has_other || shuffle.is_some() {
            own.set("name", if shuffle.unwrap_or(true) { "sharded" } else { "sequential" });
        }
        deal.set("world_size", options.world_size);
        deal.set("workers", options.workers);
        deal.set("remainder", remainder.clone());
        batch.set("batch_size", options.batch_size);
        batch.set("drop_last", options.drop_last);
        let mut sections = Members::default();
        for (name, section, is_needed) in [
            ("order", order, !of_shards),
            ("shards", shards, *of_shards),
            ("deal", deal, false),
            ("batch", batch, false),
        ] {
            if is_needed || !section.0.is_empty() {
                sections.set(name, section.0);
            }
        }
        format::Made { recipe: text(sections.0.into()), lists, epoch: U64(0) }
    }
}
