//! States within what a training run has saved: JSON, pickles, and the zip archives of pickles that `torch.save` writes.
//! Nothing of a pickle is executed.

mod pickle;
mod values;

use std::fmt::Display;
use std::fs::{File, Metadata};
use std::io::{self, Cursor, Read, Seek};
use std::path::{Path, PathBuf};

use samedeal::{Builder, Error, Sampler};
use serde_json::{Map, Value, json};
use values::{Id, Node, Values};

use crate::args::deal::SHARDED;
use crate::write::output::grouped;
use crate::write::problem::Problem;

/// The most bytes of JSON or of a pickle, which holds a checkpoint without its tensors.
const MOST: u64 = 1 << 26;
/// More than any state has.
const STATE: usize = 1 << 21;

/// A state, and what stands beside it.
#[derive(Clone, Debug, PartialEq)]
pub struct Saved {
    /// The file, as it was named.
    pub path: PathBuf,
    /// Where in the file it is, such as `callbacks.loader.samedeal`; empty where it is the file.
    pub place: String,
    pub text: String,
    /// What the text says.
    pub fields: Map<String, Value>,
    /// The steps that groups of readers took, the oldest first.
    pub history: Vec<Segment>,
    /// The samples in a batch, if the state of transformers' Trainer says so.
    pub batch_size: Option<u64>,
    /// How many batches of the epoch were read, if Lightning's checkpoint says so.
    pub batches: Option<u64>,
    /// Whether it is of one loader worker alone.
    of_worker: bool,
}

/// What can be done with a state.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Sampler,
    /// Of batches of samples of different length.
    Batcher,
    /// Of a dataset in files, for all loader workers.
    Reading,
    /// Of one loader worker.
    Worker,
    /// Of steps over epochs.
    Steps,
    /// No state: what decides a run.
    Recipe,
    Other,
}

/// The sections of recipes. Every recipe has one of them that says what it is of.
const SECTIONS: [&str; 4] = ["order", "shards", "deal", "split"];

/// What a recipe is of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum RecipeOf {
    Sampler,
    Batches,
    Plan,
    Reading,
    Chunks,
    Split,
    Steps,
}

impl RecipeOf {
    /// For programs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sampler => "sampler",
            Self::Batches => "batches",
            Self::Plan => "plan",
            Self::Reading => "reading",
            Self::Chunks => "chunk-stream",
            Self::Split => "split",
            Self::Steps => "steps",
        }
    }

    pub const fn described(self) -> &'static str {
        match self {
            Self::Sampler => "the recipe of a sampler",
            Self::Batches => "the recipe of batches of samples of different length",
            Self::Plan => "the recipe of a plan, which deals whole files",
            Self::Reading => "the recipe of a reading, a dataset in files with loader workers",
            Self::Chunks => "the recipe of a stream of chunks",
            Self::Split => "the recipe of a split",
            Self::Steps => "the recipe of steps over epochs",
        }
    }

    /// Who reads it.
    pub const fn used_by(self) -> &'static str {
        match self {
            Self::Sampler => "every library, and --recipe of the commands that show samples",
            Self::Batches => "every library, and --recipe with --lengths",
            Self::Plan | Self::Reading | Self::Chunks => "every library",
            Self::Split => "every library, and samedeal split --recipe",
            Self::Steps => "every library, and samedeal steps --recipe",
        }
    }
}

/// Steps that every rank of a group took.
#[derive(Clone, Debug, PartialEq)]
pub struct Segment {
    pub world_size: u64,
    pub steps: u64,
    /// This and what follows is only in states of datasets in files.
    pub workers: Option<u64>,
    pub batch_size: Option<u64>,
    pub drop_last: Option<bool>,
}

impl Saved {
    pub fn word(&self, name: &str) -> &str {
        self.field(name).and_then(Value::as_str).unwrap_or_default()
    }

    pub fn number(&self, name: &str) -> Option<u64> {
        self.field(name).and_then(Value::as_u64)
    }

    pub fn seed(&self) -> Option<i64> {
        self.field("seed").and_then(Value::as_i64)
    }

    /// A number of 32 bits.
    pub fn small(&self, name: &str) -> Option<u32> {
        u32::try_from(self.number(name)?).ok()
    }

    /// A list of numbers. It may be there as a hash.
    pub fn numbers(&self, name: &str) -> Option<Vec<u64>> {
        self.field(name)?.as_array()?.iter().map(Value::as_u64).collect()
    }

