//! Names of the WIT in Python, all in one place.

use std::collections::BTreeSet;

use wit_parser::{Function, FunctionKind, InterfaceId, PackageId, Resolve, Type, TypeDefKind, TypeId};

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
    let name = name.replace('-', "_");
    if TAKEN.contains(&name.as_str()) { format!("{name}_") } else { name }
}

/// A class.
pub fn pascal(name: &str) -> String {
    let word = |word: &str| word[..1].to_uppercase() + &word[1..];
    name.split('-').map(word).collect()
}

/// A constant.
pub fn upper(name: &str) -> String {
    name.replace('-', "_").to_uppercase()
}

/// The layout of a type. It differs from the class also where a name has one letter.
pub fn layout(name: &str) -> String {
    format!("ABI_{}", upper(name))
}

/// The name of a function within its interface or resource.
pub fn item(function: &Function) -> &str {
    match function.kind {
        FunctionKind::Constructor(_) => "constructor",
        _ => function.name.rsplit(['.', ']']).next().unwrap_or_default(),
    }
}

/// What a word in the documentation may name.
#[derive(Clone, Default)]
pub struct Known {
    /// Fields, parameters and functions.
    pub values: BTreeSet<String>,
    pub interfaces: BTreeSet<String>,
    /// Records, variants and resources.
    pub classes: BTreeSet<String>,
}

impl Known {
    /// What a word may name in the documentation of an interface.
    pub fn of(resolve: &Resolve, package: PackageId, within: InterfaceId) -> Known {
        let mut known = Known::default();
        for (name, &id_of) in &resolve.packages[package].interfaces {
            known.interfaces.insert(name.clone());
            let interface = &resolve.interfaces[id_of];
            for function in interface.functions.values() {
                // Elsewhere, `pad`, `split` and their like are names in recipes, and not these functions and types.
                if id_of == within || function.kind.resource().is_some() || function.name.contains('-') {
                    known.values.insert(item(function).to_owned());
                }
                known.values.extend(function.params.iter().map(|parameter| parameter.name.clone()));
            }
            for (name, &id) in &interface.types {
                match &resolve.types[id].kind {
                    TypeDefKind::Record(record) => {
                        if id_of == within || name.contains('-') {
                            known.classes.insert(name.clone());
                        }
                        known.values.extend(record.fields.iter().map(|field| field.name.clone()));
                    }
                    TypeDefKind::Variant(_) | TypeDefKind::Resource if id_of == within || name.contains('-') => {
                        known.classes.insert(name.clone());
                    }
                    _ => {}
                }
            }
        }
        known
    }
}

/// All types that a caller passes, and what they hold.
pub fn passed(resolve: &Resolve, package: PackageId) -> BTreeSet<TypeId> {
    let mut found = BTreeSet::new();
    for &id in resolve.packages[package].interfaces.values() {
        for function in resolve.interfaces[id].functions.values() {
            function.params.iter().for_each(|parameter| reach(resolve, &parameter.ty, &mut found));
        }
    }
    found
}

fn reach(resolve: &Resolve, ty: &Type, found: &mut BTreeSet<TypeId>) {
    let &Type::Id(id) = ty else { return };
    if !found.insert(id) {
        return;
    }
    let all: Vec<Type> = match &resolve.types[id].kind {
        TypeDefKind::Record(record) => record.fields.iter().map(|field| field.ty).collect(),
        TypeDefKind::Tuple(tuple) => tuple.types.clone(),
        TypeDefKind::Variant(variant) => variant.cases.iter().filter_map(|case| case.ty).collect(),
        TypeDefKind::Option(inner) | TypeDefKind::List(inner) | TypeDefKind::Type(inner) => vec![*inner],
        _ => vec![],
    };
    all.iter().for_each(|ty| reach(resolve, ty, found));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_python_stay_python_s() {
        assert_eq!(snake("batch-size"), "batch_size");
        assert_eq!(snake("from"), "from_");
        assert_eq!(snake("core"), "core_");
        assert_eq!(pascal("batch-stream"), "BatchStream");
        assert_eq!(layout("step-bounds"), "ABI_STEP_BOUNDS");
    }
}
