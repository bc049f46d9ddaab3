//! Differences between the WIT and the facade of the Rust host: its classes, and the methods that do not have the form
//! of the WIT.

/// A class over a resource.
pub struct Facade {
    pub resource: &'static str,
    /// The name of the class, and the module of the crate in which it is.
    pub class: &'static str,
    pub module: &'static str,
    /// Whether the object never changes. If so, the class reads its values once and caches them.
    pub is_constant: bool,
    /// Whether the `Debug` of the class is written by hand.
    pub has_debug: bool,
    /// Functions that do not have the form of the WIT.
    pub forms: &'static [(&'static str, Form)],
}

/// The form in which users get a function of the WIT.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Unchanged.
    Plain,
    /// Under another name.
    As(&'static str),
    /// A hand-written method has the name. It takes ranges, widths or types that the WIT does not have, or changes the
    /// object. It calls the generated method `raw_...`.
    ByHand,
    /// No method of its own: a hand-written method calls the generated `raw_...`.
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
    // By hand: for either width of `Index`, and for ranges of any length.
    ("indices", ByHand),
    ("indices32", Absent),
    ("batch", ByHand),
    ("batch32", Absent),
    // By hand: a `BatchSize` says what becomes of the last batch.
    ("num-batches", ByHand),
    // By hand: for a range of ranks, with one list for each rank.
    ("step", ByHand),
    ("source-counts", ByHand),
    // By hand: it changes the sampler itself.
    ("resume", ByHand),
];

const PLAN: Forms = &[
    // The hand-written methods without `_window` return all shards, or a range of rows of any length.
    ("shards", As("shards_window")),
    ("rows", As("rows_window")),
    ("loads", ByHand),
    // By hand: a `BatchSize` says what becomes of the last batch.
    ("step-bounds", ByHand),
    // By hand: the sizes are cached.
    ("sizes", ByHand),
    // By hand: the summary includes the imbalance.
    ("load-summary", ByHand),
    ("imbalance", Absent),
];

const BATCHER: Forms = &[
    // Users get single batches, not the columns of all batches end to end.
    ("take", Absent),
    // By hand: for a range of ranks.
    ("step", ByHand),
    // By hand: two methods in place of a flag.
    ("shapes", ByHand),
    // Users get `Metrics`.
    ("metrics", ByHand),
    ("ratio", Absent),
    // By hand: they change the batcher itself.
    ("resume", ByHand),
    ("replan", ByHand),
    // The batcher supplies lengths when a call asks for them.
    ("wanted", Absent),
    ("supply", Absent),
];

/// Methods that are written by hand, because they change the stream.
const BATCH_STREAM: Forms =
    &[("push", ByHand), ("flush", ByHand), ("take", ByHand), ("metrics", ByHand), ("ratio", Absent)];

const CLIENT: Forms = &[
    // By hand: two methods in place of a flag.
    ("claim", ByHand),
    ("tell-appended", ByHand),
    // By hand: any number of entries.
    ("tell-entries", ByHand),
];

pub const FACADES: &[Facade] = &[
    constant("sampler", "Sampler", SAMPLER),
    // The hand-written `indices` takes a range of any length, and `step` a range of ranks.
    constant("schedule", "Schedule", &[("indices", As("indices_window")), ("step", ByHand)]),
    constant(
        "reading",
        "Reading",
        &[("step-bounds", As("steps")), ("indices", As("indices_window")), ("step", ByHand)],
    ),
    constant("plan", "ShardPlan", PLAN),
    changing("chunk-stream", "ChunkStream", &[]),
    Facade { has_debug: true, ..constant("batcher", "Batcher", BATCHER) },
    changing("batch-recipe", "BatchRecipe", &[("wanted", Absent), ("supply", Absent)]),
    changing("batch-stream", "BatchStream", BATCH_STREAM),
    // By hand: any number of ids.
    constant("split", "Split", &[("part-of", ByHand), ("part-of-keys", ByHand)]),
    // By hand: any number of coordinates.
    Facade { has_debug: true, ..constant("mesh", "Mesh", &[("rank-at", ByHand)]) },
    // By hand: entries of any text type.
    Facade { module: "ledger::", ..changing("ledger", "RawLedger", &[("replay", ByHand)]) },
    Facade { module: "ledger::", ..changing("client", "Client", CLIENT) },
];

/// Free functions of the WIT, and their paths in the crate.
pub const FREE: &[(&str, &str)] = &[
    ("join-indices", "join_indices"),
    ("max-count", "Sampler::max_count"),
    ("plain-orders", "plain_orders"),
    ("header", "ledger::header"),
];

/// Records that users of Rust get in addition to those of `facade::RECORDS`. Any other record is only used by
/// hand-written methods.
pub const MORE_RECORDS: [&str; 6] = ["fact", "step-bounds", "read-batch", "round-rows", "instruction", "claimed-run"];

/// A builder class, with a method for each member of a kind of recipes.
pub struct Builder {
    pub class: &'static str,
    /// The generated module with its methods.
    pub module: &'static str,
    pub recipe: &'static str,
    /// Sections of the recipe. The class has methods for all of their members except `by_hand`.
    pub sections: &'static [&'static str],
    /// Members of the section `order` that have a method. The other members are of composed orders.
    pub order: &'static [&'static str],
    /// Members whose method is written by hand, or that have no method.
    pub by_hand: &'static [&'static str],
    /// Pairs of a section and a value of another option. The members of the section can only be used with this value;
    /// their documentation says "Only with ...".
    pub only: &'static [(&'static str, &'static str)],
    /// The type parameters of the class, such as `<T>`; may be empty.
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
