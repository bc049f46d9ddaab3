//! The states in the files that a training run saves: JSON, pickles, and the zip archives of pickles that `torch.save`
//! writes. Nothing of a pickle is executed.

mod pickle;
mod values;

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::fmt::Display;
use std::fs::{self, File, Metadata};
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use samedeal::{Error, Sampler};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};
use values::{Id, Node, Values};

use crate::args::deal::{SHARDED, is_plain};
use crate::read::numbers::whole;
use crate::write::{Problem, grouped};

/// The most bytes that are read: of JSON, of all pickles in a file (a checkpoint without its tensors), or of the list
/// of files in an archive.
const MOST: u64 = 1 << 26;
/// The most pickles in an archive: `torch.save` writes one.
const PICKLES: usize = 1 << 10;
/// The most states in a file: one for each worker of each rank, and more.
const STATES: usize = 1 << 10;
/// The deepest nesting of values that is searched. Python itself cannot write much deeper pickles.
const DEEPEST: usize = 1_000;
/// The approximate limits of memory for all states of a file, and for a single state, in the units of [`weight`]. A
/// blend of 10,000 sources has a state of 1 MB: there is room for ten different ones.
const WEIGHT: usize = 1 << 26;
const WEIGHT_OF_ONE: usize = 1 << 25;
/// The approximate limit of values that are read in dictionaries that could be states.
const WORK: usize = 1 << 25;
/// The error of a file that exceeds one of these limits.
const TOO_MANY: &str = "more states than any checkpoint, too many to show";
/// How many places of states an error names.
const TOLD: usize = 16;
/// If a directory is named, files with these endings, and files without an ending, are searched for states: at most
/// `LOOKED_INTO` files. The error names at most `NAMED` files that have a state.
const ENDINGS: [&str; 7] = ["bin", "ckpt", "json", "pickle", "pkl", "pt", "pth"];
const LOOKED_INTO: usize = 256;
const NAMED: usize = 4;

/// The members of a state.
type Fields = Rc<Map<String, Value>>;
/// The members of a text, and its form.
type Known = (Fields, &'static Form);

/// A state, and the facts that stand beside it in the checkpoint.
#[derive(Clone, Debug, PartialEq)]
pub struct Saved {
    /// The file, as it was named.
    pub path: PathBuf,
    /// The place of the state in the file, such as `callbacks.loader.samedeal`; empty if the file is the state.
    pub place: String,
    pub text: Rc<str>,
    /// The members of the text.
    pub fields: Fields,
    /// The steps that groups of readers took, the oldest first.
    pub history: Vec<Segment>,
    /// The ranks whose pass took the state of a sampler, and how much of the epoch was taken before, if the checkpoint says so.
    pub taken_by: Option<TakenBy>,
    /// The samples in a batch, if the checkpoint says so.
    pub batch_size: Option<u64>,
    /// How many batches of the epoch were read, if Lightning's checkpoint says so.
    pub batches: Option<u64>,
    form: &'static Form,
}

/// The kind of a text: the object of a state, or another kind of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Sampler,
    /// A state of batches of samples of different length.
    Batcher,
    /// A state of a dataset in files, for all loader workers.
    Reading,
    /// A state of one loader worker.
    Worker,
    /// A state of steps over epochs.
    Steps,
    /// A recipe, which decides a run.
    Recipe,
    /// The first entry of the log of a ledger.
    Log,
    /// An index of the windows of batches.
    Index,
    Other,
}

/// The form of a text, and words for it.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Form {
    kind: Kind,
    /// The names that the core has for the form of the text, and for the object that it belongs to.
    names: [&'static str; 2],
    /// `described`: the form in words. `used_by`: the option that reads it, besides every library.
    described: &'static str,
    used_by: &'static str,
}

