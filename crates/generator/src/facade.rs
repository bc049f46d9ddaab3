//! Rules that the facades of all languages share: which functions of a resource become properties, the names of
//! functions, and their documentation.

use crate::wit::{Shape, Signature, Wit};
use crate::words::pascal;

/// Functions without parameters that stay methods in every language, because they compute something or return a lot.
/// Other functions without parameters become properties.
const COMPUTED: [&str; 6] = ["fingerprint", "recipe-fingerprint", "config-fingerprint", "metrics", "rest", "wanted"];

/// Functions whose names in the facades differ from the WIT: the resource, the name in the WIT, the name in the
/// facades.
const RENAMED: [(&str, &str, &str); 2] =
    [("schedule", "begin-of", "place-of"), ("schedule", "step-of-state", "resume")];

/// Resources or interfaces, each with names of its functions or records.
pub type Table = &'static [(&'static str, &'static [&'static str])];

/// Resources that users of Python and JavaScript see as classes, each with the functions that are written by hand
/// there. Functions that return an object are also written by hand, and not listed. A comment `By hand` names what the
/// hand-written functions offer beyond the WIT.
pub const CLASSES: Table = &[
    // By hand: any number of indices, batches of all ranks, columns by name.
    ("sampler", &["indices", "indices32", "batch32", "step", "source-counts"]),
    // By hand: any number of steps.
    ("schedule", &["indices", "step"]),
    // By hand: lists of any length, steps that can be compared.
    ("reading", &["step", "step-bounds", "indices", "round-rows"]),
    // By hand: lists of any length, loads as one object, the summary of loads with the imbalance, steps that can be
    // compared.
    ("plan", &["shards", "loads", "load-summary", "imbalance", "rows", "step-bounds"]),
    ("chunk-stream", &[]),
    // By hand: any number of ids, texts and samples; the split of exact sizes in one call.
    ("split", &["part-of", "part-of-run", "part-of-keys", "members"]),
    // By hand: coordinates by the names of axes.
    ("mesh", &["coordinates", "rank-at"]),
    // By hand: batches as objects, metrics as one object.
    ("batcher", &["take", "step", "metrics", "ratio", "wanted", "supply"]),
    ("batch-stream", &["push", "take", "metrics", "ratio"]),
];

/// Records that users of Rust and JavaScript see, by interface.
const RECORDS: Table = &[
    ("sampling", &["shard-place", "source-place", "round", "place", "fate", "short-epochs"]),
    ("steps", &["epoch-position", "step-place"]),
    ("readings", &["read-round", "mixing-advice", "suggested-lanes"]),
    ("batches", &["batch-shape", "batch-place"]),
    ("launch", &["detection"]),
    ("texts", &["text-kind", "difference"]),
    ("ledger", &["event", "committed-run", "progress"]),
];

/// Defaults of parameters, for languages that have them: the function (empty for all functions), the parameter, the
/// value.
const DEFAULTS: [(&str, &str, &str); 5] = [
    ("fate", "batch-size", "1"),
    ("fate", "taken", "0"),
    ("locate", "step", "0"),
    ("suggested-lanes", "multiples", "[]"),
    ("", "worker", "0"),
];

pub fn is_listed(table: Table, of: &str, name: &str) -> bool {
    table.iter().any(|(own, names)| *own == of && names.contains(&name))
}

pub fn has_class(resource: &str) -> bool {
    CLASSES.iter().any(|(own, _)| *own == resource)
}

/// Whether users see a record: it is in [`RECORDS`] or in `more`.
pub fn has_record(name: &str, more: &[&str]) -> bool {
    more.contains(&name) || RECORDS.iter().any(|(_, names)| names.contains(&name))
}

/// Whether a method is generated, with the form of the WIT. `by_hand` lists the methods that only this language writes
/// by hand.
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

/// The class name of a resource or a record.
pub fn class_of(name: &str) -> String {
    match name {
        "plan" => "ShardPlan".to_owned(),
        name => pascal(name),
    }
}

/// The default of a parameter, if it has one.
pub fn default_of(function: &str, parameter: &str) -> Option<&'static str> {
    let found = DEFAULTS.iter().find(|(of, name, _)| (of.is_empty() || *of == function) && *name == parameter);
    found.map(|(_, _, value)| *value)
}

/// Whether a method becomes a property in languages with properties: it has a result and no parameters, is not in
/// [`COMPUTED`], and does not ask for lengths.
pub fn is_value(signature: &Signature<'_>) -> bool {
    let own = signature.is_method && signature.parameters.is_empty();
    own && signature.function.result.is_some() && !COMPUTED.contains(&signature.name) && !asks(signature)
}

/// Whether a call may stop and ask for the lengths of samples, because it plans batches. The documentation of the
/// function says so.
pub fn asks(signature: &Signature<'_>) -> bool {
    paragraphs(signature.docs).iter().any(|text| text.contains("Asks for lengths"))
}

/// The named numbers of a function, with their descriptions: each is an item of the list in its documentation.
pub fn listed(docs: &str) -> Vec<(String, String)> {
    let item = |item: String| {
        let (name, about) = item.strip_prefix("- `")?.split_once("`: ")?;
        Some((name.to_owned(), about.to_owned()))
    };
    paragraphs(docs).into_iter().filter_map(item).collect()
}

/// The documentation of a function, without its errors, and its errors, which come last in the WIT.
pub struct Text {
    /// Each paragraph is one line. An item of a list is a paragraph, and begins with `- `.
    pub paragraphs: Vec<String>,
    pub errors: Vec<Cause>,
}

/// One entry of the errors of a function.
pub enum Cause {
    /// A kind of failure and its reason: the text in parentheses, or nothing.
    Kind(String, String),
    /// The errors of another function: a text such as "as `indices`".
    Same(String),
}

const ERRORS: &str = "Errors: ";

impl Text {
    /// Reads the comment of a function. References to the errors of other functions stay as they are.
    pub fn of(comment: &str) -> Self {
        let text = paragraphs(comment).join("\n\n");
        // A list of errors begins in the paragraph after `Errors:`. It becomes one line, like errors without a list.
        let text = text.replace("Errors:\n\n- ", ERRORS).replace(";\n\n- ", ", ");
        let begins = |at: &usize| *at == 0 || text[..*at].ends_with(". ") || text[..*at].ends_with('\n');
        match text.find(ERRORS).filter(begins) {
            None => Self { paragraphs: paragraphs(&text), errors: Vec::new() },
            Some(at) => Self { paragraphs: paragraphs(&text[..at]), errors: causes(&text[at + ERRORS.len()..]) },
        }
    }

    /// Reads the comment of a function. Each reference to the errors of another function of the same resource, such as
    /// "as `indices`", is replaced with the errors of that function.
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

/// Kinds of failure, each once, in the order of their first mention, with all of their reasons.
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

/// The entries of a list of errors, which ends with a full stop. Commas within parentheses do not separate entries.
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
