//! A JavaScript module for each world: the functions and types of its interfaces, as data that the runtime of the
//! JavaScript host (`src/engine/abi.ts`) interprets.

pub mod facades;
mod options;
mod text;

use wit_parser::abi::AbiVariant;
use wit_parser::{InterfaceId, Type, TypeId, WorldItem};

use crate::Files;
use crate::wit::{Shape, Signature, Wit};
use crate::words::camel;

const MADE: &str = "// Written by `cargo xtask build` from the WIT. Changes here are lost.";

/// The modules of all worlds of a package, by the names of their files.
pub fn modules(wit: Wit<'_>) -> Result<Files, String> {
    let mut files = Files::new();
    for (name, &world) in &wit.resolve.packages[wit.package].worlds {
        let mut interfaces = Vec::new();
        for (key, item) in &wit.resolve.worlds[world].exports {
            let WorldItem::Interface { id, .. } = item else {
                return Err(format!("world {name}: {} is no interface", wit.resolve.name_world_key(key)));
            };
            if !wit.interface(*id).functions.is_empty() {
                interfaces.push(interface(wit, *id).map_err(|error| format!("world {name}: {error}"))?);
            }
        }
        files.insert(format!("{name}.js"), format!("{MADE}\nexport default {{\n{}\n}};\n", interfaces.join(",\n")));
        let types = "import type { Interfaces } from '../engine/abi.js';\n";
        files.insert(
            format!("{name}.d.ts"),
            format!("{MADE}\n{types}declare const interfaces: Interfaces;\nexport default interfaces;\n"),
        );
    }
    Ok(files)
}

/// The entry of an interface: its id, its resources, and its functions by their names in JavaScript.
fn interface(wit: Wit<'_>, id: InterfaceId) -> Result<String, String> {
    let name = wit.interface(id).name.as_deref().ok_or("an interface has no name")?;
    let path = wit.resolve.id_of(id).ok_or("an interface has no id")?;
    let calls = |resource: Option<TypeId>| {
        let calls = wit.signatures(id, resource).map(|signature| call(wit, &signature));
        Ok::<_, String>(calls.collect::<Result<Vec<_>, _>>()?.join(",\n"))
    };
    let mut resources = Vec::new();
    for (resource, own) in wit.resources(id) {
        resources.push(format!("      '{resource}': {{\n{}\n      }}", calls(Some(own))?));
    }
    Ok(format!(
        "  '{name}': {{\n    id: '{path}',\n    resources: {{\n{}\n    }},\n    functions: {{\n{}\n    }},\n  }}",
        resources.join(",\n"),
        calls(None)?
    ))
}

/// The entry of a function: `name: [export, parameters, result]`.
fn call(wit: Wit<'_>, signature: &Signature<'_>) -> Result<String, String> {
    let function = signature.function;
    let name = if signature.is_constructor { "new".to_owned() } else { camel(signature.name) };
    let parameters = function.params.iter().map(|parameter| layout(wit, &parameter.ty));
    let parameters = parameters.collect::<Result<Vec<_>, _>>()?.join(", ");
    if wit.resolve.wasm_signature(AbiVariant::GuestExport, function).indirect_params {
        return Err(format!("{}: parameters in memory have no form in JavaScript yet", function.name));
    }
    let result = maybe(wit, &function.result)?;
    Ok(format!("        {name}: ['{}', [{parameters}], {result}]", function.name))
}

fn maybe(wit: Wit<'_>, ty: &Option<Type>) -> Result<String, String> {
    ty.as_ref().map_or(Ok("null".to_owned()), |ty| layout(wit, ty))
}

/// The description of a type for the runtime.
fn layout(wit: Wit<'_>, ty: &Type) -> Result<String, String> {
    let layout = |ty: &Type| layout(wit, ty);
    let joined = |parts: Vec<String>| parts.join(", ");
    Ok(match wit.shape(ty) {
        Shape::Plain(plain @ (Type::Bool | Type::U32 | Type::U64 | Type::S64 | Type::String)) => {
            format!("'{}'", format!("{plain:?}").to_lowercase())
        }
        Shape::List(ty) => format!("['list', {}]", layout(&ty)?),
        Shape::Option(ty) => format!("['option', {}]", layout(&ty)?),
        Shape::Result(ok, error) => format!("['result', {}, {}]", maybe(wit, &ok)?, maybe(wit, &error)?),
        Shape::Record(_, record) => {
            let fields = record.fields.iter();
            let fields = fields.map(|field| Ok(format!("['{}', {}]", camel(&field.name), layout(&field.ty)?)));
            format!("['record', {}]", joined(fields.collect::<Result<_, String>>()?))
        }
        Shape::Tuple(types) => format!("['tuple', {}]", joined(types.iter().map(layout).collect::<Result<_, _>>()?)),
        Shape::Enum(_, cases) => {
            format!("['enum', {}]", joined(cases.cases.iter().map(|case| format!("'{}'", case.name)).collect()))
        }
        Shape::Own(id) => format!("['own', '{}']", wit.name(id)),
        Shape::Borrow(id) => format!("['borrow', '{}']", wit.name(id)),
        _ => return wit.refused(ty, "JavaScript"),
    })
}
