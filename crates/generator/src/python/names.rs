//! Names of the WIT in Python, all in one place.

use std::collections::BTreeSet;

use wit_parser::{InterfaceId, Type, TypeId};

use crate::wit::{Shape, Wit};

/// Keywords of Python, and names that the generated code uses itself. A name of the WIT that is one of them gets an
/// underscore at its end.
const TAKEN: &[&str] = &[
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del",
    "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal",
    "not", "or", "pass", "raise", "return", "try", "while", "with", "yield", // keywords
    "abi", "bool", "cls", "core", "drop", "handle", "int", "np", "self", "str", "tuple",
];

/// Methods of a tuple, and so of a record, which is a named tuple: a field with one of these names hides the method.
pub const TUPLE_METHODS: &[&str] = &["count", "index"];

/// The Python name of a field, a parameter, a function or a module.
pub fn snake(name: &str) -> String {
    let name = crate::words::snake(name);
    if TAKEN.contains(&name.as_str()) { format!("{name}_") } else { name }
}

/// The Python name of a constant.
pub fn upper(name: &str) -> String {
    name.replace('-', "_").to_uppercase()
}

/// The Python name of the layout of a type. The prefix makes it differ from the class even if the name has only one
/// letter.
pub fn layout(name: &str) -> String {
    format!("ABI_{}", upper(name))
}

/// The names of the WIT that a word in the documentation may mean.
#[derive(Clone, Default)]
pub struct Known {
    /// Fields, parameters and functions.
    pub values: BTreeSet<String>,
    pub interfaces: BTreeSet<String>,
    /// Records and resources.
    pub classes: BTreeSet<String>,
}

impl Known {
    /// The names for the documentation of an interface. Names without `-` from other interfaces are left out: there,
    /// words such as `pad` and `split` are values in recipes, not functions or types.
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

/// All records that callers pass as arguments, and the records within them.
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
