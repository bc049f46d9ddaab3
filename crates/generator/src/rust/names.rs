//! The enums of members whose values are names, from the tables of the core.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::LazyLock;

use samedeal_core::{Value, described, meaning};

use super::docs::{comments, wrapped};
use crate::words::pascal;

/// Members whose values are names: the names and the text of the member. A member of several kinds of recipes has the
/// same names in each.
static NAMED: LazyLock<BTreeMap<&str, (&[&str], String)>> = LazyLock::new(|| {
    let named = described().into_iter().filter_map(|member| match member.value {
        Value::Name(names) => Some((member.name, (names, member.text))),
        _ => None,
    });
    named.collect()
});

/// The name of the enum for a member or a function of this name, if its values are names.
pub fn enumeration(name: &str) -> Option<String> {
    NAMED.contains_key(name).then(|| pascal(name))
}

/// The module of all enums.
pub fn module() -> String {
    let mut text = format!("{}use crate::named::names;\n", super::builders::MADE);
    for (name, (names, of)) in &*NAMED {
        let (class, documented) = (pascal(name), |text: &str| comments(&wrapped(text, 4), 0));
        let _ = writeln!(
            text,
            "\n{}#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]\n#[non_exhaustive]\npub enum {class} {{",
            documented(of)
        );
        let mut pairs = Vec::new();
        for known in *names {
            let variant = pascal(known);
            let _ = writeln!(text, "{}{variant},", documented(meaning(name, known)));
            pairs.push(format!("{variant} = \"{known}\""));
        }
        let _ = writeln!(text, "}}\nnames!({class}, \"{name}\", {{ {} }});", pairs.join(", "));
    }
    text
}
