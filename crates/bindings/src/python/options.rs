//! Constructors whose parameters are options: a keyword for each member of a recipe, with its type, its default and the text of the core.

use samedeal_core::{Described, Needed, Value, meaning};

use super::names::snake;
use super::{Module, spread};
use crate::facade::Text;
use crate::members::{self, object, only_with};
use crate::words::small;

/// The constructors by their resources: what they do, and their parameters, a line each:
///
/// - `name: type = default  # text`: what is no member, or has a form that members have not
/// - a name alone: one of `SHARED`
/// - `*`: what comes from here on is passed by name
/// - `section.name of recipe`: a member; with `*` for the name, all of the section, but those that stand behind `but`
/// - `With ...:` is what members say first from here on
const CONSTRUCTORS: &[(&str, &str, &str)] = &[
    (
        "sampler",
        "Checks the configuration; costs O(1). An option that is None has its default. Orders that need a table build it at the first call that asks for an index.",
        r#"samples: SupportsIndex | None = None  # Number of samples in the dataset, 0 to 2^53 - 1; orders that hold a table take at most 2^32 - 1 (`dotnet` 2^31 - 1), and no more than `memory_limit` has room for. None with an `Order`, which has its own.
*
seed
epoch
order: str | Order | None = None  # Name of the order, one of `samedeal.orders()`; `feistel` by default. Or an `Order`, such as a blend.
rank: SupportsIndex = 0  # Number of this data-parallel reader, 0 to `world_size` - 1.
deal.* of sampler
consumed: SupportsIndex = 0  # How many positions of this epoch were dealt before, maybe to another number of ranks. They are the first ones; the other positions are dealt. 0 to `length`; with a `unit`, a multiple of it, or `length`. `resume` takes it from a state."#,
    ),
    (
        "schedule",
        "Checks the configuration. An option that is None has its default.",
        r#"order_or_samples: Order | SupportsIndex  # Number of samples in the dataset, or an `Order`, such as a blend.
batch_size: SupportsIndex | Iterable[tuple[SupportsIndex, SupportsIndex]]  # The global batch size: how many samples all ranks together take at a step, 1 to 2^32 - 1, a multiple of `world_size` * `unit`. Or a list of (from_step, batch_size), which begins with step 0 and ascends: the batch size from each of these steps on. Those before the last one need not be multiples of `world_size`, since another number of ranks may have taken their steps. This rank has no samples of them.
*
steps.epochs of schedule
order: str | None = None  # Name of the order, one of `samedeal.orders()`; `feistel` by default. None with an `Order`.
seed
deal.* of schedule
rank: SupportsIndex = 0  # The rank whose samples `indices` and `batch` give, 0 to `world_size` - 1."#,
    ),
    (
        "reading",
        "Deals epoch 0. An option that is None has its default. An option that the deal does not use is an error.",
        r#"sizes: ArrayLike | Iterable[SupportsIndex] | None = None  # Number of samples in each shard, at most 2^53 - 1 in all of them together.
*
order: Order | None = None  # In place of the sizes, an `Order` that is made of orders `samedeal.sharded`: a blend of several datasets, or a view such as `exclude`. Its shards are those of these orders, one order after the other. It goes with `remainder`, the readers and the batches; it has the other options itself.
deal: str = "samples"  # `"samples"` (the default): single positions of one order over the dataset. `"shards"`: whole shards.
seed: SupportsIndex | None = None  # Seed of all shuffles, -2^63 to 2^63 - 1; 0 by default.
shuffle: bool | None = None  # Whether the epoch is shuffled; True by default.
deal.* of reading
batch.* of reading
With the deal "samples":
order.lanes of sampler
order.shuffle_window of sampler
With the deal "shards":
shards.shuffle_rows of plan
shards.reshuffle of plan
policy: str | None = None  # With the deal "shards": how shards are dealt to ranks, `size-aware` (the default) or `round-robin`.
shards.worker_policy of plan
shards.weight of plan
bytes: ArrayLike | Iterable[SupportsIndex] | None = None  # With the weight `bytes`: number of bytes in each shard."#,
    ),
    (
        "batcher",
        "Checks the options. One that is None has its default; one that the strategy does not use is refused. Each window is planned when it is asked for.",
        r#"lengths: Source | Mapping[str, Source]  # The length of every sample, in tokens, 0 to 2^32 - 1: an array, which may be a memory-mapped file, a column of Arrow or Hugging Face, any sequence, a `LengthsSource`, or a function of an array of sample indices, if the order says how many samples there are. It is not copied: only the lengths of some samples and of the windows that are planned are read. With a blend as `order`, also a dictionary: the lengths of each source, by its name.
*
seed: SupportsIndex | None = None  # Seed of the order, and of the order of steps, -2^63 to 2^63 - 1; 0 by default. None with an `Order`.
epoch
order: str | Order | Mapping[str, Any] | None = None  # The order of the epoch, one of `samedeal.orders()`; `feistel` by default. Or an `Order`, such as a blend, a view without some samples, or a dataset in shards; `lengths` has then the length of every sample index. Or what `Order.to_dict` gives.
rank
deal.* of batches
batch.* of batches but lengths"#,
    ),
    (
        "batch-stream",
        "Checks the options. One that is None has its default; one that the strategy does not use is refused. With `too_long=\"error\"`, `push` fails.",
        // Lengths are not known before.
        r#"*
seed: SupportsIndex | None = None  # Seed of the order of steps, -2^63 to 2^63 - 1; 0 by default.
epoch
rank
deal.* of batches
batch.* of batches but lengths, quantiles"#,
    ),
    (
        "plan",
        "Plans the epoch. An option that is None has its default; one that the policy does not use is refused.",
        r#"sizes: ArrayLike | Iterable[SupportsIndex]  # Number of samples in each shard, at most 2^53 - 1 in all of them together.
*
bytes: ArrayLike | Iterable[SupportsIndex] | None = None  # Number of bytes in each shard, if they are to be balanced or reported.
deal.* of plan
holders: Sequence[Iterable[SupportsIndex]] | None = None  # For each shard, the numbers of the nodes that store it, at least one; with `policy` `locality-aware`.
shards.rank_nodes of plan
shards.* of plan but samples, shards, sizes, bytes, holders, holder_offsets, rank_nodes
epoch"#,
    ),
    (
        "chunk-stream",
        "Checks the configuration; costs O(1). An option that is None has its default.",
        r#"reader: SupportsIndex  # Number of this reader, 0 to `readers` - 1.
readers: SupportsIndex  # Number of readers, 1 to 2^32 - 1.
*
order.chunks of chunk-stream
order: str | None = None  # The order of the chunks in each cycle, one of `samedeal.orders()`; by default `feistel`, or `sequential` without `chunks`, which is then the only one.
order.seed of chunk-stream
epoch"#,
    ),
];

