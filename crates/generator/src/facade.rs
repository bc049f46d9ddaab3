//! What the facades of all languages have alike: which functions of a resource are values, what they are called, and what their texts say.

use crate::wit::{Shape, Signature, Wit};
use crate::words::pascal;

/// Functions without parameters that compute something or return a lot: they stay methods where other such functions are properties.
const COMPUTED: [&str; 6] = ["fingerprint", "recipe-fingerprint", "config-fingerprint", "metrics", "rest", "wanted"];

/// Functions that have another name than in the WIT.
const RENAMED: [(&str, &str, &str); 2] =
    [("schedule", "begin-of", "place-of"), ("schedule", "step-of-state", "resume")];

/// Names by what they are of.
pub type Table = &'static [(&'static str, &'static [&'static str])];

/// Resources that users of Python and JavaScript see as classes, and their functions that have another form there, by hand. Each that gives
/// another object has one, too.
pub const CLASSES: Table = &[
    // Any number of indices, batches of all ranks, columns by their names.
    ("sampler", &["indices", "indices32", "batch32", "step", "source-counts"]),
    // Any number of steps.
    ("schedule", &["indices", "step"]),
    // Lists of any length, steps that can be compared.
    ("reading", &["step", "step-bounds", "indices", "round-rows"]),
    // Lists of any length, loads as one object, their summary with the imbalance, steps that can be compared.
    ("plan", &["shards", "loads", "load-summary", "imbalance", "rows", "step-bounds"]),
    ("chunk-stream", &[]),
    // Any number of ids, texts and samples.
    ("split", &["part-of", "part-of-run", "part-of-keys", "members"]),
    // Coordinates by the names of axes.
    ("mesh", &["coordinates", "rank-at"]),
    // Batches as objects, metrics as one.
    ("batcher", &["take", "step", "metrics", "ratio", "wanted", "supply"]),
    ("batch-stream", &["push", "take", "metrics", "ratio"]),
];

/// Records that users of Rust and JavaScript see, by their interfaces.
const RECORDS: Table = &[
    ("sampling", &["shard-place", "source-place", "round", "place", "fate", "short-epochs"]),
    ("steps", &["epoch-position", "step-place"]),
    ("readings", &["read-round", "mixing-advice"]),
    ("batches", &["batch-shape", "batch-place"]),
    ("launch", &["detection"]),
    ("texts", &["text-kind", "difference"]),
    ("ledger", &["event", "committed-run", "progress"]),
];

/// Values of parameters that are left out, in languages that have that: of a function, or of all.
const DEFAULTS: [(&str, &str, &str); 4] =
    [("fate", "batch-size", "1"), ("fate", "taken", "0"), ("locate", "step", "0"), ("", "worker", "0")];

pub fn is_listed(table: Table, of: &str, name: &str) -> bool {
    table.iter().any(|(own, names)| *own == of && names.contains(&name))
}

pub fn has_class(resource: &str) -> bool {
    CLASSES.iter().any(|(own, _)| *own == resource)
}

/// Whether a record is one that users see, or one of these.
pub fn has_record(name: &str, more: &[&str]) -> bool {
    more.contains(&name) || RECORDS.iter().any(|(_, names)| names.contains(&name))
}

/// Whether the class of a resource has a function as it is in the WIT, in a language that has these more by hand.
pub fn is_plain(wit: Wit<'_>, signature: &Signature<'_>, by_hand: Table) -> bool {
    let resource = signature.resource.map_or("", |id| wit.name(id));
    signature.is_method
        && has_class(resource)
        && !is_listed(CLASSES, resource, signature.name)
        && !is_listed(by_hand, resource, signature.name)
        && !signature.value.is_some_and(|ty| matches!(wit.shape(&ty), Shape::Own(_)))
}

/// The name of a function in all languages, in the spelling of the WIT.
pub fn name_of<'a>(resource: &str, function: &'a str) -> &'a str {
    let other = RENAMED.iter().find(|(of, name, _)| *of == resource && *name == function);
    other.map_or(function, |(_, _, name)| name)
}

/// The class of a resource or a record.
pub fn class_of(name: &str) -> String {
    match name {
        "plan" => "ShardPlan".to_owned(),
        name => pascal(name),
    }
}

/// The value of a parameter that is left out.
pub fn default_of(function: &str, parameter: &str) -> Option<&'static str> {
    let found = DEFAULTS.iter().find(|(of, name, _)| (of.is_empty() || *of == function) && *name == parameter);
    found.map(|(_, _, value)| *value)
}

