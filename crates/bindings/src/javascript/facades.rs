//! TypeScript of the JavaScript host: for each interface its records, and for each resource that users see the plain part of its class. What
//! only JavaScript has, such as iterators, is in the class that the host builds upon it.

use std::collections::{BTreeMap, BTreeSet};

use wit_parser::{Function, FunctionKind, InterfaceId, PackageId, Resolve, Type, TypeDefKind, TypeId};

use super::text::{Text, WIDTH, comment};
use super::{camel, options, pascal, upper_first};
use crate::facade::is_value;

pub const MADE: &str = "// Written by `cargo xtask build` from the WIT. Changes here are lost.";

/// A resource that users see.
pub struct Facade {
    interface: &'static str,
    pub resource: &'static str,
    pub class: &'static str,
    /// The instance that has its objects, and the parameter of a call, with what that has of the resource.
    bindings: &'static str,
    object: (&'static str, &'static str),
    /// Functions that have another form in JavaScript.
    by_hand: &'static [&'static str],
}

const RAW: (&str, &str) = ("raw", "raw");

pub const FACADES: [Facade; 9] = [
    Facade {
        interface: "sampling",
        resource: "sampler",
        class: "Sampler",
        bindings: "LightBindings",
        object: RAW,
        // `setEpoch`, `setRank` and `resume` move a sampler. Runs have an end in place of a count, and any length. `step` is that of all
        // ranks. Columns are properties.
        by_hand: &[
            "at-epoch",
            "at-rank",
            "rest",
            "resume",
            "indices",
            "indices32",
            "batch",
            "batch32",
            "step",
            "locate-all",
            "source-counts",
        ],
    },
    Facade {
        interface: "steps",
        resource: "schedule",
        class: "Schedule",
        bindings: "ComponentBindings",
        object: RAW,
        // `step` is that of all ranks.
        by_hand: &["at-rank", "indices", "step"],
    },
    Facade {
        interface: "readings",
        resource: "reading",
        class: "Reading",
        bindings: "ComponentBindings",
        object: RAW,
        // A batch has its samples, and steps say whether they are equal.
        by_hand: &["at-epoch", "resume", "step-bounds", "batch", "batch-at", "step", "indices", "round-rows"],
    },
    Facade {
        interface: "shards",
        resource: "plan",
        class: "ShardPlan",
        bindings: "ComponentBindings",
        object: RAW,
        // Runs have any length; a balance has its imbalance.
        by_hand: &["at-epoch", "shards", "loads", "load-summary", "imbalance", "rows", "step-bounds"],
    },
    Facade {
        interface: "shards",
        resource: "chunk-stream",
        class: "ChunkStream",
        bindings: "ComponentBindings",
        object: RAW,
        by_hand: &[],
    },
    Facade {
        interface: "splits",
        resource: "split",
        class: "Split",
        bindings: "ComponentBindings",
        object: RAW,
        // Lists and datasets of any length, and parts by their names.
        by_hand: &["part-of", "part-of-run", "part-of-keys", "members"],
    },
    Facade {
        interface: "mesh",
        resource: "mesh",
        class: "Mesh",
        bindings: "LightBindings",
        object: RAW,
        // Coordinates have the names of the axes.
        by_hand: &["coordinates", "rank-at"],
    },
    Facade {
        interface: "batches",
        resource: "batcher",
        class: "Batcher",
        bindings: "ComponentBindings",
        object: ("{ plan }", "plan"),
        // `setEpoch` and `resume` move a batcher. Batches are objects, as metrics are.
        by_hand: &["at-epoch", "resume", "replan", "metrics", "ratio", "take", "step", "wanted", "supply"],
    },
    Facade {
        interface: "batches",
        resource: "batch-stream",
        class: "BatchStream",
        bindings: "ComponentBindings",
        object: RAW,
        by_hand: &["push", "take", "metrics", "ratio"],
    },
];

