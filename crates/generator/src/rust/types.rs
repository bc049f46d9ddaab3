//! Types of the WIT in Rust.

use wit_parser::{InterfaceId, Type, TypeId};

use crate::wit::{Shape, Wit};
use crate::words::{pascal, snake};

/// A function that names a record, an enum or a resource in the module of the generated code.
pub type Named<'a> = &'a dyn Fn(TypeId) -> Result<String, String>;

/// The Rust type of an owned value.
pub fn owned(wit: Wit<'_>, ty: &Type, named: Named<'_>) -> Result<String, String> {
    let owned = |ty: &Type| owned(wit, ty, named);
    Ok(match wit.shape(ty) {
        Shape::Plain(Type::Bool) => "bool".to_owned(),
        Shape::Plain(Type::U32) => "u32".to_owned(),
        Shape::Plain(Type::U64) => "u64".to_owned(),
        Shape::Plain(Type::S64) => "i64".to_owned(),
        Shape::Plain(Type::String) => "String".to_owned(),
        Shape::List(ty) => format!("Vec<{}>", owned(&ty)?),
        Shape::Option(ty) => format!("Option<{}>", owned(&ty)?),
        Shape::Tuple(types) => {
            format!("({})", types.iter().map(owned).collect::<Result<Vec<_>, _>>()?.join(", "))
        }
        Shape::Record(id, _) | Shape::Enum(id, _) | Shape::Own(id) => named(id)?,
        Shape::Borrow(id) => format!("{}Borrow<'_>", named(id)?),
        _ => return wit.refused(ty, "Rust"),
    })
}

/// The Rust type of an argument: texts and lists are borrowed.
pub fn passed(wit: Wit<'_>, ty: &Type, named: Named<'_>) -> Result<String, String> {
    Ok(match wit.shape(ty) {
        Shape::Plain(Type::String) => "&str".to_owned(),
        Shape::List(ty) => format!("&[{}]", owned(wit, &ty, named)?),
        Shape::Option(ty) => format!("Option<{}>", passed(wit, &ty, named)?),
        _ => owned(wit, ty, named)?,
    })
}

/// The path of a type, relative to the module that contains a module for each interface.
pub fn path(wit: Wit<'_>, id: TypeId) -> String {
    format!("{}::{}", snake(wit.owner_name(id)), pascal(wit.name(id)))
}

/// The path of a type, relative to the module of the interface `within`.
pub fn path_within(wit: Wit<'_>, id: TypeId, within: InterfaceId) -> String {
    if wit.owner(id) == Some(within) { pascal(wit.name(id)) } else { format!("super::{}", path(wit, id)) }
}