static WORKER: Form = form(Kind::Worker, "", "", "the state of one worker of a loader", "");
static OTHER: Form = form(Kind::Other, "", "", "a state of an unknown kind", "");
static FORMS: [Form; 13] = [
    form(Kind::Sampler, "state", "sampler", "the state of a sampler", "--resume"),
    form(Kind::Batcher, "state", "batcher", "the state of batches of samples of different length", "--resume"),
    form(Kind::Reading, "state", "reading", "the state of a dataset in files", "--resume"),
    form(Kind::Steps, "state", "schedule", "the state of steps over epochs", "samedeal steps --resume"),
    form(Kind::Log, "log", "sampler", "the first entry of the log of a ledger", ""),
    form(
        Kind::Index,
        "index",
        "batcher",
        "an index of batches, which is no state",
        "--index of the commands with --lengths",
    ),
    recipe("sampler", "the recipe of a sampler", "--recipe of the commands that show samples"),
    recipe("batcher", "the recipe of batches of samples of different length", "--recipe with --lengths"),
    recipe("plan", "the recipe of a plan, which deals whole files", ""),
    recipe("reading", "the recipe of a reading, a dataset in files with loader workers", ""),
    recipe("chunk-stream", "the recipe of a stream of chunks", ""),
    recipe("split", "the recipe of a split", "samedeal split --recipe"),
    recipe("schedule", "the recipe of steps over epochs", "samedeal steps --recipe"),
];

type Word = &'static str;

const fn form(kind: Kind, form: Word, of: Word, described: Word, used_by: Word) -> Form {
    Form { kind, names: [form, of], described, used_by }
}

const fn recipe(of: Word, described: Word, used_by: Word) -> Form {
    form(Kind::Recipe, "recipe", of, described, used_by)
}

impl Form {
    /// The form of a text, as the core finds it.
    fn of(text: &str) -> &'static Self {
        let found = samedeal::inspect(text).ok();
        let form = found.and_then(|found| FORMS.iter().find(|it| it.names == [&*found.form, &*found.of]));
        form.unwrap_or(&OTHER)
    }
}

/// Steps that every rank of a group took.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Past")]
pub struct Segment {
    pub world_size: u64,
    /// This and the two that follow are only in states of datasets in files.
    pub workers: Option<u64>,
    pub batch_size: Option<u64>,
    pub drop_last: Option<bool>,
    pub steps: u64,
}

/// The ranks that took the state of a sampler, as the checkpoint names them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TakenBy {
    pub world_size: u64,
    /// How many positions of the epoch were taken before their pass, by other ranks maybe.
    pub from: u64,
}

impl Saved {
    pub fn word(&self, name: &str) -> &str {
        self.field(name).and_then(Value::as_str).unwrap_or_default()
    }

    pub fn number(&self, name: &str) -> Option<u64> {
        self.field(name).and_then(whole)
    }

    pub fn seed(&self) -> Option<i64> {
        self.field("seed").and_then(whole)
    }

    /// A member that is a list of numbers; none if the state has only a hash of it.
    pub fn numbers(&self, name: &str) -> Option<Vec<u64>> {
        self.field(name)?.as_array()?.iter().map(Value::as_u64).collect()
    }

    /// A member of the state, or of the order or the shards in its recipe.
    pub fn field(&self, name: &str) -> Option<&Value> {
        self.fields.get(name).or_else(|| self.dealt()?.get(name))
    }

    /// The section of the recipe that says what is dealt.
    pub fn dealt(&self) -> Option<&Map<String, Value>> {
        let recipe = self.recipe()?;
        recipe.get("order").or_else(|| recipe.get("shards"))?.as_object()
    }

    /// A section of the recipe; null if it has none.
    pub fn section(&self, name: &str) -> Value {
        self.recipe().and_then(|recipe| recipe.get(name)).cloned().unwrap_or_default()
    }

    /// Whether whole shards are dealt.
    pub fn deals_shards(&self) -> bool {
        self.recipe().is_some_and(|recipe| recipe.contains_key("shards"))
    }

    /// The name of the order. Whole shards count as `sharded`: they are dealt in an order of files.
    pub fn order(&self) -> &str {
        if self.deals_shards() { SHARDED } else { self.word("name") }
    }

    /// The section `batch`, which says how samples become batches, of a state of batches by length.
    pub fn batch(&self) -> Option<&Map<String, Value>> {
        self.recipe()?.get("batch")?.as_object()
    }

    /// The sampler of a composed order; none for other orders. It fails if the state has only a hash of a list.
    pub fn composed(&self) -> Result<Option<Sampler>, Error> {
        if !self.is_composed()? {
            return Ok(None);
        }
        let recipe = json!({ "order": self.section("order") }).to_string();
        Sampler::from_recipe(recipe).epoch(self.number("epoch").unwrap_or(0)).build().map(Some)
    }