/// Parameters of several constructors. The last one is that of all.
const SHARED: [&str; 4] = [
    "seed: SupportsIndex | None = None  # Seed of the order, -2^63 to 2^63 - 1; with the order `dotnet`, -2^31 to 2^31 - 1. 0 by default. None with an `Order`.",
    "epoch: SupportsIndex = 0  # Number of the epoch, 0 to 2^64 - 1.",
    "rank: SupportsIndex = 0  # The rank whose batches iteration gives, 0 to `world_size` - 1.",
    "memory_limit: SupportsIndex = 2**31  # Bytes of memory that the engine may use; 2^31 is the most that it can use.",
];

const RAISED: &str = "Errors: `out-of-range` (a number is outside its range), `unknown-name` (a name is not known), `wrong-type` (a value is not \
                      of the type that its parameter takes), `missing` (there is not what another option needs), `contradiction` (an option is \
                      given that the others do not use, or options do not fit together), `out-of-memory` (there is no memory for so many).";

/// What a constructor is made of.
#[derive(Default)]
struct Parts {
    parameters: Vec<String>,
    /// The names of parameters, and what they are.
    about: Vec<(String, String)>,
    /// Sections with their members, and what is passed beside them.
    sections: Vec<(&'static str, Vec<String>)>,
    beside: Vec<String>,
}

impl Parts {
    fn own(&mut self, line: &str) {
        let (declared, text) = line.split_once("  # ").unwrap_or((line, ""));
        let (name, _) = declared.split_once(": ").unwrap_or((declared, ""));
        self.parameters.push(declared.to_owned());
        self.about.push((name.to_owned(), text.to_owned()));
        self.beside.push(format!("{name}={name}"));
    }

