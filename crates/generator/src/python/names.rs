//! Names of the WIT in Python, all in one place.

use std::collections::BTreeSet;

use wit_parser::{InterfaceId, Type, TypeId};

use crate::wit::{Shape, Wit};

/// Keywords of Python, and names that the generated code uses itself: they get an underscore at their end.
const TAKEN: &[&str] = &[
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del",
    "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal",
    "not", "or", "pass", "raise", "return", "try", "while", "with", "yield", // keywords
    "abi", "bool", "cls", "core", "drop", "handle", "int", "np", "self", "str", "tuple",
];

/// Methods of a tuple, and so of a record: a field of such a name hides one.
pub const TUPLE_METHODS: &[&str] = &["count", "index"];

/// A field, a parameter, a function or a module.
pub fn snake(name: &str) -> String {
    let name = crate::words::snake(name);
    if TAKEN.contains(&name.as_str()) { format!("{name}_") } else { name }
}

/// A constant.
pub fn upper(name: &str) -> String {
    name.replace('-', "_").to_uppercase()
}

/// The layout of a type. It differs from the class also where a name has one letter.
pub fn layout(name: &str) -> String {
    format!("ABI_{}", upper(name))
}

/// The names that a word in the documentation may stand for.
#[derive(Clone, Default)]
pub struct Known {
    /// Fields, parameters and functions.
    pub values: BTreeSet<String>,
    pub interfaces: BTreeSet<String>,
    /// Records and resources.
    pub classes: BTreeSet<String>,
}

impl Known {
    /// What a word may name in the documentation of an interface. Elsewhere, `pad`, `split` and their like are names in recipes, and not
    /// functions and types.
    pub fn of(wit: Wit<'_>, within: InterfaceId) -> Known {
        let values = wit.names(|own| own.interface == within || own.resource.is_some() || own.name.contains('-'));
        let types = wit.interfaces().flat_map(|(_, of)| wit.types(of).map(move |(name, id)| (of, name, id)));
        let is_class = |&(of, name, id): &(InterfaceId, &str, TypeId)| {
            (of == within || name.contains('-')) && !matches!(wit.shape(&Type::Id(id)), Shape::Enum(..))
        };
        Known {
            values: values.into_iter().map(str::to_owned).collect(),
            interfaces: wit.interfaces().map(|(name, _)| name.to_owned()).collect(),
            classes: types.filter(is_class).map(|(_, name, _)| name.to_owned()).collect(),
        }
    }
}

/// All records that a caller passes, and those that they hold.
pub fn passed(wit: Wit<'_>) -> BTreeSet<TypeId> {
    let mut found = BTreeSet::new();
    for signature in wit.interfaces().flat_map(|(_, id)| wit.functions(id)) {
        signature.parameters.iter().for_each(|(_, ty)| reach(wit, ty, &mut found));
    }
    found
}

fn reach(wit: Wit<'_>, ty: &Type, found: &mut BTreeSet<TypeId>) {
    match wit.shape(ty) {
        Shape::List(ty) | Shape::Option(ty) => reach(wit, &ty, found),
        Shape::Tuple(types) => types.iter().for_each(|ty| reach(wit, ty, found)),
        Shape::Record(id, record) if found.insert(id) => {
            record.fields.iter().for_each(|field| reach(wit, &field.ty, found));
        }
        _ => {}
    }
}