    /// Whether the order is made of others: it has a name that no plain order has.
    pub fn is_composed(&self) -> Result<bool, Error> {
        let order = self.order();
        let is_of_order = matches!(self.kind(), Kind::Sampler | Kind::Batcher | Kind::Steps | Kind::Recipe);
        Ok(is_of_order && !order.is_empty() && !is_plain(order)?)
    }

    /// The recipe, which decides every epoch, if the state has it.
    pub fn recipe(&self) -> Option<&Map<String, Value>> {
        match self.kind() {
            Kind::Recipe => Some(&self.fields),
            _ => self.fields.get("recipe").and_then(Value::as_object),
        }
    }

    pub fn kind(&self) -> Kind {
        self.form.kind
    }

    /// The core's name for the object that the recipe belongs to; none for a state.
    pub fn recipe_of(&self) -> Option<&'static str> {
        (self.kind() == Kind::Recipe).then_some(self.form.names[1])
    }

    /// The form of the text in words.
    pub fn described(&self) -> &'static str {
        self.form.described
    }

    /// The programs that read the text, in words.
    pub fn used_by(&self) -> String {
        match (self.kind(), self.form.used_by) {
            (Kind::Worker, _) => "StatefulDataLoader of torchdata".to_owned(),
            (Kind::Log | Kind::Other, _) => "nothing of this version".to_owned(),
            (_, "") => "every library".to_owned(),
            (_, command) => format!("every library, and {command}"),
        }
    }

    /// A problem of the text, with the name of its file.
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
        return Err(Problem::of(path, in_directory(path)));
    }
    let states = match metadata {
        Some(metadata) if metadata.is_file() => of(File::open(path).map_err(failed)?),
        // A pipe can be read only once, from its beginning on, so its bytes are buffered.
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

/// The problem of a file without a state. It mentions `--recipe`, because the file is often a recipe.
pub const NONE: &str = "holds no state of samedeal; `samedeal state` writes one, and a recipe is given with --recipe";

/// The state in a file; an error if the file has none, or several that differ.
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

/// The places and the kinds of states, in words.
pub fn places<'a>(states: impl IntoIterator<Item = &'a Saved>) -> String {
    let mut states = states.into_iter();
    let told = states.by_ref().take(TOLD).map(|saved| format!("{} ({})", saved.place, saved.described()));
    let told = told.collect::<Vec<_>>().join(", ");
    match states.count() as u64 {
        0 => told,
        more => format!("{told}, and {} more", grouped(more)),
    }
}

/// The different states in a file. Recipes are left out if there is a state: they have no progress.
pub fn candidates(states: &[Saved]) -> Vec<&Saved> {
    let mut differing = distinct(states);
    if differing.iter().any(|saved| saved.recipe_of().is_none()) {
        differing.retain(|saved| saved.recipe_of().is_none());
    }
    differing
}

/// The problem of a directory: it names the files in it that hold states.
fn in_directory(path: &Path) -> String {
    let entries = |path: &Path| {
        let mut entries =
            fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path()).collect::<Vec<_>>();
        entries.sort();
        entries
    };
    let within = |path: PathBuf| if path.is_dir() { entries(&path) } else { vec![path] };
    let may_hold = |path: &PathBuf| {
        let ending = path.extension().is_none_or(|ending| ENDINGS.iter().any(|known| ending == *known));
        ending && path.is_file()
    };
    let holds_state = |path: &PathBuf| {
        File::open(path).is_ok_and(|file| of(file).is_ok_and(|states| states.iter().any(|it| it.recipe_of().is_none())))
    };
    let files = entries(path).into_iter().flat_map(within).filter(may_hold).take(LOOKED_INTO);
    let found = files.filter(holds_state).take(NAMED).map(|path| path.display().to_string()).collect::<Vec<_>>();
    match &found[..] {
        [] => "is a directory; name the file in it that holds the state".to_owned(),
        [one] => format!("is a directory; name the file in it that holds the state: {one}"),
        [..] => format!("is a directory; name one of the files in it that hold states: {}", found.join(", ")),
    }
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
        return of_pickle(&bytes);
    }
    if bytes.len() as u64 > MOST {
        return Err(too_large(bytes.len() as u64));
    }
    let Ok(text) = str::from_utf8(&bytes) else {
        // Pickles of protocol 1 are no text, and begin with no signature. (Protocol 0 is text, but hardly used.)
        return of_pickle(&bytes).map_err(|_| {
            "holds no state of samedeal: it is no JSON, no pickle, and no archive that torch.save writes".to_owned()
        });
    };
    of_text(text.trim())
}

