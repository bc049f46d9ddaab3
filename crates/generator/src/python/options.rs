//! Constructors whose parameters are options: a keyword for each member of a recipe, with its type, its default and the
//! text of the core.

use samedeal_core::{Described, Needed, Value, meaning};

use super::names::snake;
use super::{Module, spread};
use crate::facade::Text;
use crate::members::{self, object, only_with};
use crate::words::small;

/// The parameters of all constructors. The head of the file describes its format.
const CONSTRUCTORS: &str = include_str!("constructors.txt");

const RAISED: &str = "Errors: `out-of-range` (a number is outside its range), `unknown-name` (a name is not known), `wrong-type` (a value is not \
                      of the type that its parameter takes), `missing` (there is not what another option needs), `contradiction` (an option is \
                      given that the others do not use, or options do not fit together), `out-of-memory` (there is no memory for so many).";

/// The parts of a constructor.
#[derive(Default)]
struct Parts {
    parameters: Vec<String>,
    /// The names of parameters, each with its documentation.
    about: Vec<(String, String)>,
    /// Sections of the recipe with their members. `beside` has the arguments that are passed beside the sections.
    sections: Vec<(&'static str, Vec<String>)>,
    beside: Vec<String>,
}

impl Parts {
    fn own(&mut self, declared: &str, text: &str) {
        let (name, _) = declared.split_once(':').unwrap_or((declared, ""));
        self.parameters.push(declared.to_owned());
        self.about.push((name.to_owned(), text.to_owned()));
        self.beside.push(format!("{name}={name}"));
    }

    fn member(&mut self, member: &Described, with: &str) -> Result<(), String> {
        let own = snake(member.name);
        let kind = annotation(member)?;
        self.parameters.push(format!("{own}: {kind} | None = None"));
        let text = match with {
            "" => described(member, &member.needs),
            with => format!("{with} {}", small(&described(member, &[]))),
        };
        self.about.push((own.clone(), text));
        let entry = format!("\"{}\": {own}", member.name);
        match self.sections.iter_mut().find(|(other, _)| *other == member.section) {
            // A list is passed beside the recipe: the text does not contain it.
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
        let (Some(entries), Some(shared)) = (entries(resource), entries("several")) else { return Ok(String::new()) };
        let all = samedeal_core::described();
        let mut parts = Parts::default();
        let mut with = "";
        for (entry, text) in
            entries[1..].iter().map(|(entry, text)| (*entry, text)).chain([("memory_limit", &String::new())])
        {
            if entry == "*" {
                parts.parameters.push(entry.to_owned());
            } else if entry.starts_with("With ") {
                with = entry;
            } else if !text.is_empty() {
                parts.own(entry, text);
            } else if let Some((members, recipe)) = entry.split_once(" of ") {
                let (section, name) = members.split_once('.').unwrap_or((members, ""));
                let (recipe, but) = recipe.split_once(" but ").unwrap_or((recipe, ""));
                let is_meant = |own: &str| if name == "*" { !but.split(", ").any(|it| it == own) } else { name == own };
                let mut found = members::of(&all, section, recipe).filter(|member| is_meant(member.name)).peekable();
                found.peek().ok_or_else(|| format!("there is no `{name}` in {}", object(section, recipe)))?;
                found.try_for_each(|member| parts.member(member, with))?;
            } else {
                let shared = shared.iter().find(|(declared, _)| declared.starts_with(&format!("{entry}: ")));
                let (declared, text) = shared.ok_or_else(|| format!("there is no parameter `{entry}`"))?;
                parts.own(declared, text);
            }
        }
        let about = &entries[0].1;
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

/// The entries of a constructor in the file: first its documentation, under an empty name, then its parameters, each
/// with its documentation.
fn entries(resource: &str) -> Option<Vec<(&'static str, String)>> {
    let block = CONSTRUCTORS.split("\n\n").find_map(|block| block.strip_prefix(resource)?.strip_prefix(":\n"))?;
    let mut entries = vec![("", String::new())];
    for line in block.lines() {
        match (line.strip_prefix("        "), entries.last_mut()) {
            (Some(text), Some((_, whole))) if whole.is_empty() => text.clone_into(whole),
            (Some(text), Some((_, whole))) => *whole += &format!(" {text}"),
            _ => entries.push((line.trim(), String::new())),
        }
    }
    Some(entries)
}

/// The type of an option.
pub(super) fn annotation(member: &Described) -> Result<&'static str, String> {
    Ok(match member.value {
        Value::Natural { .. } | Value::Integer => "SupportsIndex",
        Value::Numbers => "ArrayLike | Iterable[SupportsIndex]",
        Value::Flag => "bool",
        Value::Text | Value::Name(_) => "str",
        Value::Objects => return Err(format!("the option {} has no form in Python yet", member.name)),
    })
}

/// The documentation of a member: its text, range or names, condition and default.
pub(super) fn described(member: &Described, needs: &[Vec<Needed>]) -> String {
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