    fn member(&mut self, member: &Described, with: &str) -> Result<(), String> {
        let own = snake(member.name);
        let kind = match member.value {
            Value::Natural { .. } | Value::Integer => "SupportsIndex",
            Value::Numbers => "ArrayLike | Iterable[SupportsIndex]",
            Value::Flag => "bool",
            Value::Text | Value::Name(_) => "str",
            Value::Objects => return Err(format!("the option {} has no form in Python yet", member.name)),
        };
        self.parameters.push(format!("{own}: {kind} | None = None"));
        let text = match with {
            "" => described(member, &member.needs),
            with => format!("{with} {}", small(&described(member, &[]))),
        };
        self.about.push((own.clone(), text));
        let entry = format!("\"{}\": {own}", member.name);
        match self.sections.iter_mut().find(|(other, _)| *other == member.section) {
            // Lists are no part of a text.
            _ if member.value == Value::Numbers => self.beside.push(format!("{own}={own}")),
            Some((_, all)) => all.push(entry),
            None => self.sections.push((member.section, vec![entry])),
        }
        Ok(())
    }
}

impl Module<'_> {
    /// The constructor of the facade of a resource, if its parameters are options.
    pub(super) fn options(&self, resource: &str) -> Result<String, String> {
        let Some((_, about, lines)) = CONSTRUCTORS.iter().find(|(of, ..)| *of == resource) else {
            return Ok(String::new());
        };
        let all = samedeal_core::described();
        let mut parts = Parts::default();
        let mut with = "";
        for line in lines.lines().chain(["memory_limit"]) {
            if line == "*" {
                parts.parameters.push(line.to_owned());
            } else if line.starts_with("With ") {
                with = line;
            } else if line.contains("  # ") {
                parts.own(line);
            } else if let Some((members, recipe)) = line.split_once(" of ") {
                let (section, name) = members.split_once('.').unwrap_or((members, ""));
                let (recipe, but) = recipe.split_once(" but ").unwrap_or((recipe, ""));
                let is_meant = |own: &str| if name == "*" { !but.split(", ").any(|it| it == own) } else { name == own };
                let mut found = members::of(&all, section, recipe).filter(|member| is_meant(member.name)).peekable();
                found.peek().ok_or_else(|| format!("there is no `{name}` in {}", object(section, recipe)))?;
                found.try_for_each(|member| parts.member(member, with))?;
            } else {
                let shared = SHARED.iter().find(|shared| shared.starts_with(&format!("{line}: ")));
                parts.own(shared.ok_or_else(|| format!("there is no parameter `{line}`"))?);
            }
        }
        let Parts { mut parameters, about: texts, sections, mut beside } = parts;
        parameters.insert(0, "self".to_owned());
        beside.insert(0, "sections".to_owned());
        let mut known = self.known.clone();
        known.values.extend(texts.iter().flat_map(|(name, _)| [name.clone(), name.replace('_', "-")]));
        let sections = sections
            .iter()
            .map(|(section, members)| spread(&format!("            \"{section}\": {{"), members, "},\n"));
        Ok([
            &spread("    def __init__(", &parameters, ") -> None:\n"),
            &known.docstring(Text::of(&format!("{about} {RAISED}")), &texts, 8),
            "        sections: dict[str, dict[str, Any]] = {\n",
            &sections.collect::<String>(),
            "        }\n",
            &spread("        self._configure(", &beside, ")\n"),
            "\n    def _configure(self, sections: Mapping[str, Mapping[str, Any]], **given: Any) -> None:\n",
            "        \"\"\"Begins with the options by the sections of a recipe, and what else was given.\"\"\"\n",
            "        raise NotImplementedError\n\n",
        ]
        .concat())
    }
}

/// What a member is, what its names say, and where it belongs.
fn described(member: &Described, needs: &[Vec<Needed>]) -> String {
    let mut text = member.text.clone();
    match &member.value {
        Value::Natural { range, .. } if !text.contains("Range: ") => text += &format!(" Range: {range}."),
        Value::Name(names) => names.iter().for_each(|name| {
            let default = if member.default == format!("`{name}`") { " (the default)" } else { "" };
            text += &format!(" \"{name}\"{default}: {}", small(meaning(member.name, name)));
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
