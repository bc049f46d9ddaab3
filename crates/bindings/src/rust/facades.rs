//! What differs between the WIT and the facade of the Rust host: which classes it has, and which of their methods have a form of their own.

/// A class over a resource.
pub struct Facade {
    pub interface: &'static str,
    pub resource: &'static str,
    /// Its name, and the module of the crate that has it.
    pub class: &'static str,
    pub module: &'static str,
    /// Whether it never changes: then what is known of it is asked once.
    pub is_constant: bool,
    /// Whether its `Debug` is written by hand.
    pub has_debug: bool,
    /// Functions that are not as in the WIT.
    pub forms: &'static [(&'static str, Form)],
}

/// How a function of the WIT comes to users.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As it is.
    Plain,
    /// Under another name.
    As(&'static str),
    /// As a method of the same name that is written by hand, which has ranges, widths or types that the WIT has not, or changes the object.
    /// It calls one that is generated for it, `raw_...`.
    ByHand,
    /// As a part of another method that is written by hand.
    Absent,
}
use Form::{Absent, As, ByHand};

impl Facade {
    pub fn form(&self, function: &str) -> Form {
        self.forms.iter().find(|(name, _)| *name == function).map_or(Form::Plain, |(_, form)| *form)
    }
}

pub const FACADES: &[Facade] = &[
    Facade {
        interface: "sampling",
        resource: "sampler",
        class: "Sampler",
        forms: &[
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
        ],
        ..CONSTANT
    },
    Facade {
        interface: "steps",
        resource: "schedule",
        class: "Schedule",
        // The names that a sampler and a loader have.
        forms: &[("begin-of", As("place_of")), ("step-of-state", As("resume"))],
        ..CONSTANT
    },
    Facade {
        interface: "readings",
        resource: "reading",
        class: "Reading",
        // `indices` takes a range of any length.
        forms: &[("step-bounds", As("steps")), ("indices", As("indices_window"))],
        ..CONSTANT
    },
    Facade {
        interface: "shards",
        resource: "plan",
        class: "ShardPlan",
        forms: &[
            // Those without `_window` are for all of them, or for a range of any length.
            ("shards", As("shards_window")),
            ("rows", As("rows_window")),
            ("loads", ByHand),
            ("step-bounds", As("steps")),
            // Kept.
            ("sizes", ByHand),
            // With the imbalance.
            ("load-summary", ByHand),
            ("imbalance", Absent),
        ],
        ..CONSTANT
    },
    Facade { interface: "shards", resource: "chunk-stream", class: "ChunkStream", ..CHANGING },
    Facade {
        interface: "batches",
        resource: "batcher",
        class: "Batcher",
        forms: &[
            // As batches, and not end to end.
            ("take", Absent),
            ("step", ByHand),
            // As `Metrics`.
            ("metrics", ByHand),
            ("ratio", Absent),
            // Moves the batcher itself.
            ("resume", ByHand),
            ("replan", ByHand),
            // Lengths are given where a call wants them.
            ("wanted", Absent),
            ("supply", Absent),
        ],
        has_debug: true,
        ..CONSTANT
    },
    Facade {
        interface: "batches",
        resource: "batch-recipe",
        class: "BatchRecipe",
        forms: &[("wanted", Absent), ("supply", Absent)],
        ..CHANGING
    },
    Facade {
        interface: "batches",
        resource: "batch-stream",
        class: "BatchStream",
        forms: &[
            // They change the stream.
            ("push", ByHand),
            ("flush", ByHand),
            ("take", ByHand),
            ("metrics", ByHand),
            ("ratio", Absent),
        ],
        ..CHANGING
    },
    Facade {
        interface: "splits",
        resource: "split",
        class: "Split",
        // Of any number of them.
        forms: &[("part-of", ByHand), ("part-of-keys", ByHand)],
        ..CONSTANT
    },
    Facade {
        interface: "mesh",
        resource: "mesh",
        class: "Mesh",
        // Of any number of coordinates.
        forms: &[("rank-at", ByHand)],
        has_debug: true,
        ..CONSTANT
    },
    Facade {
        interface: "ledger",
        resource: "ledger",
        class: "RawLedger",
        module: "ledger::",
        // Of texts of any type.
        forms: &[("replay", ByHand)],
        ..CHANGING
    },
    Facade {
        interface: "ledger",
        resource: "client",
        class: "Client",
        module: "ledger::",
        // Of any number of them.
        forms: &[("tell-entries", ByHand)],
        ..CHANGING
    },
];

