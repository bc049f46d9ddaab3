//! Rules that every file of the WIT must follow.

use std::collections::BTreeSet;

use wit_parser::{FunctionKind, Resolve, Type, TypeDefKind, TypeId};

/// Whether a type contains `u64` or `s64` directly, not through an alias such as `u53`.
fn is_wide(resolve: &Resolve, ty: &Type) -> bool {
    let within = |id: TypeId| match &resolve.types[id].kind {
        TypeDefKind::Option(inner) | TypeDefKind::List(inner) => is_wide(resolve, inner),
        TypeDefKind::Tuple(tuple) => tuple.types.iter().any(|ty| is_wide(resolve, ty)),
        TypeDefKind::Result(result) => [result.ok, result.err].iter().flatten().any(|ty| is_wide(resolve, ty)),
        _ => false,
    };
    match *ty {
        Type::U64 | Type::S64 => true,
        Type::Id(id) => within(id),
        _ => false,
    }
}

/// Each number of 64 bits is a `u53`, or "64-bit" is in its documentation or in that of the function's resource.
#[test]
fn numbers_of_64_bits_say_so() {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../wit")).unwrap();
    let (mut silent, mut said) = (BTreeSet::new(), 0);
    let mut see = |place: String, docs: &[Option<&str>]| {
        if docs.iter().flatten().any(|text| text.contains("64-bit")) {
            said += 1;
        } else {
            silent.insert(place);
        }
    };
    let docs = |id: TypeId| resolve.types[id].docs.contents.as_deref();
    for (interface, &id) in &resolve.packages[package].interfaces {
        for (name, &id) in &resolve.interfaces[id].types {
            if let TypeDefKind::Record(record) = &resolve.types[id].kind {
                for field in record.fields.iter().filter(|field| is_wide(&resolve, &field.ty)) {
                    see(format!("{interface}.{name}.{}", field.name), &[field.docs.contents.as_deref()]);
                }
            }
        }
        for (name, function) in &resolve.interfaces[id].functions {
            let resource = match function.kind {
                FunctionKind::Method(id) | FunctionKind::Static(id) | FunctionKind::Constructor(id) => docs(id),
                _ => None,
            };
            let mut types = function.params.iter().map(|parameter| &parameter.ty).chain(&function.result);
            if types.any(|ty| is_wide(&resolve, ty)) {
                see(format!("{interface}.{name}"), &[function.docs.contents.as_deref(), resource]);
            }
        }
    }
    assert!(silent.is_empty(), "u53, or documented as 64-bit: {silent:?}");
    assert!(said > 10, "only {said} numbers have 64 bits");
}