/// Records that users see, by their names there.
pub const RECORDS: [(&str, &str, &str); 18] = [
    ("types", "spans", "Spans"),
    ("sampling", "shard-place", "ShardPlace"),
    ("sampling", "source-place", "SourcePlace"),
    ("sampling", "round", "Round"),
    ("sampling", "place", "Place"),
    ("sampling", "fate", "Fate"),
    ("steps", "epoch-position", "EpochPosition"),
    ("steps", "step-place", "StepPlace"),
    ("readings", "read-round", "ReadRound"),
    ("readings", "mixing-advice", "MixingAdvice"),
    ("batches", "batch-shape", "BatchShape"),
    ("batches", "batch-place", "BatchPlace"),
    ("ledger", "event", "LedgerEvent"),
    ("ledger", "committed-run", "CommittedRun"),
    ("ledger", "progress", "Progress"),
    ("launch", "detection", "Detection"),
    ("texts", "text-kind", "TextKind"),
    ("texts", "difference", "Difference"),
];

/// Functions that have another name.
const RENAMED: [(&str, &str, &str); 2] = [("schedule", "begin-of", "placeOf"), ("schedule", "step-of-state", "resume")];

/// Metrics that may be beyond 2^53 - 1.
const SUMS: [&str; 5] = ["tokens", "padded", "slowest", "cost", "slowest-cost"];

/// The types of functions, parameters and fields whose texts are names.
const NAMES: [(&str, &str); 3] = [
    ("layout", "Layout"),
    ("remainder", "Remainder"),
    ("status", "'seen' | 'to come' | 'dropped' | 'absent' | (string & {})"),
];

/// What parameters are if they are left out: of a function, or of all.
const DEFAULTS: [(&str, &str, &str); 4] =
    [("fate", "batch-size", "1"), ("fate", "taken", "0"), ("locate", "step", "0"), ("", "worker", "0")];

/// The name of a function in JavaScript.
pub fn name_of(resource: &str, function: &str) -> String {
    let other = RENAMED.iter().find(|(of, name, _)| *of == resource && *name == function);
    other.map_or_else(|| camel(function), |(_, _, name)| (*name).to_owned())
}

/// A module for each interface that has anything of this, and one of options.
pub fn modules(resolve: &Resolve, package: PackageId) -> Result<BTreeMap<String, String>, String> {
    let mut files = BTreeMap::new();
    for (name, &id) in &resolve.packages[package].interfaces {
        let mut module = Module { resolve, package, name, id, uses: BTreeSet::new() };
        let body = module.body().map_err(|error| format!("interface {name}: {error}"))?;
        if !body.is_empty() {
            files.insert(format!("{name}.ts"), module.head() + &body);
        }
    }
    let text = Text::new(resolve, package, "undefined");
    files.insert("options.ts".into(), options::module(&text)?);
    Ok(files)
}

/// A name of another module: the module, the name, and whether it is a type alone.
type Use = (String, String, bool);

struct Module<'a> {
    resolve: &'a Resolve,
    package: PackageId,
    name: &'a str,
    id: InterfaceId,
    uses: BTreeSet<Use>,
}

/// How a value of the component becomes one of JavaScript: the type of that, and what makes it, with `_` for the value; none if it is that
/// value.
struct Value {
    ty: String,
    convert: Option<String>,
}

impl Value {
    fn new(ty: &str, convert: Option<&str>) -> Self {
        Self { ty: ty.to_owned(), convert: convert.map(str::to_owned) }
    }

    fn of(&self, value: &str) -> String {
        self.convert.as_ref().map_or_else(|| value.to_owned(), |convert| convert.replace('_', value))
    }
}