    /// A member of the state, or of the order or the shards in its recipe.
    pub fn field(&self, name: &str) -> Option<&Value> {
        self.fields.get(name).or_else(|| self.dealt()?.get(name))
    }

    /// The section of the recipe that says what is dealt.
    fn dealt(&self) -> Option<&Map<String, Value>> {
        let recipe = self.recipe()?;
        recipe.get("order").or_else(|| recipe.get("shards"))?.as_object()
    }

    /// Whether whole shards are dealt.
    pub fn deals_shards(&self) -> bool {
        self.recipe().is_some_and(|recipe| recipe.contains_key("shards"))
    }

    /// The name of the order. Whole shards are dealt in an order of files, too.
    pub fn order(&self) -> &str {
        if self.deals_shards() { SHARDED } else { self.word("name") }
    }

    /// How samples become batches, by the state of batches of samples of different length.
    pub fn batch(&self) -> Option<&Map<String, Value>> {
        self.recipe()?.get("batch")?.as_object()
    }

    /// The order, if it is made of others, with lists that the state has only a hash of.
    pub fn composed(&self, lists: Vec<(String, Vec<u64>)>) -> Result<Option<(Builder, Sampler)>, Error> {
        let Some(order) = self.recipe().and_then(|recipe| recipe.get("order")) else { return Ok(None) };
        let builder = Sampler::from_recipe(json!({ "order": order }).to_string());
        let builder = lists.into_iter().fold(builder, |it, (path, list)| it.list(path, list));
        if !self.is_composed()? {
            return Ok(None);
        }
        let epoch = self.number("epoch").unwrap_or(0);
        let sampler = builder.clone().epoch(epoch).build()?;
        Ok(Some((builder, sampler)))
    }

    /// Whether the order is made of others: it has a name that no plain order has.
    pub fn is_composed(&self) -> Result<bool, Error> {
        let order = self.order();
        let is_plain = order.is_empty() || order == SHARDED || samedeal::orders()?.iter().any(|name| name == order);
        let is_of_order = matches!(self.kind(), Kind::Sampler | Kind::Batcher | Kind::Steps | Kind::Recipe);
        Ok(is_of_order && !is_plain)
    }

    /// What decides every epoch, by the states that have it.
    pub fn recipe(&self) -> Option<&Map<String, Value>> {
        match self.kind() {
            Kind::Recipe => Some(&self.fields),
            _ => self.fields.get("recipe").and_then(Value::as_object),
        }
    }

    pub fn kind(&self) -> Kind {
        let is_recipe = || SECTIONS.iter().any(|section| self.fields.get(*section).is_some_and(Value::is_object));
        match self.fields.get("kind").map(|kind| kind.as_str().unwrap_or_default()) {
            _ if self.of_worker => Kind::Worker,
            Some("sampler") => Kind::Sampler,
            Some("batcher") => Kind::Batcher,
            Some("reading") => Kind::Reading,
            Some("steps") => Kind::Steps,
            None if is_recipe() => Kind::Recipe,
            _ => Kind::Other,
        }
    }

    /// What a recipe is of, by its sections.
    pub fn recipe_of(&self) -> Option<RecipeOf> {
        let recipe = self.recipe().filter(|_| self.kind() == Kind::Recipe)?;
        let has = |section: &str, member: &str| recipe.get(section).is_some_and(|own| own.get(member).is_some());
        Some(match () {
            () if recipe.contains_key("split") => RecipeOf::Split,
            () if recipe.contains_key("steps") => RecipeOf::Steps,
            () if has("deal", "readers") || has("order", "chunks") => RecipeOf::Chunks,
            () if has("batch", "batch_size") || has("batch", "drop_last") => RecipeOf::Reading,
            () if recipe.contains_key("shards") => RecipeOf::Plan,
            () if recipe.contains_key("batch") => RecipeOf::Batches,
            () if has("deal", "workers") => RecipeOf::Reading,
            () => RecipeOf::Sampler,
        })
    }

    /// What the state is of, in words.
    pub fn described(&self) -> &'static str {
        match self.kind() {
            Kind::Sampler => "the state of a sampler",
            Kind::Batcher => "the state of batches of samples of different length",
            Kind::Reading => "the state of a dataset in files",
            Kind::Worker => "the state of one worker of a loader",
            Kind::Steps => "the state of steps over epochs",
            Kind::Recipe => self.recipe_of().map_or("a recipe", RecipeOf::described),
            Kind::Other if self.word("kind") == "ledger" => "the first entry of the log of a ledger",
            Kind::Other => "a state of an unknown kind",
        }
    }

    /// What is wrong with it, with the name of its file.
    pub fn refused(&self, why: impl Display) -> Problem {
        Problem::of(&self.path, why)
    }
}