/// Whether a function of a resource tells what the resource is, so that a language with properties has one for it.
pub fn is_value(signature: &Signature<'_>) -> bool {
    let own = signature.is_method && signature.parameters.is_empty();
    own && signature.function.result.is_some() && !COMPUTED.contains(&signature.name) && !asks(signature)
}

/// Whether a function asks for lengths: it plans batches, as its text says.
pub fn asks(signature: &Signature<'_>) -> bool {
    paragraphs(signature.docs).iter().any(|text| text.contains("Asks for lengths"))
}

/// The numbers that a function gives by their names: each is an item of the list in its text.
pub fn listed(docs: &str) -> Vec<(String, String)> {
    let item = |item: String| {
        let (name, about) = item.strip_prefix("- `")?.split_once("`: ")?;
        Some((name.to_owned(), about.to_owned()))
    };
    paragraphs(docs).into_iter().filter_map(item).collect()
}

/// The text of a function: what it does, and what is said of its errors, which comes last in the WIT.
pub struct Text {
    /// Each in one line. An item of a list is a paragraph of its own, and begins with `- `.
    pub paragraphs: Vec<String>,
    pub errors: Vec<Cause>,
}

/// One entry of the errors of a function.
pub enum Cause {
    /// A kind of failure, and what it is about: the text in its parentheses, or nothing.
    Kind(String, String),
    /// The errors of another function: a text such as "as `indices`".
    Same(String),
}

const ERRORS: &str = "Errors: ";

impl Text {
    /// Reads the comment of a function.
    pub fn of(comment: &str) -> Self {
        let text = paragraphs(comment).join("\n\n");
        // A list of errors begins in the next paragraph.
        let text = text.replace("Errors:\n\n- ", ERRORS).replace(";\n\n- ", ", ");
        let begins = |at: &usize| *at == 0 || text[..*at].ends_with(". ") || text[..*at].ends_with('\n');
        match text.find(ERRORS).filter(begins) {
            None => Self { paragraphs: paragraphs(&text), errors: Vec::new() },
            Some(at) => Self { paragraphs: paragraphs(&text[..at]), errors: causes(&text[at + ERRORS.len()..]) },
        }
    }

    /// Reads the comment of a function, with the errors of functions of the same resource in place of what refers to them.
    pub fn of_function(signature: &Signature<'_>, wit: Wit<'_>) -> Self {
        let mut text = Self::of(signature.docs);
        let of = |name: &str| {
            let mut others = wit.signatures(signature.interface, signature.resource);
            let other = others.find(|other| other.name == name && !other.docs.is_empty())?;
            Some(Self::of_function(&other, wit).errors)
        };
        let resolved = |cause| match &cause {
            Cause::Same(same) => same.split('`').nth(1).and_then(of).unwrap_or_else(|| vec![cause]),
            Cause::Kind(..) => vec![cause],
        };
        text.errors = text.errors.into_iter().flat_map(resolved).collect();
        text
    }
}

/// Kinds of failure, each once, in the order of their first mention, with what each is about.
pub fn grouped(causes: impl IntoIterator<Item = (String, String)>) -> Vec<(String, Vec<String>)> {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    for (kind, about) in causes {
        let at = found.iter().position(|(other, _)| *other == kind).unwrap_or_else(|| {
            found.push((kind, Vec::new()));
            found.len() - 1
        });
        if !about.is_empty() && !found[at].1.contains(&about) {
            found[at].1.push(about);
        }
    }
    found
}

/// Paragraphs, each in one line. An item of a list is a paragraph of its own.
pub fn paragraphs(text: &str) -> Vec<String> {
    let words = |lines: &str| lines.split_whitespace().collect::<Vec<_>>().join(" ");
    text.replace("\n- ", "\n\n- ").split("\n\n").map(words).filter(|paragraph| !paragraph.is_empty()).collect()
}

/// The entries of a list of errors, which ends with a full stop. What stands within parentheses is one part.
fn causes(text: &str) -> Vec<Cause> {
    let text = text.trim().trim_end_matches('.');
    let mut depth = 0;
    let parts = text.split(|character| {
        depth += i32::from(character == '(') - i32::from(character == ')');
        depth == 0 && matches!(character, ',' | ';')
    });
    parts.map(|part| cause(part.trim().trim_start_matches("and "))).collect()
}

fn cause(part: &str) -> Cause {
    let kind = part.strip_prefix('`').and_then(|rest| rest.split_once('`'));
    match kind {
        Some((kind, about)) => {
            let about = about.trim();
            let inner = about.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or(about);
            Cause::Kind(kind.to_owned(), inner.to_owned())
        }
        None => Cause::Same(part.to_owned()),
    }
}
