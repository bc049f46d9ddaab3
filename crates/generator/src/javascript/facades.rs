//! TypeScript of the JavaScript host: for each interface its records, and for each resource that users see, a base
//! class with the methods that only call the component. The host derives the class of users from it by hand, and adds
//! iterators and the like.

use wit_parser::{InterfaceId, Record, Type, TypeId};

use super::text::{Text, comment};
use super::{MADE, options};
use crate::Files;
use crate::facade::{self, Table, class_of, default_of, has_class, is_plain, is_value, listed};
use crate::wit::{self, Shape, Signature, Wit};
use crate::words::{camel, capital, pascal, snake, spread, words_of};

/// Methods that only JavaScript writes by hand. A batch of a sampler and a list of samples may have any length, and a
/// batch of a reading contains its samples.
const BY_HAND: Table = &[("sampler", &["batch", "locate-all"]), ("reading", &["batch", "batch-at"])];

/// Metrics that may be above 2^53 - 1.
const SUMS: [&str; 5] = ["tokens", "padded", "slowest", "cost", "slowest-cost"];

/// TypeScript types of functions and fields whose values are strings from a fixed set, by name.
const NAMES: [(&str, &str); 3] = [
    ("layout", "Layout"),
    ("remainder", "Remainder"),
    ("status", "'seen' | 'upcoming' | 'dropped' | 'absent' | (string & {})"),
];

/// The name of a function in JavaScript.
pub fn name_of(resource: &str, function: &str) -> String {
    camel(facade::name_of(resource, function))
}

/// The class name of a record or a resource in JavaScript.
pub fn class_of_record(name: &str) -> String {
    if name == "event" { "LedgerEvent".to_owned() } else { class_of(name) }
}

pub fn has_record(name: &str) -> bool {
    facade::has_record(name, &["spans"])
}

/// The parameter of the closure that is passed to `this.call`, and the expression for the resource in this closure.
/// They differ for the batcher: the host keeps its resource in the member `plan` of an object.
fn object(resource: &str) -> (&'static str, &'static str) {
    if resource == "batcher" { ("{ plan }", "plan") } else { ("raw", "raw") }
}

/// A module for each interface that has records or classes, and one module for options.
pub fn modules(wit: Wit<'_>) -> Result<Files, String> {
    let mut files = Files::new();
    for (name, id) in wit.interfaces() {
        let module = Module { wit, name, id };
        let body = module.body().map_err(|error| format!("interface {name}: {error}"))?;
        if !body.is_empty() {
            files.insert(format!("{name}.ts"), module.head(&body) + &body);
        }
    }
    files.insert("limits.ts".into(), options::limits());
    files.insert("names.ts".into(), options::names(&Text::new(wit, "undefined")));
    files.insert("options.ts".into(), options::module(&Text::new(wit, "undefined"))?);
    Ok(files)
}

struct Module<'a> {
    wit: Wit<'a>,
    name: &'a str,
    id: InterfaceId,
}

