//! Differences between the WIT and the facade of the Rust host: which classes it has, and which of their methods have a form of their own.

/// A class over a resource.
pub struct Facade {
    pub resource: &'static str,
    /// Its name, and the module of the crate that has it.
    pub class: &'static str,
    pub module: &'static str,
    /// Whether the object never changes: then the class reads its values once and keeps them.
    pub is_constant: bool,
    /// Whether its `Debug` is written by hand.
    pub has_debug: bool,
    /// Functions that are not as in the WIT.
    pub forms: &'static [(&'static str, Form)],
}

/// How a function of the WIT comes to users.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Unchanged.
    Plain,
    /// Under another name.
    As(&'static str),
    /// A method of the same name is written by hand, which has ranges, widths or types that the WIT has not, or changes the object.
    /// It calls one that is generated for it, `raw_...`.
    ByHand,
    /// A part of another method that is written by hand.
    Absent,
}
use Form::{Absent, As, ByHand};

impl Facade {
    pub fn form(&self, function: &str) -> Form {
        self.forms.iter().find(|(name, _)| *name == function).map_or(Form::Plain, |(_, form)| *form)
    }
}

type Forms = &'static [(&'static str, Form)];

const fn constant(resource: &'static str, class: &'static str, forms: Forms) -> Facade {
    Facade { resource, class, module: "", is_constant: true, has_debug: false, forms }
}

const fn changing(resource: &'static str, class: &'static str, forms: Forms) -> Facade {
    Facade { is_constant: false, ..constant(resource, class, forms) }
}

const SAMPLER: Forms = &[
    // Of either width of `Index`, for a range of any length.
    ("indices", ByHand),
    ("indices32", Absent),
    ("batch", ByHand),
    ("batch32", Absent),
    // For ranges, and one list for each rank.
    ("step", ByHand),
    ("source-counts", ByHand),
    // Moves the sampler itself.
    ("resume", ByHand),
];

const PLAN: Forms = &[
    // Methods without `_window` are for all of them, or for a range of any length.
    ("shards", As("shards_window")),
    ("rows", As("rows_window")),
    ("loads", ByHand),
    ("step-bounds", As("steps")),
    // Kept.
    ("sizes", ByHand),
    // With the imbalance.
    ("load-summary", ByHand),
    ("imbalance", Absent),
];

const BATCHER: Forms = &[
    // It comes as batches, and not end to end.
    ("take", Absent),
    ("step", ByHand),
    // It comes as `Metrics`.
    ("metrics", ByHand),
    ("ratio", Absent),
    // Moves the batcher itself.
    ("resume", ByHand),
    ("replan", ByHand),
    // Lengths are given where a call wants them.
    ("wanted", Absent),
    ("supply", Absent),
];

/// They change the stream.
const BATCH_STREAM: Forms =
    &[("push", ByHand), ("flush", ByHand), ("take", ByHand), ("metrics", ByHand), ("ratio", Absent)];

pub const FACADES: &[Facade] = &[
    constant("sampler", "Sampler", SAMPLER),
    constant("schedule", "Schedule", &[]),
    // `indices` takes a range of any length.
    constant("reading", "Reading", &[("step-bounds", As("steps")), ("indices", As("indices_window"))]),
    constant("plan", "ShardPlan", PLAN),
    changing("chunk-stream", "ChunkStream", &[]),
    Facade { has_debug: true, ..constant("batcher", "Batcher", BATCHER) },
    changing("batch-recipe", "BatchRecipe", &[("wanted", Absent), ("supply", Absent)]),
    changing("batch-stream", "BatchStream", BATCH_STREAM),
    // Of any number of them.
    constant("split", "Split", &[("part-of", ByHand), ("part-of-keys", ByHand)]),
    // Of any number of coordinates.
    Facade { has_debug: true, ..constant("mesh", "Mesh", &[("rank-at", ByHand)]) },
    // Of texts of any type.
    Facade { module: "ledger::", ..changing("ledger", "RawLedger", &[("replay", ByHand)]) },
    // Of any number of them.
    Facade { module: "ledger::", ..changing("client", "Client", &[("tell-entries", ByHand)]) },
];

/// Free functions by their paths in the crate.
pub const FREE: &[(&str, &str)] = &[
    ("join-indices", "join_indices"),
    ("max-count", "Sampler::max_count"),
    ("orders", "orders"),
    ("header", "ledger::header"),
];

/// Records that users of Rust get beside those of all languages. Others come to the methods that are written by hand only.
pub const MORE_RECORDS: [&str; 6] = ["fact", "step-bounds", "read-batch", "round-rows", "instruction", "claimed-run"];

/// A class that has a method for each member of a kind of recipes.
pub struct Builder {
    pub class: &'static str,
    /// The module of it.
    pub module: &'static str,
    pub recipe: &'static str,
    /// Sections of which it has all members but those below.
    pub sections: &'static [&'static str],
    /// Members of the section `order` that it has: others belong to composed orders.
    pub order: &'static [&'static str],
    /// Members that have a method by hand, or none.
    pub by_hand: &'static [&'static str],
    /// Pairs of a section and the value of an option that its members need: the documentation says "Only with ...".
    pub only: &'static [(&'static str, &'static str)],
    /// A type parameter.
    pub generic: &'static str,
}

const fn builder(class: &'static str, module: &'static str, recipe: &'static str) -> Builder {
    Builder { class, module, recipe, sections: &[], order: &[], by_hand: &[], only: &[], generic: "" }
}

pub const BUILDERS: &[Builder] = &[
    Builder {
        sections: &["deal"],
        order: &["seed", "lanes", "shuffle_window", "sizes"],
        ..builder("Builder", "builder", "sampler")
    },
    Builder {
        sections: &["deal", "steps"],
        order: &["seed", "lanes", "shuffle_window"],
        by_hand: &["stages"],
        ..builder("ScheduleBuilder", "schedule_builder", "schedule")
    },
    Builder {
        sections: &["deal", "batch", "shards"],
        order: &["lanes", "shuffle_window"],
        by_hand: &[
            "shuffle",
            "seed",
            "samples",
            "shards",
            "sizes",
            "tolerance",
            "holders",
            "holder_offsets",
            "rank_nodes",
        ],
        only: &[
            ("order", "[`Deal::Samples`](crate::Deal::Samples)"),
            ("shards", "[`Deal::Shards`](crate::Deal::Shards)"),
        ],
        ..builder("ReadingBuilder", "reading_builder", "reading")
    },
    Builder {
        sections: &["deal", "shards"],
        // `samples` and `shards` follow from the sizes.
        by_hand: &["samples", "shards", "holders", "holder_offsets", "rank_nodes"],
        ..builder("PlanBuilder", "plan_builder", "plan")
    },
    Builder { order: &["chunks", "seed"], ..builder("ChunkStreamBuilder", "chunk_stream_builder", "chunk-stream") },
    Builder {
        sections: &["deal", "batch"],
        order: &["seed"],
        by_hand: &["boundaries", "lengths"],
        generic: "<T>",
        ..builder("BatchBuilder", "batch_builder", "batcher")
    },
    Builder {
        sections: &["split"],
        by_hand: &["samples", "parts"],
        ..builder("SplitBuilder", "split_builder", "split")
    },
];