impl Module<'_> {
    fn body(&mut self) -> Result<String, String> {
        let mut body = String::new();
        for (of, record, class) in RECORDS {
            if of == self.name {
                let id = self.type_id(record)?;
                body += &self.record(id, class)?;
            }
        }
        for facade in &FACADES {
            if facade.interface == self.name {
                body += &self.class(facade)?;
            }
        }
        Ok(body)
    }

    fn head(&self) -> String {
        let mut modules: BTreeMap<&str, Vec<(&str, bool)>> = BTreeMap::new();
        for (module, name, is_type) in &self.uses {
            modules.entry(module).or_default().push((name, *is_type));
        }
        let mut head = format!("{MADE}\n");
        // In the order of the formatter: what is farther away comes first.
        let own = modules.iter().filter(|(module, _)| module.starts_with("./"));
        for (module, names) in modules.iter().filter(|(module, _)| !module.starts_with("./")).chain(own) {
            if let [("*", _)] = names[..] {
                head += &format!("import type * as Raw from '{module}';\n");
                continue;
            }
            let mut names = names.clone();
            names.sort_by_key(|(name, _)| {
                name.chars().map(|c| (c.to_ascii_lowercase(), c.is_lowercase())).collect::<Vec<_>>()
            });
            let all_types = names.iter().all(|(_, is_type)| *is_type);
            let listed =
                names.iter().map(
                    |(name, is_type)| {
                        if *is_type && !all_types { format!("type {name}") } else { (*name).to_owned() }
                    },
                );
            let listed = listed.collect::<Vec<_>>().join(", ");
            head += &format!("import {}{{ {listed} }} from '{module}';\n", if all_types { "type " } else { "" });
        }
        head
    }

    fn uses(&mut self, module: &str, name: &str) {
        self.uses.insert((module.to_owned(), name.to_owned(), false));
    }

    fn uses_type(&mut self, module: &str, name: &str) {
        self.uses.insert((module.to_owned(), name.to_owned(), true));
    }

    fn type_id(&self, name: &str) -> Result<TypeId, String> {
        self.resolve.interfaces[self.id].types.get(name).copied().ok_or_else(|| format!("{name} is not there"))
    }

    /// An interface, and what makes one of what the component gives.
    fn record(&mut self, id: TypeId, class: &str) -> Result<String, String> {
        let def = &self.resolve.types[id];
        let TypeDefKind::Record(record) = &def.kind else { return Err(format!("{class} is no record")) };
        let name = def.name.as_deref().unwrap_or_default();
        let text = Text::new(self.resolve, self.package, "undefined");
        let docs = |docs: &Option<String>| docs.clone().unwrap_or_default();
        let mut made = format!("\n{}export interface {class} {{\n", comment(&text.of(&docs(&def.docs.contents)), 0));
        let mut fields = String::new();
        let mut same = true;
        for field in &record.fields {
            let own = camel(&field.name);
            made += &comment(&text.of(&docs(&field.docs.contents)), 2);
            let (ty, is_option) = self.option(&field.ty);
            let named = self.named(&field.name);
            let mut value = self.value(&ty)?;
            if let Some(named) = named {
                value.ty = named;
            }
            same &= value.convert.is_none();
            made += &format!("  {own}{}: {};\n", if is_option { "?" } else { "" }, value.ty);
            let (raw, of) = (format!("raw.{own}"), value.of(&format!("raw.{own}")));
            fields += &match is_option && value.convert.is_some() {
                true => format!("    ...({raw} === undefined ? {{}} : {{ {own}: {of} }}),\n"),
                false => format!("    {own}: {of},\n"),
            };
        }
        made += "}\n";
        if !same {
            // Field by field: a copy of all of them at once would take ten times as long.
            self.uses_type(&self.raw(), "*");
            self.uses_type("../bindings/types.js", "Copied");
            made += &format!(
                "\n/** The same of what the component gives. */\n\
                 export function {}Of(raw: Copied<Raw.{}>): {class} {{\n  return {{\n{fields}  }};\n}}\n",
                camel(name),
                pascal(name)
            );
        }
        Ok(made)
    }

    fn raw(&self) -> String {
        format!("../components/interfaces/samedeal-deal-{}.js", self.name)
    }

    fn class(&mut self, facade: &Facade) -> Result<String, String> {
        let id = self.type_id(facade.resource)?;
        let (parameter, object) = facade.object;
        let raw = format!("Raw{}", pascal(facade.resource));
        self.uses("../engine.js", "Facade");
        self.uses_type("../bindings/types.js", facade.bindings);
        self.uses_type("../bindings/types.js", &raw);
        // What users make has more than the resource if that is a part of it.
        let (generic, seat) = if parameter == object {
            (String::new(), raw)
        } else {
            (format!("<R extends {{ {object}: {raw} }}>"), "R".into())
        };
        let mut text = format!("\n/** What the interface has of the class `{}`. */\n", facade.class);
        let line = format!(
            "export abstract class {}Members{generic} extends Facade<{}, {seat}> {{\n",
            facade.class, facade.bindings
        );
        text += &line;
        let interface = &self.resolve.interfaces[self.id];
        let mut members = Vec::new();
        for function in interface.functions.values().filter(|function| function.kind.resource() == Some(id)) {
            let own = matches!(function.kind, FunctionKind::Method(_));
            if own && !facade.by_hand.contains(&function.item_name()) {
                members.push(self.member(facade, function).map_err(|error| format!("{}: {error}", function.name))?);
            }
        }
        Ok(text + &members.join("\n") + "}\n" + &self.metrics(facade))
    }

    /// The numbers by name that a resource has, and their ratios: each is an item of the list in the text.
    fn metrics(&mut self, facade: &Facade) -> String {
        if facade.resource != "batcher" {
            return String::new();
        }
        let text = Text::new(self.resolve, self.package, "undefined");
        let mut made = "\n/** What batches amount to, of all ranks together: tokens, unless it says otherwise. Ratios have six decimal places. */\n\
                        export abstract class MetricsMembers {\n"
            .to_owned();
        for function in ["metrics", "ratio"] {
            let functions = &self.resolve.interfaces[self.id].functions;
            let docs = functions.get(&format!("[method]batcher.{function}")).and_then(|own| own.docs.contents.clone());
            for item in crate::facade::paragraphs(&docs.unwrap_or_default()) {
                let Some((name, about)) = item.strip_prefix("- `").and_then(|rest| rest.split_once("`: ")) else {
                    continue;
                };
                // Next to `padded`.
                let own = if name == "padding" { "padding-ratio" } else { name };
                let about = upper_first(&about.replace("1,000,000", "1"));
                made += &comment(&[text.spelled_fields(&about)], 2);
                let ty = if SUMS.contains(&name) { "Integer" } else { "number" };
                made += &format!("  readonly {}!: {ty};\n", camel(own));
            }
        }
        made + "}\n"
    }

    /// A property or a method.
    fn member(&mut self, facade: &Facade, function: &Function) -> Result<String, String> {
        let item = function.item_name();
        let name = name_of(facade.resource, item);
        let (parameter, object) = facade.object;
        let value = is_value(function);
        let none = if value { "undefined" } else { "null" };
        let text = Text::new(self.resolve, self.package, none);
        let mut made = comment(&text.of_function(function, &self.resolve.interfaces[self.id]), 2);
        let mut parameters = Vec::new();
        let mut names = Vec::new();
        let mut arguments = Vec::new();
        let mut lines = Vec::new();
        // From the last one on: a parameter has a default if all others after it have one.
        let mut optional = true;
        for each in function.params.iter().skip(1).rev() {
            let default = DEFAULTS.iter().find(|(of, name, _)| (*of == item || of.is_empty()) && *name == each.name);
            let own = camel(&each.name);
            if each.ty == Type::Bool {
                self.uses("../checks.js", "flag");
                parameters.push(format!("options?: {{ {own}?: boolean }}"));
                names.push("options".to_owned());
                arguments.push(format!("raw{}", pascal(&each.name)));
                lines.push((own.clone(), format!("flag('{}', '{own}', options)", each.name)));
                continue;
            }
            optional &= default.is_some();
            let (ty, check) = self.argument(&each.name, &each.ty)?;
            let default = default.filter(|_| optional).map(|(_, _, value)| format!(" = {value}")).unwrap_or_default();
            parameters.push(format!("{own}: {ty}{default}"));
            names.push(own.clone());
            arguments.push(format!("raw{}", pascal(&each.name)));
            lines.push((own, check));
        }
        for list in [&mut parameters, &mut names, &mut arguments] {
            list.reverse();
        }
        lines.reverse();
        let (ty, is_option) = match &function.result {
            None => (None, false),
            Some(ty) => match self.ok(ty) {
                None => (None, false),
                Some(ty) => {
                    let (ty, is_option) = self.option(&ty);
                    (Some(ty), is_option)
                }
            },
        };
        let found = match ty {
            None => Value::new("void", None),
            Some(ty) => {
                let mut found = self.value(&ty)?;
                if let Some(named) = self.named(item) {
                    found.convert = None;
                    found.ty = named;
                }
                found
            }
        };
        let returned = if is_option { format!("{} | {none}", found.ty) } else { found.ty.clone() };
        made += &if value {
            format!("  get {name}(): {returned} {{\n")
        } else {
            spread(&format!("  {name}("), &parameters, &format!("): {returned} {{"), 2)
        };
        for (own, check) in &lines {
            // Asked for what is allowed, where this value cannot cross.
            let others = names.iter().map(|name| if name == own { "other" } else { name });
            let again = format!("(other) => this.{name}({})", others.collect::<Vec<_>>().join(", "));
            made += &format!("    const raw{} = {};\n", upper_first(own), check.replace("AGAIN", &again));
        }
        let call = format!("this.call(({parameter}) => {object}.{}({}))", camel(item), arguments.join(", "));
        let call = if self.named(item).is_some() { format!("{call} as {}", found.ty) } else { call };
        made += &match (found.ty.as_str(), is_option, &found.convert) {
            ("void", ..) => format!("    {call};\n"),
            (_, true, Some(_)) => {
                format!("    const found = {call};\n    return found === undefined ? {none} : {};\n", found.of("found"))
            }
            (_, true, None) if none == "null" => format!("    return {call} ?? null;\n"),
            _ => format!("    return {};\n", found.of(&call)),
        };
        Ok(made + "  }\n")
    }

    /// What a function returns if it does not fail.
    fn ok(&self, ty: &Type) -> Option<Type> {
        if let Type::Id(id) = ty
            && let TypeDefKind::Result(result) = &self.resolve.types[*id].kind
        {
            return result.ok;
        }
        Some(*ty)
    }

    fn option(&self, ty: &Type) -> (Type, bool) {
        if let Type::Id(id) = ty
            && let TypeDefKind::Option(inner) = &self.resolve.types[*id].kind
        {
            return (*inner, true);
        }
        (*ty, false)
    }

    /// The type of a name, if a text is one.
    fn named(&mut self, name: &str) -> Option<String> {
        let (_, ty) = NAMES.iter().find(|(own, _)| *own == name)?;
        if !ty.starts_with('\'') {
            self.uses_type("../values.js", ty);
        }
        Some((*ty).to_owned())
    }

    /// Whether a type is a number that JavaScript holds exactly.
    fn is_exact(&self, ty: &Type) -> bool {
        let Type::Id(id) = ty else { return false };
        let def = &self.resolve.types[*id];
        let TypeDefKind::Type(inner) = &def.kind else { return false };
        def.name.as_deref() == Some("u53") || self.is_exact(inner)
    }

    fn value(&mut self, ty: &Type) -> Result<Value, String> {
        if self.is_exact(ty) {
            return Ok(Value::new("number", Some("Number(_)")));
        }
        let id = match ty {
            Type::Bool => return Ok(Value::new("boolean", None)),
            Type::U32 => return Ok(Value::new("number", None)),
            Type::String => return Ok(Value::new("string", None)),
            Type::U64 | Type::S64 => {
                self.uses_type("../values.js", "Integer");
                self.uses("../options.js", "plain");
                return Ok(Value::new("Integer", Some("plain(_)")));
            }
            Type::Id(id) => *id,
            other => return Err(format!("{other:?} has no form in TypeScript yet")),
        };
        let def = &self.resolve.types[id];
        match &def.kind {
            TypeDefKind::List(inner) if self.is_exact(inner) => {
                self.uses("../lists.js", "numbers");
                Ok(Value::new("Float64Array<ArrayBuffer>", Some("numbers(_)")))
            }
            TypeDefKind::List(Type::U32) => Ok(Value::new("Uint32Array<ArrayBuffer>", None)),
            TypeDefKind::List(inner) => {
                let inner = self.value(inner)?;
                let convert = inner.convert.map(|convert| format!("_.map({})", convert.replace("(_)", "")));
                Ok(Value { ty: format!("{}[]", inner.ty), convert })
            }
            TypeDefKind::Type(inner) => {
                let inner = *inner;
                self.value(&inner)
            }
            TypeDefKind::Record(_) => {
                let own = def.name.as_deref().unwrap_or_default();
                let (module, _, class) = RECORDS
                    .iter()
                    .find(|(of, name, _)| *name == own && self.owner(id) == *of)
                    .ok_or_else(|| format!("the record {own} has no form in TypeScript yet"))?;
                let convert = format!("{}Of(_)", camel(own));
                if *module != self.name {
                    self.uses(&format!("./{module}.js"), &format!("{}Of", camel(own)));
                    self.uses_type(&format!("./{module}.js"), class);
                }
                Ok(Value::new(class, self.is_converted(id).then_some(&*convert)))
            }
            other => Err(format!("a {} has no form in TypeScript yet", other.as_str())),
        }
    }

    /// Whether a record has a field that is another value in JavaScript.
    fn is_converted(&self, id: TypeId) -> bool {
        let TypeDefKind::Record(record) = &self.resolve.types[id].kind else { return false };
        record.fields.iter().any(|field| !matches!(self.option(&field.ty).0, Type::U32 | Type::String | Type::Bool))
    }

    fn owner(&self, id: TypeId) -> &str {
        match self.resolve.types[id].owner {
            wit_parser::TypeOwner::Interface(id) => self.resolve.interfaces[id].name.as_deref().unwrap_or_default(),
            _ => "",
        }
    }

    /// The type of a parameter, and what makes of it what crosses.
    fn argument(&mut self, name: &str, ty: &Type) -> Result<(String, String), String> {
        let own = camel(name);
        let exact = self.is_exact(ty);
        let plain = match ty {
            Type::Id(id) => match self.resolve.types[*id].kind {
                TypeDefKind::Type(inner) => inner,
                _ => *ty,
            },
            other => *other,
        };
        let (ty, function, rest) = match plain {
            _ if exact => ("Integer", "u53", ", AGAIN"),
            Type::U32 => ("Integer", "u32", ", AGAIN"),
            Type::U64 => ("Integer", "integer", ", U64"),
            Type::String if name == "state" => {
                self.uses("../checks.js", "stateText");
                self.uses_type("../values.js", "SavedState");
                return Ok(("string | Uint8Array | SavedState".into(), format!("stateText({own})")));
            }
            Type::String if name == "index" => {
                self.uses("../checks.js", "indexText");
                return Ok(("string | Uint8Array".into(), format!("indexText({own})")));
            }
            _ => return Err(format!("the parameter {name} has no form in TypeScript yet")),
        };
        self.uses("../checks.js", function);
        if rest == ", U64" {
            self.uses("../checks.js", "U64");
        }
        self.uses_type("../values.js", "Integer");
        Ok((ty.to_owned(), format!("{function}('{name}', {own}{rest})")))
    }
}

