//! A JavaScript module for each world, upon the runtime of the JavaScript host (`src/bindings/abi.ts`): what its interfaces have, as
//! data.

pub mod facades;
mod options;
mod text;

use std::collections::BTreeMap;

use wit_parser::{
    Function, FunctionKind, Handle, InterfaceId, PackageId, Resolve, Type, TypeDefKind, TypeId, TypeOwner, WorldItem,
};

const MADE: &str = "// Written by `cargo xtask build` from the WIT. Changes here are lost.";
/// The most flat values of a call. More of them would go through memory, which the runtime does not do.
const MOST_FLAT: usize = 16;

/// The modules of all worlds of a package, by the names of their files.
pub fn modules(resolve: &Resolve, package: PackageId) -> Result<BTreeMap<String, String>, String> {
    let mut files = BTreeMap::new();
    for (name, &world) in &resolve.packages[package].worlds {
        let mut interfaces = Vec::new();
        for (key, item) in &resolve.worlds[world].exports {
            let WorldItem::Interface { id, .. } = item else {
                return Err(format!("world {name}: {} is no interface", resolve.name_world_key(key)));
            };
            if !resolve.interfaces[*id].functions.is_empty() {
                interfaces.push(interface(resolve, *id).map_err(|error| format!("world {name}: {error}"))?);
            }
        }
        files.insert(format!("{name}.js"), format!("{MADE}\nexport default {{\n{}\n}};\n", interfaces.join(",\n")));
        let types = "import type { Interfaces } from '../bindings/abi.js';\n";
        files.insert(
            format!("{name}.d.ts"),
            format!("{MADE}\n{types}declare const interfaces: Interfaces;\nexport default interfaces;\n"),
        );
    }
    Ok(files)
}

/// What an interface has: its id, its resources, and the calls by the names that they have in JavaScript.
fn interface(resolve: &Resolve, id: InterfaceId) -> Result<String, String> {
    let interface = &resolve.interfaces[id];
    let name = interface.name.as_deref().ok_or("an interface has no name")?;
    let path = resolve.id_of(id).ok_or("an interface has no id")?;
    let calls = |wanted: Option<TypeId>| {
        let functions = interface.functions.values().filter(move |function| function.kind.resource() == wanted);
        functions.map(|function| call(resolve, function)).collect::<Result<Vec<_>, String>>()
    };
    let mut resources = Vec::new();
    for (resource, &type_id) in &interface.types {
        let def = &resolve.types[type_id];
        if matches!(def.kind, TypeDefKind::Resource) && def.owner == TypeOwner::Interface(id) {
            resources.push(format!("      '{resource}': {{\n{}\n      }}", calls(Some(type_id))?.join(",\n")));
        }
    }
    let functions = calls(None)?;
    Ok(format!(
        "  '{name}': {{\n    id: '{path}',\n    resources: {{\n{}\n    }},\n    functions: {{\n{}\n    }},\n  }}",
        resources.join(",\n"),
        functions.join(",\n")
    ))
}

/// `name: [export, parameters, result]`.
fn call(resolve: &Resolve, function: &Function) -> Result<String, String> {
    let name = match function.kind {
        FunctionKind::Constructor(_) => "new".to_owned(),
        FunctionKind::Method(_) | FunctionKind::Freestanding => camel(function.item_name()),
        _ => return Err(format!("{}: it has no form in JavaScript yet", function.name)),
    };
    let types = Types { resolve };
    let mut flat = 0;
    let mut parameters = Vec::new();
    for parameter in &function.params {
        flat += types.flat(&parameter.ty)?;
        parameters.push(types.text(&parameter.ty)?);
    }
    if flat > MOST_FLAT {
        return Err(format!("{}: {flat} flat parameters have no form in JavaScript yet", function.name));
    }
    let result = function.result.as_ref().map_or(Ok("null".to_owned()), |ty| types.text(ty))?;
    Ok(format!("        {name}: ['{}', [{}], {result}]", function.name, parameters.join(", ")))
}

struct Types<'a> {
    resolve: &'a Resolve,
}