const CONSTANT: Facade =
    Facade { interface: "", resource: "", class: "", module: "", is_constant: true, forms: &[], has_debug: false };
const CHANGING: Facade = Facade { is_constant: false, ..CONSTANT };

/// Free functions by their paths in the crate.
pub const FREE: &[(&str, &str)] = &[
    ("join-indices", "join_indices"),
    ("max-count", "Sampler::max_count"),
    ("orders", "orders"),
    ("header", "ledger::header"),
];

/// Records that users get. Others come to the methods that are written by hand only.
pub const RECORDS: &[Record] = &[
    Record::of("types", "fact"),
    Record::called("types", "step-bounds", "Steps"),
    Record::of("sampling", "place"),
    Record::of("sampling", "fate"),
    Record::of("sampling", "shard-place"),
    Record::of("sampling", "source-place"),
    Record::of("sampling", "round"),
    Record::of("steps", "epoch-position"),
    Record::of("steps", "step-place"),
    Record::of("readings", "read-round"),
    Record::of("readings", "read-batch"),
    Record::of("readings", "round-rows"),
    Record::of("readings", "mixing-advice"),
    Record::of("batches", "batch-shape"),
    Record::of("batches", "batch-place"),
    Record::of("launch", "detection"),
    Record::of("texts", "text-kind"),
    Record::of("texts", "difference"),
    Record::of("ledger", "event"),
    Record::of("ledger", "committed-run"),
    Record::of("ledger", "progress"),
    Record::of("ledger", "instruction"),
    Record::of("ledger", "claimed-run"),
];

pub struct Record {
    pub interface: &'static str,
    pub name: &'static str,
    /// Its name in Rust, where it is another one.
    pub class: Option<&'static str>,
}

impl Record {
    const fn of(interface: &'static str, name: &'static str) -> Self {
        Self { interface, name, class: None }
    }

    const fn called(interface: &'static str, name: &'static str, class: &'static str) -> Self {
        Self { class: Some(class), ..Self::of(interface, name) }
    }
}

/// Texts that have an enum in Rust.
pub const ENUMS: &[(&str, &str)] = &[
    ("remainder", "Remainder"),
    ("layout", "Layout"),
    ("strategy", "Strategy"),
    ("counting", "Counting"),
    ("packing", "Packing"),
    ("too_long", "TooLong"),
    ("tail", "Tail"),
    ("policy", "Policy"),
    ("worker_policy", "WorkerPolicy"),
    ("weight", "Weight"),
];

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
    /// What the members of a section belong with.
    pub only: &'static [(&'static str, &'static str)],
    /// A type parameter.
    pub generic: &'static str,
}

pub const BUILDERS: &[Builder] = &[
    Builder {
        class: "Builder",
        module: "builder",
        recipe: "sampler",
        sections: &["deal"],
        order: &["seed", "lanes", "shuffle_window", "sizes"],
        by_hand: &[],
        only: &[],
        generic: "",
    },
    Builder {
        class: "ScheduleBuilder",
        module: "schedule_builder",
        recipe: "schedule",
        sections: &["deal", "steps"],
        order: &["seed", "lanes", "shuffle_window"],
        by_hand: &["stages"],
        only: &[],
        generic: "",
    },
    Builder {
        class: "ReadingBuilder",
        module: "reading_builder",
        recipe: "reading",
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
        generic: "",
    },
    Builder {
        class: "PlanBuilder",
        module: "plan_builder",
        recipe: "plan",
        sections: &["deal", "shards"],
        order: &[],
        // `samples` and `shards` follow from the sizes.
        by_hand: &["samples", "shards", "holders", "holder_offsets", "rank_nodes"],
        only: &[],
        generic: "",
    },
    Builder {
        class: "ChunkStreamBuilder",
        module: "chunk_stream_builder",
        recipe: "chunk-stream",
        sections: &[],
        order: &["chunks", "seed"],
        by_hand: &[],
        only: &[],
        generic: "",
    },
    Builder {
        class: "BatchBuilder",
        module: "batch_builder",
        recipe: "batches",
        sections: &["deal", "batch"],
        order: &["seed"],
        by_hand: &["boundaries", "lengths"],
        only: &[],
        generic: "<T>",
    },
    Builder {
        class: "SplitBuilder",
        module: "split_builder",
        recipe: "split",
        sections: &["split"],
        order: &[],
        by_hand: &["samples", "parts"],
        only: &[],
        generic: "",
    },
];