/// A list between brackets: in one line, or a line each where that is too long.
pub fn spread(open: &str, items: &[String], close: &str, indent: usize) -> String {
    let line = format!("{open}{}{close}", items.join(", "));
    if line.chars().count() <= WIDTH {
        return line + "\n";
    }
    let space = " ".repeat(indent);
    let items: String = items.iter().map(|item| format!("{space}  {item},\n")).collect();
    format!("{open}\n{items}{space}{close}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made() -> BTreeMap<String, String> {
        let mut resolve = Resolve::default();
        let (package, _) = resolve.push_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../wit")).unwrap();
        modules(&resolve, package).unwrap()
    }

    #[test]
    fn values_are_properties_and_arguments_are_checked() {
        let made = made();
        for (file, expected) in [
            (
                "sampling.ts",
                "  /** Number of the epoch; a `bigint` where it is beyond 2^53 - 1. */\n  get epoch(): Integer {\n    return plain(this.call((raw) => raw.epoch()));\n  }\n",
            ),
            (
                "sampling.ts",
                "  get epochLength(): number {\n    return Number(this.call((raw) => raw.epochLength()));\n",
            ),
            (
                "sampling.ts",
                "  locate(sample: Integer, batchSize: Integer): Place | null {\n\
                 \x20   const rawSample = u53('sample', sample, (other) => this.locate(other, batchSize));\n\
                 \x20   const rawBatchSize = u32('batch-size', batchSize, (other) => this.locate(sample, other));\n\
                 \x20   const found = this.call((raw) => raw.locate(rawSample, rawBatchSize));\n\
                 \x20   return found === undefined ? null : placeOf(found);\n",
            ),
            ("sampling.ts", "  numBatches(batchSize: Integer, options?: { dropLast?: boolean }): number {\n"),
            ("sampling.ts", "    places: raw.places.map(placeOf),\n"),
            ("readings.ts", "  round(rank: Integer, worker: Integer, number: Integer): ReadRound {\n"),
            ("readings.ts", "  shards(rank: Integer, worker: Integer = 0): Uint32Array<ArrayBuffer> {\n"),
            ("batches.ts", "<R extends { plan: RawBatcher }> extends Facade<ComponentBindings, R> {\n"),
            ("batches.ts", "  flush(): void {\n    this.call((raw) => raw.flush());\n"),
            ("launch.ts", "  localRank?: number;\n"),
        ] {
            assert!(made[file].contains(expected), "{expected} is not in {}", made[file]);
        }
    }

    #[test]
    fn texts_have_the_words_of_javascript() {
        let made = made();
        for (file, expected) in [
            ("sampling.ts", "`null` if it is not seen again."),
            (
                "sampling.ts",
                "   * @throws SamedealError `contradiction` (`order`: it is no blend; `indexSpace`: several sources may have the\n",
            ),
            // Errors of another function.
            (
                "sampling.ts",
                "   * @throws SamedealError `contradiction` (`order`: it is not `sharded`; `layout`: it is `rotated`; `unit`: above 1).\n",
            ),
            ("steps.ts", "/** Which samples of a step belong to a rank, see `Sampler.layout`. */"),
            ("ledger.ts", "   * - `commit`: the reader has finished the run."),
            ("launch.ts", "`world_size=value`"),
        ] {
            assert!(made[file].contains(expected), "{expected} is not in {}", made[file]);
        }
        for text in made.values() {
            assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
            for wrong in ["rrors: ", ", 64-bit", "(64-bit)", "None ", "`none` if"] {
                assert!(!text.contains(wrong) || text.contains("`none` if nothing is set"), "{wrong}: {text}");
            }
        }
    }
}