/// The conversion of a value of the component: the TypeScript type of the result, and an expression with `_` for the
/// value. No expression means that the value stays as it is.
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
    fn body(&self) -> Result<String, String> {
        let mut body = String::new();
        for (name, id) in self.wit.types(self.id) {
            match self.wit.shape(&Type::Id(id)) {
                Shape::Record(_, record) if has_record(name) => body += &self.record(name, id, record)?,
                _ => {}
            }
        }
        for (resource, id) in self.wit.resources(self.id).filter(|(resource, _)| has_class(resource)) {
            body += &self.class(resource, id)?;
        }
        Ok(body)
    }

    /// The imports of all names that the code uses, in the order of the formatter.
    fn head(&self, body: &str) -> String {
        let is_code = |line: &&str| !["/*", "*"].iter().any(|start| line.trim_start().starts_with(start));
        let code: String = body.lines().filter(is_code).map(|line| format!("{line}\n")).collect();
        let words = words_of(&code);
        let import = |module: &str, names: &[&str]| {
            let is_used = |name: &&&str| words.contains(name.trim_start_matches("type "));
            let used = names.iter().filter(is_used).copied().collect::<Vec<_>>().join(", ");
            // `import type` if all names are types; otherwise each type has `type` before its name.
            let types = used.replace("type ", "");
            match used.matches("type ").count() > used.matches(", ").count() {
                _ if used.is_empty() => String::new(),
                true => format!("import type {{ {types} }} from '{module}';\n"),
                false => format!("import {{ {used} }} from '{module}';\n"),
            }
        };
        let mut raw: Vec<_> = words.iter().filter(|word| word.len() > 3 && word.starts_with("Raw")).collect();
        raw.sort_by_key(|word| word.to_lowercase());
        let raw: Vec<_> = raw.iter().map(|word| format!("type {word}")).collect();
        let raw = raw.iter().map(String::as_str);
        let bindings = ["type ComponentBindings", "type Copied", "type LightBindings"].into_iter().chain(raw);
        let mut head = format!("{MADE}\n");
        head += &import("../checks.js", &["flag", "indexText", "integer", "stateText", "U64", "u32", "u53"]);
        if words.contains("Raw") {
            let name = self.name;
            head += &format!("import type * as Raw from '../components/interfaces/samedeal-deal-{name}.js';\n");
        }
        head += &import("../engine/types.js", &bindings.collect::<Vec<_>>());
        head += &import("../engine.js", &["Facade"]);
        head += &import("../lists.js", &["numbers", "words"]);
        head += &import("../options.js", &["plain"]);
        head += &import(
            "../values.js",
            &["type Integer", "type Integers", "type Layout", "type Remainder", "type SavedState"],
        );
        for (name, id) in self.wit.interfaces().filter(|(_, id)| *id != self.id) {
            for (record, _) in self.wit.types(id).filter(|(record, _)| has_record(record)) {
                let class = class_of_record(record);
                // Only the class name is looked for: a method may have the same name as the function.
                if words.contains(&*class) {
                    let names = [format!("type {class}"), format!("{}Of", camel(record))];
                    head += &import(&format!("./{name}.js"), &names.each_ref().map(String::as_str));
                }
            }
        }
        head
    }

    /// The TypeScript interface of a record. If a field changes its type, also the function that converts a record of
    /// the component.
    fn record(&self, name: &str, id: TypeId, record: &Record) -> Result<String, String> {
        let class = class_of_record(name);
        let text = Text::new(self.wit, "undefined");
        let mut made = format!("\n{}export interface {class} {{\n", comment(&text.of(self.wit.docs(id)), 0));
        let mut fields = String::new();
        let mut same = true;
        for field in &record.fields {
            let own = camel(&field.name);
            made += &comment(&text.of(wit::text(&field.docs)), 2);
            let (ty, is_option) = self.option(&field.ty);
            let mut value = self.value(&ty)?;
            if let Some(named) = self.named(&field.name) {
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
            // The fields are written one by one: a spread of the whole record would take ten times as long.
            made += &format!(
                "\n/** The same of what the component gives. */\n\
                 export function {}Of(raw: Copied<Raw.{}>): {class} {{\n  return {{\n{fields}  }};\n}}\n",
                camel(name),
                pascal(name)
            );
        }
        Ok(made)
    }

    fn class(&self, resource: &str, id: TypeId) -> Result<String, String> {
        let (class, raw) = (class_of(resource), format!("Raw{}", pascal(resource)));
        let (parameter, object) = object(resource);
        // The bindings of the component whose instance holds the objects of this resource.
        let bindings = if ["sampler", "mesh"].contains(&resource) { "LightBindings" } else { "ComponentBindings" };
        // If the resource is only a member of the host's object (`{ plan }`), the class is generic over that object.
        let (generic, seat) = match parameter == object {
            true => (String::new(), raw),
            false => (format!("<R extends {{ {object}: {raw} }}>"), "R".into()),
        };
        let mut members = Vec::new();
        for signature in self.wit.functions_of(id) {
            if is_plain(self.wit, &signature, BY_HAND) {
                let member = self.member(resource, &signature);
                members.push(member.map_err(|error| format!("{}: {error}", signature.function.name))?);
            }
        }
        let metrics = if resource == "batcher" { self.metrics(id) } else { String::new() };
        Ok(format!(
            "\n/** What the interface has of the class `{class}`. */\n\
             export abstract class {class}Members{generic} extends Facade<{bindings}, {seat}> {{\n{}}}\n{metrics}",
            members.join("\n")
        ))
    }

    /// The class of the metrics of a resource: its named numbers and their ratios.
    fn metrics(&self, id: TypeId) -> String {
        let text = Text::new(self.wit, "undefined");
        let mut made = "\n/** What batches amount to, of all ranks together: tokens, unless it says otherwise. Ratios have six decimal places. */\n\
                        export abstract class MetricsMembers {\n"
            .to_owned();
        for function in ["metrics", "ratio"].into_iter().filter_map(|name| self.wit.function(id, name)) {
            for (name, about) in listed(function.docs) {
                // The ratio has another name: next to `padded`, `padding` would read as a number of tokens.
                let own = if name == "padding" { "padding-ratio" } else { &name };
                let about = capital(&about.replace("1,000,000", "1"));
                made += &comment(&[text.spelled_fields(&about)], 2);
                let ty = if SUMS.contains(&&*name) { "Integer" } else { "number" };
                made += &format!("  readonly {}!: {ty};\n", camel(own));
            }
        }
        made + "}\n"
    }

    /// The code of a property or a method.
    fn member(&self, resource: &str, signature: &Signature<'_>) -> Result<String, String> {
        let item = signature.name;
        let name = name_of(resource, item);
        let (parameter, object) = object(resource);
        let value = is_value(signature);
        let none = if value { "undefined" } else { "null" };
        let given = &signature.parameters;
        let is_flag = |ty: &Type| *ty == Type::Bool;
        let own = |(name, ty): &(&str, Type)| if is_flag(ty) { "options".to_owned() } else { camel(name) };
        let names: Vec<_> = given.iter().map(own).collect();
        let (mut parameters, mut arguments, mut lines) = (Vec::new(), Vec::new(), String::new());
        for (i, (parameter, ty)) in given.iter().enumerate() {
            let own = camel(parameter);
            let check = if is_flag(ty) {
                parameters.push(format!("options?: {{ {own}?: boolean }}"));
                format!("flag('{}', '{own}', options)", snake(parameter))
            } else {
                // `again` repeats the call with another value. It is used if the given value cannot be passed: the
                // failure of the component then says what is allowed.
                let others = names.iter().enumerate().map(|(at, name)| if at == i { "other" } else { name });
                let again = format!("(other) => this.{name}({})", others.collect::<Vec<_>>().join(", "));
                let (ty, check) = self.argument(parameter, ty, &again)?;
                // A parameter gets its default only if all parameters after it have one.
                let mut rest = given[i..].iter().filter(|(_, ty)| !is_flag(ty));
                let default = default_of(item, parameter)
                    .filter(|_| rest.all(|(other, _)| default_of(item, other).is_some()))
                    .map_or_else(String::new, |value| format!(" = {value}"));
                parameters.push(format!("{own}: {ty}{default}"));
                check
            };
            lines += &format!("    const raw{} = {check};\n", pascal(parameter));
            arguments.push(format!("raw{}", pascal(parameter)));
        }
        let (mut found, is_option) = match signature.value.map(|ty| self.option(&ty)) {
            None => (Value::new("void", None), false),
            Some((ty, is_option)) => (self.value(&ty)?, is_option),
        };
        let mut call = format!("this.call(({parameter}) => {object}.{}({}))", camel(item), arguments.join(", "));
        if let Some(named) = self.named(item) {
            call += &format!(" as {named}");
            found = Value::new(&named, None);
        }
        let returned = if is_option { format!("{} | {none}", found.ty) } else { found.ty.clone() };
        let head = match value {
            true => format!("  get {name}(): {returned} {{\n"),
            false => spread(&format!("  {name}("), &parameters, &format!("): {returned} {{\n"), 2),
        };
        let body = match (found.ty.as_str(), is_option, &found.convert) {
            ("void", ..) => call,
            (_, true, Some(_)) => {
                format!("const found = {call};\n    return found === undefined ? {none} : {}", found.of("found"))
            }
            (_, true, None) if none == "null" => format!("return {call} ?? null"),
            _ => format!("return {}", found.of(&call)),
        };
        let docs = comment(&Text::new(self.wit, none).of_function(signature), 2);
        Ok(format!("{docs}{head}{lines}    {body};\n  }}\n"))
    }

    fn option(&self, ty: &Type) -> (Type, bool) {
        match self.wit.shape(ty) {
            Shape::Option(inner) => (inner, true),
            _ => (*ty, false),
        }
    }

    /// The TypeScript type of a function or field whose string is from a fixed set.
    fn named(&self, name: &str) -> Option<String> {
        NAMES.iter().find(|(own, _)| *own == name).map(|(_, ty)| (*ty).to_owned())
    }

    fn value(&self, ty: &Type) -> Result<Value, String> {
        Ok(match self.wit.shape(ty) {
            _ if self.wit.is_exact(ty) => Value::new("number", Some("Number(_)")),
            Shape::Plain(Type::Bool) => Value::new("boolean", None),
            Shape::Plain(Type::U32) => Value::new("number", None),
            Shape::Plain(Type::String) => Value::new("string", None),
            Shape::Plain(Type::U64 | Type::S64) => Value::new("Integer", Some("plain(_)")),
            Shape::List(inner) if self.wit.is_exact(&inner) => {
                Value::new("Float64Array<ArrayBuffer>", Some("numbers(_)"))
            }
            Shape::List(Type::U32) => Value::new("Uint32Array<ArrayBuffer>", None),
            Shape::List(inner) => {
                let inner = self.value(&inner)?;
                let convert = inner.convert.map(|convert| format!("_.map({})", convert.replace("(_)", "")));
                Value { ty: format!("{}[]", inner.ty), convert }
            }
            Shape::Record(id, record) => {
                let own = self.wit.name(id);
                if !has_record(own) {
                    return Err(format!("the record {own} has no form in TypeScript yet"));
                }
                let (class, function) = (class_of_record(own), format!("{}Of", camel(own)));
                let is_same = |ty: &Type| matches!(self.option(ty).0, Type::U32 | Type::String | Type::Bool);
                let is_converted = !record.fields.iter().all(|field| is_same(&field.ty));
                Value::new(&class, is_converted.then_some(&*format!("{function}(_)")))
            }
            _ => return self.wit.refused(ty, "TypeScript"),
        })
    }

    /// The type of a parameter, and the expression that checks and converts the argument. `again` is code that repeats
    /// the call with another value, for the error.
    fn argument(&self, name: &str, ty: &Type, again: &str) -> Result<(String, String), String> {
        let own = camel(name);
        let (ty, function, rest) = match (self.wit.shape(ty), name) {
            _ if self.wit.is_exact(ty) => ("Integer", "u53", again),
            (Shape::Plain(Type::U32), _) => ("Integer", "u32", again),
            (Shape::Plain(Type::U64), _) => ("Integer", "integer", "U64"),
            (Shape::List(of), _) if self.wit.is_exact(&of) => ("Integers", "words", ""),
            (Shape::Plain(Type::String), "state") => ("string | Uint8Array | SavedState", "stateText", ""),
            (Shape::Plain(Type::String), "index") => ("string | Uint8Array", "indexText", ""),
            _ => return Err(format!("the parameter {name} has no form in TypeScript yet")),
        };
        let check = match (function, rest) {
            ("words", _) => format!("words('{}', {own})", snake(name)),
            (_, "") => format!("{function}({own})"),
            _ => format!("{function}('{}', {own}, {rest})", snake(name)),
        };
        Ok((ty.to_owned(), check))
    }
}