fn too_large(bytes: u64) -> String {
    format!("is of {} bytes; allowed for what holds a state: {}", grouped(bytes), grouped(MOST))
}

fn of_values(values: &Values<'_>) -> Result<Vec<Saved>, String> {
    let mut search = Search::default();
    search.values(values, "")?;
    Ok(search.states)
}

fn of_pickle(bytes: &[u8]) -> Result<Vec<Saved>, String> {
    of_values(&pickle::read(bytes)?)
}

/// The states in a text: it is a state, or JSON that contains states.
fn of_text(text: &str) -> Result<Vec<Saved>, String> {
    if let Some(fields) = state(text) {
        return Ok(vec![Saved::new(String::new(), text.into(), (Rc::new(fields), Form::of(text)))]);
    }
    match Values::of_json(text) {
        Ok(values) => match of_values(&values)? {
            none if none.is_empty() => Ok(bare_recipe(text).into_iter().collect()),
            states => Ok(states),
        },
        Err(why) => {
            // A pickle of protocol 0 is text, but no JSON.
            let Ok(values) = pickle::read(text.as_bytes()) else {
                return Err(format!("holds no state of samedeal: it is no JSON ({why})"));
            };
            of_values(&values)
        }
    }
}

/// A file of which at most `left` bytes are read, whatever size an archive claims.
struct Bounded<R> {
    file: R,
    left: Rc<Cell<u64>>,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(bytes)?;
        let left = self.left.get().checked_sub(count as u64);
        self.left.set(left.ok_or_else(|| io::Error::other("it is larger than any that holds a state"))?);
        Ok(count)
    }
}

impl<R: Seek> Seek for Bounded<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// The states in the pickles of a zip archive, such as `archive/data.pkl`.
fn of_archive(file: impl Read + Seek) -> Result<Vec<Saved>, String> {
    let broken = |error: zip::result::ZipError| {
        // An archive has its list of files at its end, which is missing in a partial copy.
        let cut = matches!(error, zip::result::ZipError::InvalidArchive(_));
        let cut = if cut { "; a file that was copied or written in part is cut off at its end" } else { "" };
        format!("cannot be read as the archive that torch.save writes: {error}{cut}")
    };
    let left = Rc::new(Cell::new(MOST));
    let mut archive = zip::ZipArchive::new(Bounded { file, left: Rc::clone(&left) }).map_err(broken)?;
    // `torch.load` reads only files with this ending.
    let names = archive.file_names().filter_map(Result::ok).filter(|name| name.ends_with(".pkl"));
    let names = names.map(Cow::into_owned).take(PICKLES + 1).collect::<Vec<_>>();
    if names.is_empty() {
        return Err("is a zip archive without a pickle (*.pkl), and so nothing that torch.save writes".to_owned());
    }
    if names.len() > PICKLES {
        return Err(format!(
            "holds more than {} pickles, and so is nothing that torch.save writes",
            grouped(PICKLES as u64)
        ));
    }
    // Limits for packed bytes (`left`) and unpacked bytes (`room`). Files in an archive may share their packed bytes.
    left.set(MOST);
    let mut room = MOST;
    let mut search = Search::default();
    for name in &names {
        let entry = archive.by_name(name).map_err(broken)?;
        let mut bytes = Vec::new();
        // The size that the archive claims may be wrong.
        entry.take(room + 1).read_to_end(&mut bytes).map_err(|error| format!("cannot be read: {name}: {error}"))?;
        room = room.checked_sub(bytes.len() as u64).ok_or_else(|| {
            format!("has pickles of more than {} bytes in all, which is more than any that hold a state", grouped(MOST))
        })?;
        let values = pickle::read(&bytes).map_err(|why| format!("its {name} {why}"))?;
        let before = if names.len() > 1 { format!("{name}:") } else { String::new() };
        search.values(&values, &before)?;
    }
    Ok(search.states)
}

