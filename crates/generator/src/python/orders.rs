//! The functions that make orders. Their code is a template in Python; only the options of the orders are generated.
//!
//! In the template, `{parameters of NAME}`, `{texts of NAME}` and `{members of NAME}` stand for the options of the
//! order NAME: as parameters of a function, as entries of its docstring, and as members of the section `order`.

use samedeal_core::{Described, Value};

use super::MADE;
use super::names::Known;
use super::options::{annotation, described};
use crate::members::of_order;
use crate::words::{WIDTH, filled, hanging};

const TEMPLATE: &str = include_str!("orders.txt");

pub(super) fn module(known: &Known) -> Result<String, String> {
    let all = samedeal_core::described();
    let mut text = TEMPLATE.replace("{made}", MADE);
    while let Some((before, what, order, after)) = place(&text) {
        let members: Vec<_> = of_order(&all, order).collect();
        if members.is_empty() {
            return Err(format!("the order `{order}` has no options"));
        }
        let indent = before.len() - before.rfind('\n').map_or(0, |end| end + 1);
        let lines = match what {
            "parameters" => members.iter().map(|member| parameter(member)).collect::<Result<_, _>>()?,
            "texts" => members.iter().flat_map(|member| entry(known, member, indent)).collect(),
            "members" => vec![written(&members).join(&format!(",\n{:indent$}", ""))],
            _ => return Err(format!("`{what}` of the order `{order}`")),
        };
        text = format!("{before}{}{after}", lines.join(&format!("\n{:indent$}", "")));
    }
    Ok(text)
}

/// The entry of an option in a docstring.
fn entry(known: &Known, member: &Described, indent: usize) -> Vec<String> {
    let about = known.spelled(&described(member, &[]));
    let room = WIDTH - indent - 4;
    hanging(filled(&format!("{}: {about}", member.name), room, room), "    ")
}

/// The first placeholder: the text before it, what it asks for, the order, and the text after it.
fn place(text: &str) -> Option<(&str, &str, &str, &str)> {
    let (found, separator) = text.match_indices(" of ").find_map(|(at, _)| {
        let start = text[..at].rfind('{')?;
        text[start + 1..at].bytes().all(|byte| byte.is_ascii_lowercase()).then_some((start, at))
    })?;
    let end = separator + text[separator..].find('}')?;
    Some((&text[..found], &text[found + 1..separator], &text[separator + 4..end], &text[end + 1..]))
}

fn parameter(member: &Described) -> Result<String, String> {
    Ok(format!("{}: {} | None = None,", member.name, annotation(member)?))
}

/// The expressions that write options as members of a recipe, one for each kind of value: counts, flags, names.
fn written(members: &[&Described]) -> Vec<String> {
    let (names, others): (Vec<&Described>, Vec<_>) =
        members.iter().partition(|member| matches!(member.value, Value::Name(_)));
    let (flags, counts): (Vec<&Described>, Vec<_>) =
        others.into_iter().partition(|member| matches!(member.value, Value::Flag));
    let call = |function: &str, members: Vec<&Described>| {
        let given: Vec<_> = members.iter().map(|member| format!("{0}={0}", member.name)).collect();
        (!given.is_empty()).then(|| format!("**write.{function}({})", given.join(", ")))
    };
    [call("counts", counts), call("flags", flags), call("names", names)].into_iter().flatten().collect()
}