impl Types<'_> {
    /// A type as the runtime reads it.
    fn text(&self, ty: &Type) -> Result<String, String> {
        let id = match ty {
            Type::Bool => return Ok("'bool'".into()),
            Type::U32 => return Ok("'u32'".into()),
            Type::U64 => return Ok("'u64'".into()),
            Type::S64 => return Ok("'s64'".into()),
            Type::String => return Ok("'string'".into()),
            Type::Id(id) => *id,
            other => return Err(format!("{other:?} has no form in JavaScript yet")),
        };
        let maybe = |ty: &Option<Type>| ty.as_ref().map_or(Ok("null".to_owned()), |ty| self.text(ty));
        match &self.resolve.types[id].kind {
            TypeDefKind::Type(ty) => self.text(ty),
            TypeDefKind::List(ty) => Ok(format!("['list', {}]", self.text(ty)?)),
            TypeDefKind::Option(ty) => Ok(format!("['option', {}]", self.text(ty)?)),
            TypeDefKind::Result(result) => Ok(format!("['result', {}, {}]", maybe(&result.ok)?, maybe(&result.err)?)),
            TypeDefKind::Record(record) => {
                let fields = record
                    .fields
                    .iter()
                    .map(|field| Ok(format!("['{}', {}]", camel(&field.name), self.text(&field.ty)?)));
                Ok(format!("['record', {}]", fields.collect::<Result<Vec<_>, String>>()?.join(", ")))
            }
            TypeDefKind::Tuple(tuple) => {
                let types = tuple.types.iter().map(|ty| self.text(ty)).collect::<Result<Vec<_>, String>>()?;
                Ok(format!("['tuple', {}]", types.join(", ")))
            }
            TypeDefKind::Enum(cases) => {
                let names: Vec<_> = cases.cases.iter().map(|case| format!("'{}'", case.name)).collect();
                Ok(format!("['enum', {}]", names.join(", ")))
            }
            TypeDefKind::Handle(handle) => {
                let (kind, id) = match handle {
                    Handle::Own(id) => ("own", id),
                    Handle::Borrow(id) => ("borrow", id),
                };
                let name = self.resolve.types[*id].name.as_deref().ok_or("a resource has no name")?;
                Ok(format!("['{kind}', '{name}']"))
            }
            other => Err(format!("a {} has no form in JavaScript yet", other.as_str())),
        }
    }

    /// How many flat values a parameter takes.
    fn flat(&self, ty: &Type) -> Result<usize, String> {
        let id = match ty {
            Type::String => return Ok(2),
            Type::Id(id) => *id,
            _ => return Ok(1),
        };
        match &self.resolve.types[id].kind {
            TypeDefKind::Type(ty) => self.flat(ty),
            TypeDefKind::List(_) => Ok(2),
            TypeDefKind::Option(ty) => Ok(1 + self.flat(ty)?),
            TypeDefKind::Record(record) => record.fields.iter().map(|field| self.flat(&field.ty)).sum(),
            TypeDefKind::Tuple(tuple) => tuple.types.iter().map(|ty| self.flat(ty)).sum(),
            TypeDefKind::Enum(_) | TypeDefKind::Handle(_) => Ok(1),
            other => Err(format!("a {} as a parameter has no form in JavaScript yet", other.as_str())),
        }
    }
}

/// A name as JavaScript writes it.
fn camel(name: &str) -> String {
    let mut words = name.split('-');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |text, word| {
        let mut letters = word.chars();
        text + &letters.next().map(|letter| letter.to_ascii_uppercase().to_string()).unwrap_or_default()
            + letters.as_str()
    })
}

fn upper_first(name: &str) -> String {
    name[..1].to_uppercase() + &name[1..]
}

/// The name of a class.
fn pascal(name: &str) -> String {
    upper_first(&camel(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(wit: &str) -> Result<String, String> {
        let mut resolve = Resolve::default();
        let package = resolve.push_str("a.wit", wit).unwrap();
        modules(&resolve, package).map(|files| files["w.js"].clone())
    }

    fn world(body: &str) -> String {
        format!("package a:b@0.1.0; world w {{ export i; }} interface i {{ {body} }}")
    }

    #[test]
    fn every_kind_of_type_and_of_call() {
        let made = made(&world(
            "record two { first-one: u32, other: list<string> } enum side { left, right }
            resource thing {
                constructor(side: side) -> result<thing, string>;
                of-two: func(two: two, pairs: list<tuple<u64, s64>>) -> option<bool>;
            }
            take: func(thing: borrow<thing>, given: thing) -> result<_, two>;",
        ))
        .unwrap();
        let two = "['record', ['firstOne', 'u32'], ['other', ['list', 'string']]]";
        for expected in [
            "  'i': {\n    id: 'a:b/i@0.1.0',\n    resources: {\n      'thing': {\n".to_owned(),
            "new: ['[constructor]thing', [['enum', 'left', 'right']], ['result', ['own', 'thing'], 'string']]".into(),
            format!(
                "ofTwo: ['[method]thing.of-two', [['borrow', 'thing'], {two}, ['list', ['tuple', 'u64', 's64']]], ['option', 'bool']]"
            ),
            format!("take: ['take', [['borrow', 'thing'], ['own', 'thing']], ['result', null, {two}]]"),
        ] {
            assert!(made.contains(&expected), "{expected} is not in {made}");
        }
    }

    #[test]
    fn what_the_runtime_cannot_do_is_an_error() {
        let many = (0..17).map(|i| format!("p{i}: u32")).collect::<Vec<_>>().join(", ");
        for (body, error) in [
            (format!("f: func({many});"), "world w: f: 17 flat parameters have no form in JavaScript yet"),
            ("f: func(a: f32);".into(), "world w: F32 has no form in JavaScript yet"),
            ("f: func() -> list<u8>;".into(), "world w: U8 has no form in JavaScript yet"),
            ("variant v { a, b(u32) } f: func() -> v;".into(), "world w: a variant has no form in JavaScript yet"),
        ] {
            assert_eq!(made(&world(&body)).unwrap_err(), error);
        }
    }
}