/// The states in a file, in the order in which they are there. `-` is standard input.
pub fn read(path: &Path) -> Result<Vec<Saved>, Problem> {
    let failed = |error: io::Error| Problem::of(path, error);
    let is_stdin = path == Path::new("-");
    let metadata = if is_stdin { None } else { Some(path.metadata().map_err(failed)?) };
    if metadata.as_ref().is_some_and(Metadata::is_dir) {
        return Err(Problem::of(path, "is a directory; name the file in it that holds the state"));
    }
    let states = match metadata {
        Some(metadata) if metadata.is_file() => of(File::open(path).map_err(failed)?),
        // A pipe, which is read once and onwards.
        _ => {
            let pipe: Box<dyn Read> =
                if is_stdin { Box::new(io::stdin()) } else { Box::new(File::open(path).map_err(failed)?) };
            let mut bytes = Vec::new();
            pipe.take(MOST + 1).read_to_end(&mut bytes).map_err(failed)?;
            if bytes.len() as u64 > MOST {
                let most = grouped(MOST);
                return Err(Problem::of(path, format!("is a pipe with more than {most} bytes; name the file itself")));
            }
            of(Cursor::new(bytes))
        }
    };
    let mut states = states.map_err(|why| Problem::of(path, why))?;
    states.iter_mut().for_each(|saved| saved.path = path.to_owned());
    Ok(states)
}

/// What is said of a document without a state. Many recipes come here.
pub const NONE: &str = "holds no state of samedeal; `samedeal state` writes one, and a recipe is given with --recipe";

/// The state in a file that has one.
pub fn only(path: &Path) -> Result<Saved, Problem> {
    let states = read(path)?;
    match &candidates(&states)[..] {
        [saved] => Ok((*saved).clone()),
        [] => Err(Problem::of(path, NONE)),
        [..] => {
            let what = "holds several states that differ; write one of them to its own file, as `samedeal explain --json` shows it";
            Err(Problem::of(path, format!("{what}: {}", places(candidates(&states)))))
        }
    }
}

/// Where states are and what they are, for people.
pub fn places<'a>(states: impl IntoIterator<Item = &'a Saved>) -> String {
    let told = states.into_iter().map(|saved| format!("{} ({})", saved.place, saved.described()));
    told.collect::<Vec<_>>().join(", ")
}

/// The states that may be meant: those that differ. A recipe beside a state says nothing of how far anything was read.
pub fn candidates(states: &[Saved]) -> Vec<&Saved> {
    let mut differing = distinct(states);
    if differing.iter().any(|saved| saved.kind() != Kind::Recipe) {
        differing.retain(|saved| saved.kind() != Kind::Recipe);
    }
    differing
}