/// A recipe as people write it: without the version, which the libraries do not require.
fn bare_recipe(text: &str) -> Option<Saved> {
    let form = Form::of(text);
    let fields =
        (form.kind == Kind::Recipe && weight(text) <= WEIGHT_OF_ONE).then(|| serde_json::from_str(text))?.ok()?;
    Some(Saved::new(String::new(), text.into(), (Rc::new(fields), form)))
}

/// The members of a text, if it is a state.
fn state(text: &str) -> Option<Map<String, Value>> {
    if !text.contains("\"samedeal\"") || weight(text) > WEIGHT_OF_ONE {
        return None;
    }
    let fields = serde_json::from_str::<Map<String, Value>>(text).ok()?;
    fields.get("samedeal")?.is_number().then_some(fields)
}

impl Saved {
    fn new(place: String, text: Rc<str>, (fields, form): Known) -> Self {
        let past = |past: &Value| {
            let number = |name: &str| past.get(name).and_then(Value::as_u64);
            let (world_size, steps) = (number("world_size")?, number("steps")?);
            let drop_last = past.get("drop_last").and_then(Value::as_bool);
            Some(Segment { world_size, steps, workers: number("workers"), batch_size: number("batch_size"), drop_last })
        };
        let history = fields.get("history").and_then(Value::as_array);
        let history = history.map_or(Vec::new(), |history| history.iter().filter_map(past).collect());
        let path = PathBuf::new();
        Self { path, place, text, fields, history, taken_by: None, batch_size: None, batches: None, form }
    }
}

/// A search for the states in one file.
struct Search {
    states: Vec<Saved>,
    /// The members and the form of each text that is a state. A text that the file has many times is parsed only once.
    known: HashMap<Rc<str>, Known>,
    /// The approximate memory of the states, and of their places.
    taken: usize,
    /// How many more values may be read in dictionaries that could be states.
    work: usize,
}

impl Default for Search {
    fn default() -> Self {
        Self { states: Vec::new(), known: HashMap::new(), taken: 0, work: WORK }
    }
}

/// A value on the way from a root, and the label that leads to it.
struct Step {
    id: Id,
    label: Label,
    /// `next`: the number of the next value within this value. `items`: how many of the values before it have no key.
    next: usize,
    items: usize,
}

#[derive(Clone, Copy)]
enum Label {
    None,
    Key(Id),
    Index(usize),
}

impl Search {
    /// Finds all states among the values, in the order in which they are there.
    fn values(&mut self, values: &Values<'_>, before: &str) -> Result<(), String> {
        let mut seen = vec![false; values.len()];
        for &root in &values.roots {
            let mut way = Vec::<Step>::new();
            let mut next = Some((root, Label::None));
            loop {
                if let Some((id, label)) = next.take()
                    && !std::mem::replace(&mut seen[id as usize], true)
                    && !self.value(values, &way, id, label, before)?
                {
                    way.push(Step { id, label, next: 0, items: 0 });
                }
                let Some(step) = way.last_mut() else { break };
                let Some(held) = values.get(step.id).held().get(step.next) else {
                    way.pop();
                    continue;
                };
                step.next += 1;
                let label = match (held.key(), values.get(step.id), values.get(held.value)) {
                    (Some(key), ..) => Label::Key(key),
                    // The attributes of an object are in a dictionary, which adds nothing to the place.
                    (None, Node::Object(_), Node::Map(_)) => Label::None,
                    (None, ..) => Label::Index(step.items),
                };
                step.items += usize::from(held.key().is_none());
                if way.len() < DEEPEST {
                    next = Some((held.value, label));
                }
            }
        }
        Ok(())
    }

    /// Adds a value if it is a state. Returns whether there is nothing more to search in it.
    fn value(&mut self, values: &Values<'_>, way: &[Step], id: Id, label: Label, before: &str) -> Result<bool, String> {
        let text = match values.get(id) {
            Node::Text(text) => Cow::Borrowed(&**text),
            Node::Map(_) | Node::Object(_) if is_versioned(values, id) => {
                let text = values.json(id, &mut self.work);
                match text {
                    Some(text) => Cow::Owned(text),
                    None if self.work == 0 => return Err(format!("holds {TOO_MANY}")),
                    None => return Ok(false),
                }
            }
            node => return Ok(node.held().is_empty()),
        };
        let Some((text, known)) = self.state(&text)? else { return Ok(values.get(id).held().is_empty()) };
        let mut saved = Saved::new(place(values, way, label, before), text, known);
        beside(values, way, &mut saved);
        self.add(saved)?;
        Ok(true)
    }

