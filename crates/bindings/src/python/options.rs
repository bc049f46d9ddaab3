//! Constructors whose parameters are options: a keyword for each member of a recipe, with its type, its default and the text of the core.

use samedeal_core::{Described, Needed, Value, meaning};
use wit_parser::TypeId;

use super::docs;
use super::names::snake;
use super::{Module, Use, spread};
use crate::facade::{Cause, Text};
use crate::members::{self, object, only_with};

/// A parameter.
enum Given {
    /// The members of a section of a kind of recipe but these.
    Members(&'static str, &'static str, &'static [&'static str]),
    /// One member.
    Member(&'static str, &'static str, &'static str),
    /// What is no member, or has a form that members have not: its type, its default and its text.
    Own(&'static str, &'static str, &'static str, &'static str),
    /// What comes from here on is passed by name.
    Names,
    /// What members say first from here on.
    With(&'static str),
}
use Given::{Member as One, Members, Names, Own, With};

struct Constructor {
    of: &'static str,
    about: &'static str,
    given: &'static [Given],
}

const NUMBERS: &str = "ArrayLike | Iterable[SupportsIndex]";
const LISTS: [&str; 4] = ["boundaries", "sizes", "bytes", "rank_nodes"];
const EPOCH: Given = Own("epoch", "SupportsIndex", "0", "Number of the epoch, 0 to 2^64 - 1.");
const RANK: Given = Own("rank", "SupportsIndex", "0", "The rank whose batches iteration gives, 0 to `world_size` - 1.");
const MEMORY: Given = Own(
    "memory_limit",
    "SupportsIndex",
    "2**31",
    "Bytes of memory that the engine may use; 2^31 is the most that it can use.",
);

const LAYERED: Given = Own(
    "order",
    "str | Order | None",
    "None",
    "Name of the order, one of `samedeal.orders()`; `feistel` by default. Or an `Order`, such as a blend.",
);
const SEED: Given = Own(
    "seed",
    "SupportsIndex | None",
    "None",
    "Seed of the order, -2^63 to 2^63 - 1; with the order `dotnet`, -2^31 to 2^31 - 1. 0 by default. None with an `Order`.",
);

const RAISED: [(&str, &str); 6] = [
    ("out-of-range", "a number is outside its range"),
    ("unknown-name", "a name is not known"),
    ("wrong-type", "a value is not of the type that its parameter takes"),
    ("missing", "there is not what another option needs"),
    ("contradiction", "an option is given that the others do not use, or options do not fit together"),
    ("out-of-memory", "there is no memory for so many"),
];

const CONSTRUCTORS: &[Constructor] = &[
    Constructor {
        of: "sampler",
        about: "Checks the configuration; costs O(1). An option that is None has its default. Orders that need a table build it at the first call that asks for an index.",
        given: &[
            Own(
                "samples",
                "SupportsIndex | None",
                "None",
                "Number of samples in the dataset, 0 to 2^53 - 1; orders that hold a table take at most 2^32 - 1 (`dotnet` 2^31 - 1), and no more than `memory_limit` has room for. None with an `Order`, which has its own.",
            ),
            Names,
            SEED,
            EPOCH,
            LAYERED,
            Own("rank", "SupportsIndex", "0", "Number of this data-parallel reader, 0 to `world_size` - 1."),
            Members("deal", "sampler", &[]),
            Own(
                "consumed",
                "SupportsIndex",
                "0",
                "How many positions of this epoch were dealt before, maybe to another number of ranks. They are the first ones; the other positions are dealt. 0 to `length`; with a `unit`, a multiple of it, or `length`. `resume` takes it from a state.",
            ),
            MEMORY,
        ],
    },
    Constructor {
        of: "schedule",
        about: "Checks the configuration. An option that is None has its default.",
        given: &[
            Own(
                "order_or_samples",
                "Order | SupportsIndex",
                "",
                "Number of samples in the dataset, or an `Order`, such as a blend.",
            ),
            Own(
                "batch_size",
                "SupportsIndex | Iterable[tuple[SupportsIndex, SupportsIndex]]",
                "",
                "The global batch size: how many samples all ranks together take at a step, 1 to 2^32 - 1, a multiple of `world_size` * `unit`. Or a list of (from_step, batch_size), which begins with step 0 and ascends: the batch size from each of these steps on. Those before the last one need not be multiples of `world_size`, since another number of ranks may have taken their steps. This rank has no samples of them.",
            ),
            Names,
            One("steps", "schedule", "epochs"),
            Own(
                "order",
                "str | None",
                "None",
                "Name of the order, one of `samedeal.orders()`; `feistel` by default. None with an `Order`.",
            ),
            SEED,
            Members("deal", "schedule", &[]),
            Own(
                "rank",
                "SupportsIndex",
                "0",
                "The rank whose samples `indices` and `batch` give, 0 to `world_size` - 1.",
            ),
            MEMORY,
        ],
    },
    Constructor {
        of: "reading",
        about: "Deals epoch 0. An option that is None has its default. An option that the deal does not use is an error.",
        given: &[
            Own(
                "sizes",
                "ArrayLike | Iterable[SupportsIndex] | None",
                "None",
                "Number of samples in each shard, at most 2^53 - 1 in all of them together.",
            ),
            Names,
            Own(
                "order",
                "Order | None",
                "None",
                "In place of the sizes, an `Order` that is made of orders `samedeal.sharded`: a blend of several datasets, or a view such as `exclude`. Its shards are those of these orders, one order after the other. It goes with `remainder`, the readers and the batches; it has the other options itself.",
            ),
            Own(
                "deal",
                "str",
                "\"samples\"",
                "`\"samples\"` (the default): single positions of one order over the dataset. `\"shards\"`: whole shards.",
            ),
            Own("seed", "SupportsIndex | None", "None", "Seed of all shuffles, -2^63 to 2^63 - 1; 0 by default."),
            Own("shuffle", "bool | None", "None", "Whether the epoch is shuffled; True by default."),
            Members("deal", "reading", &[]),
            Members("batch", "reading", &[]),
            With("With the deal \"samples\": "),
            One("order", "sampler", "lanes"),
            One("order", "sampler", "shuffle_window"),
            With("With the deal \"shards\": "),
            One("shards", "plan", "shuffle_rows"),
            One("shards", "plan", "reshuffle"),
            Own(
                "policy",
                "str | None",
                "None",
                "With the deal \"shards\": how shards are dealt to ranks, `size-aware` (the default) or `round-robin`.",
            ),
            One("shards", "plan", "worker_policy"),
            One("shards", "plan", "weight"),
            Own(
                "bytes",
                "ArrayLike | Iterable[SupportsIndex] | None",
                "None",
                "With the weight `bytes`: number of bytes in each shard.",
            ),
            MEMORY,
        ],
    },
    Constructor {
        of: "batcher",
        about: "Checks the options. One that is None has its default; one that the strategy does not use is refused. Each window is planned when it is asked for.",
        given: &[
            Own(
                "lengths",
                "Source | Mapping[str, Source]",
                "",
                "The length of every sample, in tokens, 0 to 2^32 - 1: an array, which may be a memory-mapped file, a column of Arrow or Hugging Face, any sequence, a `LengthsSource`, or a function of an array of sample indices, if the order says how many samples there are. It is not copied: only the lengths of some samples and of the windows that are planned are read. With a blend as `order`, also a dictionary: the lengths of each source, by its name.",
            ),
            Names,
            Own(
                "seed",
                "SupportsIndex | None",
                "None",
                "Seed of the order, and of the order of steps, -2^63 to 2^63 - 1; 0 by default. None with an `Order`.",
            ),
            EPOCH,
            Own(
                "order",
                "str | Order | Mapping[str, Any] | None",
                "None",
                "The order of the epoch, one of `samedeal.orders()`; `feistel` by default. Or an `Order`, such as a blend, a view without some samples, or a dataset in shards; `lengths` has then the length of every sample index. Or what `Order.to_dict` gives.",
            ),
            RANK,
            Members("deal", "batches", &[]),
            Members("batch", "batches", &["lengths"]),
            MEMORY,
        ],
    },
    Constructor {
        of: "batch-stream",
        about: "Checks the options. One that is None has its default; one that the strategy does not use is refused. With `too_long=\"error\"`, `push` fails.",
        given: &[
            Names,
            Own("seed", "SupportsIndex | None", "None", "Seed of the order of steps, -2^63 to 2^63 - 1; 0 by default."),
            EPOCH,
            RANK,
            Members("deal", "batches", &[]),
            // Lengths are not known before.
            Members("batch", "batches", &["lengths", "quantiles"]),
            MEMORY,
        ],
    },
    Constructor {
        of: "plan",
        about: "Plans the epoch. An option that is None has its default; one that the policy does not use is refused.",
        given: &[
            Own("sizes", NUMBERS, "", "Number of samples in each shard, at most 2^53 - 1 in all of them together."),
            Names,
            Own(
                "bytes",
                "ArrayLike | Iterable[SupportsIndex] | None",
                "None",
                "Number of bytes in each shard, if they are to be balanced or reported.",
            ),
            Members("deal", "plan", &[]),
            Own(
                "holders",
                "Sequence[Iterable[SupportsIndex]] | None",
                "None",
                "For each shard, the numbers of the nodes that store it, at least one; with `policy` `locality-aware`.",
            ),
            One("shards", "plan", "rank_nodes"),
            Members(
                "shards",
                "plan",
                &["samples", "shards", "sizes", "bytes", "holders", "holder_offsets", "rank_nodes"],
            ),
            EPOCH,
            MEMORY,
        ],
    },
    Constructor {
        of: "chunk-stream",
        about: "Checks the configuration; costs O(1). An option that is None has its default.",
        given: &[
            Own("reader", "SupportsIndex", "", "Number of this reader, 0 to `readers` - 1."),
            Own("readers", "SupportsIndex", "", "Number of readers, 1 to 2^32 - 1."),
            Names,
            One("order", "chunk-stream", "chunks"),
            Own(
                "order",
                "str | None",
                "None",
                "The order of the chunks in each cycle, one of `samedeal.orders()`; by default `feistel`, or `sequential` without `chunks`, which is then the only one.",
            ),
            One("order", "chunk-stream", "seed"),
            EPOCH,
            MEMORY,
        ],
    },
];

impl Module<'_> {
    /// The constructor of the facade of a resource, if its parameters are options.
    pub(super) fn options(&self, resource: TypeId) -> Result<String, String> {
        let name = self.resolve.types[resource].name.as_deref().unwrap_or_default();
        let Some(constructor) = CONSTRUCTORS.iter().find(|constructor| constructor.of == name) else {
            return Ok(String::new());
        };
        let all = samedeal_core::described();
        let mut parameters = vec!["self".to_owned()];
        let mut about = Vec::new();
        // Sections with their members, and what is passed beside them.
        let mut sections: Vec<(&str, Vec<String>)> = Vec::new();
        let mut beside = Vec::new();
        let mut add = |section: Option<&'static str>, name: &str, kind: &str, default: &str, text: String| {
            let own = snake(name);
            let default = if default.is_empty() { String::new() } else { format!(" = {default}") };
            parameters.push(format!("{own}: {kind}{default}"));
            about.push((own.clone(), text));
            match section {
                Some(section) if !LISTS.contains(&name) => {
                    let entry = format!("\"{name}\": {own}");
                    match sections.iter_mut().find(|(other, _)| *other == section) {
                        Some((_, all)) => all.push(entry),
                        None => sections.push((section, vec![entry])),
                    }
                }
                _ => beside.push(format!("{own}={own}")),
            }
        };
        let (mut names, mut with) = (0, "");
        let said = |member: &Described, with: &str| {
            if with.is_empty() {
                return described(member, &member.needs);
            }
            format!("{with}{}", lower(&described(member, &[])))
        };
        for (at, given) in constructor.given.iter().enumerate() {
            match given {
                Names => names = at + 1,
                With(first) => with = first,
                Own(name, kind, default, text) => add(None, name, kind, default, (*text).to_owned()),
                One(section, recipe, name) => {
                    let member = members::of(&all, section, recipe).find(|member| member.name == *name);
                    let member =
                        member.ok_or_else(|| format!("there is no `{name}` in {}", object(section, recipe)))?;
                    add(Some(section), name, kind(member)?, "None", said(member, with));
                }
                Members(section, recipe, but) => {
                    for member in members::of(&all, section, recipe) {
                        if !but.contains(&member.name) {
                            add(Some(section), member.name, kind(member)?, "None", said(member, with));
                        }
                    }
                }
            }
        }
        parameters.insert(names, "*".to_owned());
        for used in [Use::Iterable, Use::Array, Use::SupportsIndex, Use::Mapping] {
            self.uses(used);
        }
        for (word, used) in [("Sequence[", Use::Sequence), ("Order", Use::Order), ("Source ", Use::Lengths)] {
            if parameters.iter().any(|parameter| parameter.contains(word)) {
                self.uses(used);
            }
        }
        let raised = RAISED.iter().map(|(kind, about)| Cause::Kind((*kind).to_owned(), (*about).to_owned())).collect();
        let text = Text { paragraphs: vec![constructor.about.to_owned()], errors: raised };
        let mut known = self.known.clone();
        known.values.extend(about.iter().flat_map(|(name, _)| [name.clone(), name.replace('_', "-")]));
        let mut out = spread("    def __init__(", &parameters, ") -> None:\n", 4);
        out += &docs::of_parameters(&text, &about, 8, &known);
        out += "        sections: dict[str, dict[str, Any]] = {\n";
        for (section, members) in sections {
            out += &spread(&format!("            \"{section}\": {{"), &members, "},\n", 12);
        }
        out += "        }\n";
        beside.insert(0, "sections".to_owned());
        out += &spread("        self._configure(", &beside, ")\n", 8);
        out += "\n    def _configure(self, sections: Mapping[str, Mapping[str, Any]], **given: Any) -> None:\n";
        Ok(
            out + "        \"\"\"Begins with the options by the sections of a recipe, and what else was given.\"\"\"\n        raise NotImplementedError\n\n"
        )
    }
}