fn of(mut file: impl Read + Seek) -> Result<Vec<Saved>, String> {
    let unreadable = |error: io::Error| format!("cannot be read: {error}");
    let mut begin = Vec::new();
    file.by_ref().take(4).read_to_end(&mut begin).map_err(unreadable)?;
    file.rewind().map_err(unreadable)?;
    if begin.starts_with(b"PK\x03\x04") || begin.starts_with(b"PK\x05\x06") {
        return of_archive(file);
    }
    let mut bytes = Vec::new();
    file.take(MOST + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if matches!(begin[..], [0x80, 2..=5, ..]) {
        return Ok(found(&pickle::read(&bytes)?, ""));
    }
    if bytes.len() as u64 > MOST {
        return Err(too_large(bytes.len() as u64));
    }
    let Ok(text) = str::from_utf8(&bytes) else {
        // Protocol 0 of pickles is text, and nobody writes it any more; protocol 1 is no text, and has no mark.
        return pickle::read(&bytes).map(|values| found(&values, "")).map_err(|_| {
            "holds no state of samedeal: it is no JSON, no pickle, and no archive that torch.save writes".to_owned()
        });
    };
    of_text(text.trim())
}

fn too_large(bytes: u64) -> String {
    format!("is of {} bytes; allowed for what holds a state: {}", grouped(bytes), grouped(MOST))
}

/// The states in a text: JSON of them, or of anything that holds them.
fn of_text(text: &str) -> Result<Vec<Saved>, String> {
    if let Some(fields) = state(text) {
        return Ok(vec![Saved::new(String::new(), text.to_owned(), fields)]);
    }
    match Values::of_json(text) {
        Ok(values) => Ok(found(&values, "")),
        Err(why) => {
            // A pickle of protocol 0.
            let read = pickle::read(text.as_bytes()).ok().map(|values| found(&values, ""));
            read.ok_or_else(|| format!("holds no state of samedeal: it is no JSON ({why})"))
        }
    }
}

/// The states in the pickles of a zip archive, such as `archive/data.pkl`.
fn of_archive(file: impl Read + Seek) -> Result<Vec<Saved>, String> {
    let broken = |error: zip::result::ZipError| {
        // The list of its files is at the end of an archive.
        let cut = matches!(error, zip::result::ZipError::InvalidArchive(_));
        let cut = if cut { "; a file that was copied or written in part is cut off at its end" } else { "" };
        format!("cannot be read as the archive that torch.save writes: {error}{cut}")
    };
    let mut archive = zip::ZipArchive::new(file).map_err(broken)?;
    // What has another name is nothing that torch reads.
    let names = archive.file_names().filter_map(Result::ok).filter(|name| name.ends_with(".pkl"));
    let names = names.map(std::borrow::Cow::into_owned).collect::<Vec<_>>();
    if names.is_empty() {
        return Err("is a zip archive without a pickle (*.pkl), and so nothing that torch.save writes".to_owned());
    }
    let mut states = Vec::new();
    for name in &names {
        let entry = archive.by_name(name).map_err(broken)?;
        let mut bytes = Vec::new();
        // What it says of its size may be wrong.
        entry.take(MOST + 1).read_to_end(&mut bytes).map_err(|error| format!("cannot be read: {name}: {error}"))?;
        if bytes.len() as u64 > MOST {
            return Err(format!("its {name} {}", too_large(bytes.len() as u64)));
        }
        let values = pickle::read(&bytes).map_err(|why| format!("its {name} {why}"))?;
        let before = if names.len() > 1 { format!("{name}:") } else { String::new() };
        states.extend(found(&values, &before));
    }
    Ok(states)
}

/// What a text says, if it is a state.
fn state(text: &str) -> Option<Map<String, Value>> {
    if text.len() > STATE || !text.contains("\"samedeal\"") {
        return None;
    }
    let Ok(Value::Object(fields)) = serde_json::from_str(text) else { return None };
    fields.get("samedeal")?.is_number().then_some(fields)
}

impl Saved {
    fn new(place: String, text: String, fields: Map<String, Value>) -> Self {
        let past = |past: &Value| {
            let number = |name: &str| past.get(name).and_then(Value::as_u64);
            let (world_size, steps) = (number("world_size")?, number("steps")?);
            let drop_last = past.get("drop_last").and_then(Value::as_bool);
            Some(Segment { world_size, steps, workers: number("workers"), batch_size: number("batch_size"), drop_last })
        };
        let history = fields.get("history").and_then(Value::as_array);
        let history = history.map_or(Vec::new(), |history| history.iter().filter_map(past).collect());
        Self { path: PathBuf::new(), place, text, fields, history, batch_size: None, batches: None, of_worker: false }
    }
}

/// A value on the way from a root: how it is reached.
struct Visit {
    id: Id,
    /// The visit of what holds it.
    parent: Option<usize>,
    label: Label,
}

enum Label {
    Root,
    Key(Id),
    Index(usize),
}

/// All states among the values.
fn found(values: &Values, before: &str) -> Vec<Saved> {
    let mut seen = vec![false; values.len()];
    let mut visits = Vec::<Visit>::new();
    // What is still to be looked at, the next one last, so that states are found in the order in which they are there.
    let mut open = values.roots.iter().rev().map(|&id| (id, None, Label::Root)).collect::<Vec<_>>();
    let mut states = Vec::new();
    while let Some((id, parent, label)) = open.pop() {
        if std::mem::replace(&mut seen[id as usize], true) {
            continue;
        }
        visits.push(Visit { id, parent, label });
        let here = visits.len() - 1;
        match values.get(id) {
            Node::Text(text) => {
                if let Some(fields) = state(text) {
                    let mut saved = Saved::new(place(values, &visits, here, before), text.clone(), fields);
                    beside(values, &visits, here, &mut saved);
                    states.push(saved);
                }
            }
            Node::Holder { pairs, items } => {
                let indexed = items.iter().enumerate().rev();
                open.extend(indexed.map(|(index, &item)| (item, Some(here), Label::Index(index))));
                open.extend(pairs.iter().rev().map(|&(key, value)| (value, Some(here), Label::Key(key))));
            }
            Node::Other | Node::Number(_) => {}
        }
    }
    states
}

/// Where a value is, for people.
fn place(values: &Values, visits: &[Visit], at: usize, before: &str) -> String {
    let mut parts = Vec::new();
    let mut next = Some(at);
    while let Some(Visit { parent, label, .. }) = next.map(|at| &visits[at]) {
        match label {
            Label::Root => {}
            Label::Key(key) => parts.push(match values.get(*key) {
                Node::Text(text) => text.chars().filter(|letter| !letter.is_control()).take(64).collect(),
                Node::Number(number) => number.to_string(),
                _ => "?".to_owned(),
            }),
            Label::Index(index) => parts.push(index.to_string()),
        }
        next = *parent;
    }
    parts.reverse();
    before.to_owned() + &parts.join(".")
}

/// Adds what stands beside a state, in the dictionary that holds it, and what the root says.
fn beside(values: &Values, visits: &[Visit], at: usize, saved: &mut Saved) {
    let Some(holder) = visits[at].parent.map(|parent| visits[parent].id) else { return };
    saved.batches = values.number(holder, "batches");
    saved.of_worker = values.field(holder, "reader").is_some_and(|it| matches!(values.get(it), Node::Holder { .. }));
    // Trainer's state has it beside its callbacks, one of which is ours.
    if saved.place.contains("SamedealState") && saved.kind() == Kind::Sampler {
        let mut root = at;
        while let Some(parent) = visits[root].parent {
            root = parent;
        }
        saved.batch_size = values.number(visits[root].id, "train_batch_size").filter(|&size| size > 0);
    }
}

/// Of several states, those that differ.
fn distinct(states: &[Saved]) -> Vec<&Saved> {
    let mut known = Vec::<&Saved>::new();
    for saved in states {
        let same = |other: &&Saved| (&other.text, other.of_worker) == (&saved.text, saved.of_worker);
        if !known.iter().any(same) {
            known.push(saved);
        }
    }
    known
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    const ZIP: &[u8] = include_bytes!("../../../tests/data/zip.pt");

    #[test]
    fn broken_archives_are_refused() {
        let read = |bytes: &[u8]| of(Cursor::new(bytes));
        let whole = read(ZIP).unwrap();
        assert_eq!(whole.len(), 1);
        assert_eq!(whole[0].place, "data.loaders.0.samedeal");
        for end in 0..ZIP.len() {
            assert!(read(&ZIP[..end]).is_err(), "{end}");
        }
        let mut broken = ZIP.to_vec();
        for at in 0..ZIP.len() {
            for byte in [0, 1, 0x7f, 0x80, 0xff, ZIP[at] ^ 1] {
                broken[at] = byte;
                let _ = read(&broken);
            }
            broken[at] = ZIP[at];
        }
    }

    #[test]
    fn states_are_found_wherever_they_are() {
        let state = r#"{"samedeal":1,"kind":"sampler","recipe":{"order":{"name":"feistel","samples":9,"seed":-1}},"epoch":0,"consumed":4}"#;
        let quoted = serde_json::to_string(state).unwrap();
        let nested =
            format!("[{{\"a\": {{\"b\": [1, {quoted}]}}, \"samedeal\": {quoted}, \"history\": []}}, 1.5, null]");
        let places = of_text(&nested).unwrap().into_iter().map(|saved| saved.place).collect::<Vec<_>>();
        assert_eq!(places, ["0.a.b.1", "0.samedeal"]);
        assert_eq!(of_text(&nested).unwrap()[0].seed(), Some(-1));
        assert_eq!(distinct(&of_text(&nested).unwrap()).len(), 1);
        assert!(of_text("{\"samedeal\": \"notes\", \"more\": [\"{\\\"samedeal\\\"\"]}").unwrap().is_empty());
        assert!(of_text(&"[".repeat(1 << 20)).unwrap_err().contains("no JSON"));
        let many = format!("[{}1]", "1,".repeat(1 << 22));
        assert!(of_text(&many).unwrap_err().contains("too many to search"));
    }
}