    /// The text and its members, if the text is a state. They are parsed once, and come from `known` afterwards.
    fn state(&mut self, text: &str) -> Result<Option<(Rc<str>, Known)>, String> {
        if let Some((text, known)) = self.known.get_key_value(text) {
            return Ok(Some((Rc::clone(text), known.clone())));
        }
        let Some(fields) = state(text) else { return Ok(None) };
        self.take(weight(text))?;
        let (text, known) = (Rc::<str>::from(text), (Rc::new(fields), Form::of(text)));
        self.known.insert(Rc::clone(&text), known.clone());
        Ok(Some((text, known)))
    }

    fn add(&mut self, saved: Saved) -> Result<(), String> {
        self.take(saved.place.len())?;
        if self.states.len() == STATES {
            return Err(format!("holds {TOO_MANY}"));
        }
        self.states.push(saved);
        Ok(())
    }

    fn take(&mut self, weight: usize) -> Result<(), String> {
        self.taken += weight;
        if self.taken > WEIGHT { Err(format!("holds {TOO_MANY}")) } else { Ok(()) }
    }
}

/// The approximate memory that a text takes when it is parsed: maps and lists take most of it.
fn weight(text: &str) -> usize {
    let holders = text.bytes().filter(|byte| matches!(byte, b'{' | b'[')).count();
    4 * text.len() + 64 * holders
}

/// Whether a dictionary may be a state or a recipe: it has the version of a format, and a kind or a section of a
/// recipe.
fn is_versioned(values: &Values<'_>, id: Id) -> bool {
    let has = |name: &str| values.field(id, name).is_some();
    values.number(id, "samedeal").is_some()
        && (has("kind") || ["order", "shards", "deal", "split"].into_iter().any(has))
}

/// The place of a value: the labels that lead to it, with dots between.
fn place(values: &Values<'_>, way: &[Step], label: Label, before: &str) -> String {
    let labels = way.iter().map(|step| step.label).chain([label]);
    let parts = labels.filter_map(|label| match label {
        Label::None => None,
        Label::Key(key) => Some(match values.get(key) {
            Node::Text(text) => text.chars().filter(|letter| !letter.is_control()).take(64).collect(),
            Node::Number(number) => number.to_string(),
            _ => "?".to_owned(),
        }),
        Label::Index(index) => Some(index.to_string()),
    });
    before.to_owned() + &parts.collect::<Vec<_>>().join(".")
}

/// Adds the facts that stand beside a state: in the dictionary that contains it, and in the root.
fn beside(values: &Values<'_>, way: &[Step], saved: &mut Saved) {
    let (Some(root), Some(holder)) = (way.first(), way.last()) else { return };
    saved.batches = values.number(holder.id, "batches");
    if values.field(holder.id, "reader").is_some_and(|it| !values.get(it).held().is_empty()) {
        saved.form = &WORKER;
    }
    if saved.kind() == Kind::Sampler
        && let Some(by) = values.field(holder.id, "taken_by")
    {
        let number = |name: &str| values.number(by, name);
        saved.taken_by =
            number("world_size").zip(number("from")).map(|(world_size, from)| TakenBy { world_size, from });
        saved.batch_size = number("batch_size").filter(|&size| size > 0);
    }
    // The state of transformers' Trainer has the batch size in its root, and a samedeal state among its callbacks.
    if saved.place.contains("SamedealState") && saved.kind() == Kind::Sampler {
        saved.batch_size = values.number(root.id, "train_batch_size").filter(|&size| size > 0).or(saved.batch_size);
    }
}

/// The states without repetitions.
fn distinct(states: &[Saved]) -> Vec<&Saved> {
    let mut known = HashSet::new();
    states.iter().filter(|saved| known.insert((&saved.text, saved.kind()))).collect()
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
