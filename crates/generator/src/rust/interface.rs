//! The types and traits of the interface in plain Rust, in the form that wit-bindgen gives them. So the same code
//! implements them for the component and for programs that link the core.

use std::fmt::Write as _;

use wit_parser::{InterfaceId, Type, TypeId};

use super::{MADE, formatted, types};
use crate::Files;
use crate::wit::{Shape, Signature, Wit};
use crate::words::{pascal, snake};

/// The generated file of the crate that implements the interface.
pub fn modules(wit: Wit<'_>) -> Result<Files, String> {
    let mut text = format!(
        "{MADE}//! The types and traits of the interface, in the form that wit-bindgen gives them.\n#![allow(missing_docs)]\n\n"
    );
    for (name, id) in wit.interfaces() {
        text += &module(wit, name, id)?;
    }
    Ok(Files::from([("mod.rs".to_owned(), formatted(&text)?)]))
}

fn module(wit: Wit<'_>, name: &str, id: InterfaceId) -> Result<String, String> {
    let mut text = String::new();
    for (name, own) in wit.types(id) {
        let name = pascal(name);
        match wit.shape(&Type::Id(own)) {
            Shape::Enum(_, cases) => {
                let cases: Vec<_> = cases.cases.iter().map(|case| pascal(&case.name)).collect();
                let cases = cases.join(", ");
                let _ = writeln!(text, "#[derive(Clone, Copy, Debug, PartialEq, Eq)]\npub enum {name} {{ {cases} }}\n");
            }
            Shape::Record(_, record) => {
                let _ = writeln!(text, "#[derive(Clone, Debug)]\npub struct {name} {{");
                for field in &record.fields {
                    let _ = writeln!(text, "pub {}: {},", snake(&field.name), owned(wit, &field.ty, id)?);
                }
                text += "}\n\n";
            }
            _ => {}
        }
    }
    let mut guest = String::new();
    for (name, own) in wit.resources(id) {
        let class = pascal(name);
        let _ = writeln!(guest, "type {class}: Guest{class};");
        text += &resource(&class, &declared(wit, id, Some(own))?);
    }
    guest += &declared(wit, id, None)?;
    if !guest.is_empty() {
        let _ = writeln!(text, "pub trait Guest {{\n{guest}}}");
    }
    let uses: String = [("String", "string"), ("Vec", "vec")]
        .into_iter()
        .filter(|(name, _)| text.contains(name))
        .map(|(name, module)| format!("use alloc::{module}::{name};\n"))
        .collect();
    Ok(format!("pub mod {} {{\n{uses}\n{text}}}\n\n", snake(name)))
}

/// The trait of a resource, and the types that wrap an owned and a borrowed object.
fn resource(class: &str, functions: &str) -> String {
    format!(
        "pub trait Guest{class}: Sized {{
{functions}}}

/// A [`Guest{class}`] that a function makes.
pub struct {class}(pub <crate::Component as Guest>::{class});

impl {class} {{
    pub fn new(made: <crate::Component as Guest>::{class}) -> Self {{
        Self(made)
    }}
}}

/// A [`Guest{class}`] that is passed.
pub struct {class}Borrow<'a>(pub &'a <crate::Component as Guest>::{class});

impl {class}Borrow<'_> {{
    pub fn get(&self) -> &<crate::Component as Guest>::{class} {{
        self.0
    }}
}}

"
    )
}

/// The functions of a trait.
fn declared(wit: Wit<'_>, id: InterfaceId, resource: Option<TypeId>) -> Result<String, String> {
    wit.signatures(id, resource).map(|signature| function(wit, &signature, id)).collect()
}

fn function(wit: Wit<'_>, signature: &Signature<'_>, id: InterfaceId) -> Result<String, String> {
    let mut all = if signature.is_method { vec!["&self".to_owned()] } else { Vec::new() };
    for (name, ty) in &signature.parameters {
        all.push(format!("{}: {}", snake(name), owned(wit, ty, id)?));
    }
    let value = match signature.value {
        _ if signature.is_constructor => Some("Self".to_owned()),
        value => value.map(|ty| owned(wit, &ty, id)).transpose()?,
    };
    let result = match (value, signature.fails) {
        (value, true) => format!(" -> Result<{}, super::types::Failure>", value.as_deref().unwrap_or("()")),
        (Some(value), false) => format!(" -> {value}"),
        (None, false) => String::new(),
    };
    let name = if signature.is_constructor { "new".to_owned() } else { snake(signature.name) };
    Ok(format!("fn {name}({}){result};\n", all.join(", ")))
}

fn owned(wit: Wit<'_>, ty: &Type, within: InterfaceId) -> Result<String, String> {
    types::owned(wit, ty, &|id| Ok(types::path_within(wit, id, within)))
}
