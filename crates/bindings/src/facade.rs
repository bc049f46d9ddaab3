//! What the facades of all languages have alike: which functions of a resource are values, and what the text of a function says.

use wit_parser::{Function, FunctionKind, Interface};

/// Functions without parameters that compute something, or hand out much: they are called also in languages that have properties.
const COMPUTED: [&str; 6] = ["fingerprint", "recipe-fingerprint", "config-fingerprint", "metrics", "rest", "wanted"];

/// Whether a function of a resource tells what the resource is, so that a language with properties has one for it.
pub fn is_value(function: &Function) -> bool {
    let own = matches!(function.kind, FunctionKind::Method(_)) && function.params.len() == 1;
    own && function.result.is_some() && !COMPUTED.contains(&function.item_name()) && !asks(function)
}

/// Whether a function asks for lengths: it plans batches, as its text says.
pub fn asks(function: &Function) -> bool {
    let docs = function.docs.contents.as_deref().unwrap_or_default();
    paragraphs(docs).iter().any(|text| text.contains("Asks for lengths"))
}

/// The text of a function: what it does, and what is said of its errors, which comes last in the WIT.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Text {
    /// Each in one line. An item of a list is a paragraph of its own, and begins with `- `.
    pub paragraphs: Vec<String>,
    pub errors: Vec<Cause>,
}

/// One entry of the errors of a function.
#[derive(Debug, PartialEq, Eq)]
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

    /// The same, with the errors of functions of the same resource in place of what refers to them.
    pub fn resolved(mut self, function: &Function, interface: &Interface) -> Self {
        let of = |name: &str| {
            let mut others = interface.functions.values();
            let other =
                others.find(|other| other.kind.resource() == function.kind.resource() && other.item_name() == name)?;
            Some(Self::of(other.docs.contents.as_deref()?).resolved(other, interface).errors)
        };
        let given = std::mem::take(&mut self.errors);
        self.errors = given
            .into_iter()
            .flat_map(|cause| match &cause {
                Cause::Same(same) => same.split('`').nth(1).and_then(of).unwrap_or_else(|| vec![cause]),
                Cause::Kind(..) => vec![cause],
            })
            .collect();
        self
    }
}

/// Paragraphs, each in one line. An item of a list is a paragraph of its own.
pub fn paragraphs(text: &str) -> Vec<String> {
    let words = |lines: &str| lines.split_whitespace().collect::<Vec<_>>().join(" ");
    text.replace("\n- ", "\n\n- ").split("\n\n").map(words).filter(|paragraph| !paragraph.is_empty()).collect()
}

/// The entries of a list of errors, which ends with a full stop. What stands within parentheses is one part.
fn causes(text: &str) -> Vec<Cause> {
    let text = text.trim().trim_end_matches('.');
    let (mut depth, mut from, mut parts) = (0, 0, Vec::new());
    for (at, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' | ';' if depth == 0 => {
                parts.push(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[from..]);
    parts.iter().map(|part| cause(part.trim().trim_start_matches("and "))).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(kind: &str, about: &str) -> Cause {
        Cause::Kind(kind.into(), about.into())
    }

    #[test]
    fn errors_come_last_and_one_by_one() {
        let text = Text::of(
            "Batch number\n`batch`. Costs O(1).\nErrors: `out-of-range` (`batch-size` is 0; `batch`, or more (of them)),\n`out-of-memory`.",
        );
        assert_eq!(text.paragraphs, ["Batch number `batch`. Costs O(1)."]);
        assert_eq!(
            text.errors,
            [kind("out-of-range", "`batch-size` is 0; `batch`, or more (of them)"), kind("out-of-memory", "")]
        );
    }

    #[test]
    fn errors_of_another_function_and_lists_of_errors() {
        let text = Text::of("The same.\n\nErrors: as `batch`, and `out-of-range` (`samples`).");
        assert_eq!(text.errors, [Cause::Same("as `batch`".into()), kind("out-of-range", "`samples`")]);
        let text = Text::of("Adds. Errors:\n\n- `missing` (`a`: one, two);\n- `out-of-memory`.");
        assert_eq!(text.paragraphs, ["Adds."]);
        assert_eq!(text.errors, [kind("missing", "`a`: one, two"), kind("out-of-memory", "")]);
        assert_eq!(Text::of("Errors of others: none.").errors, []);
    }

    #[test]
    fn every_comment_of_the_interface_can_be_read() {
        let mut resolve = wit_parser::Resolve::default();
        let (package, _) = resolve.push_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../wit")).unwrap();
        let failures =
            resolve.packages[package].interfaces.values().flat_map(|&id| resolve.interfaces[id].functions.values());
        let mut seen = 0;
        for function in failures {
            let text = Text::of(function.docs.contents.as_deref().unwrap_or_default());
            let kinds = ["wrong-type", "unknown-name", "out-of-range", "missing", "contradiction", "out-of-memory"];
            for cause in &text.errors {
                match cause {
                    Cause::Kind(kind, _) => assert!(kinds.contains(&&**kind), "{}: {kind}", function.name),
                    Cause::Same(of) => {
                        let known =
                            ["as ", "those of ", "with the first entry"].iter().any(|first| of.starts_with(first));
                        assert!(known, "{}: {of}", function.name);
                    }
                }
                seen += 1;
            }
            assert!(!text.paragraphs.iter().any(|part| part.contains("rrors:")), "{}", function.name);
        }
        assert!(seen > 100);
    }
}