/// A sentence after a colon.
fn lower(text: &str) -> String {
    text[..1].to_lowercase() + &text[1..]
}

fn kind(member: &Described) -> Result<&'static str, String> {
    Ok(match member.value {
        Value::Natural { .. } | Value::Integer => "SupportsIndex | None",
        Value::Numbers => "ArrayLike | Iterable[SupportsIndex] | None",
        Value::Flag => "bool | None",
        Value::Text | Value::Name(_) => "str | None",
        Value::Objects => return Err(format!("the option {} has no form in Python yet", member.name)),
    })
}

/// What a member is, what its names say, and where it belongs.
fn described(member: &Described, needs: &[Vec<Needed>]) -> String {
    let mut text = member.text.clone();
    match &member.value {
        Value::Natural { range, .. } if !text.contains("Range: ") => text += &format!(" Range: {range}."),
        Value::Name(names) => names.iter().for_each(|name| {
            let default = if member.default == format!("`{name}`") { " (the default)" } else { "" };
            text += &format!(" \"{name}\"{default}: {}", lower(meaning(member.name, name)));
        }),
        _ => {}
    }
    text += &only_with(needs);
    if !member.default.is_empty() && !text.contains("efault") {
        let default = match member.default.as_str() {
            "true" => "True",
            "false" => "False",
            other => other,
        };
        text += &format!(" Default: {}.", default.replace('`', "\""));
    }
    text
}
