//! The enums of members whose values are names, from the tables of the core.

use std::fmt::Write;

use samedeal_core::{Value, meaning};

use super::docs::{comments, wrapped};
use super::facades::ENUMS;
use crate::words::pascal;

/// The module of all of them.
pub fn module() -> Result<String, String> {
    let all = samedeal_core::described();
    let mut text = format!("{}use crate::named::names;\n", super::builders::MADE);
    for name in ENUMS {
        // A member of several kinds of recipes has the same names in each of them.
        let found = all.iter().find_map(|member| match &member.value {
            Value::Name(names) if member.name == *name => Some((member, names)),
            _ => None,
        });
        let (member, names) = found.ok_or_else(|| format!("{name}: no member has names as its values"))?;
        let class = pascal(name);
        let documented = |text: &str| comments(&wrapped(text, 4), 0);
        let _ = writeln!(
            text,
            "\n{}#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]\n#[non_exhaustive]\npub enum {class} {{",
            documented(&member.text)
        );
        let mut pairs = Vec::new();
        for known in *names {
            let variant = pascal(known);
            let _ = writeln!(text, "{}{variant},", documented(meaning(name, known)));
            pairs.push(format!("{variant} = \"{known}\""));
        }
        let _ = writeln!(text, "}}\nnames!({class}, \"{}\", {{ {} }});", name.replace('_', "-"), pairs.join(", "));
    }
    Ok(text)
}
