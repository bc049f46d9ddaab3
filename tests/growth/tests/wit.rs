//! The current interface only adds to the copy: nothing of the copy is changed or removed.

use std::collections::BTreeMap;
use std::path::Path;

use wit_parser::{Resolve, Type, TypeDefKind, TypeId, TypeOwner};

/// The facts of an interface that are compared: every name, with its definition in one line.
fn facts(folder: &Path) -> BTreeMap<String, String> {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_dir(folder).unwrap();
    let mut found = BTreeMap::new();
    for (name, &id) in &resolve.packages[package].worlds {
        let world = &resolve.worlds[id];
        assert!(world.imports.is_empty(), "{name} imports something");
        for key in world.exports.keys() {
            found.insert(format!("world {name}: {}", resolve.name_world_key(key)), "an export".to_owned());
        }
    }
    for (interface, &id) in &resolve.packages[package].interfaces {
        let interface_of = &resolve.interfaces[id];
        for (name, &ty) in &interface_of.types {
            found.insert(format!("{interface}.{name}"), defined(&resolve, ty));
        }
        for (name, function) in &interface_of.functions {
            let parameters: Vec<_> =
                function.params.iter().map(|param| format!("{}: {}", param.name, shown(&resolve, &param.ty))).collect();
            let result = function.result.as_ref().map(|ty| shown(&resolve, ty));
            found.insert(format!("{interface}.{name}()"), format!("{parameters:?} -> {result:?}"));
        }
    }
    found
}

/// The definition of a type in one line.
fn defined(resolve: &Resolve, id: TypeId) -> String {
    let ty = |ty: &Type| shown(resolve, ty);
    match &resolve.types[id].kind {
        TypeDefKind::Record(record) => {
            let fields: Vec<_> =
                record.fields.iter().map(|field| format!("{}: {}", field.name, ty(&field.ty))).collect();
            format!("record {fields:?}")
        }
        TypeDefKind::Enum(of) => format!("enum {:?}", of.cases.iter().map(|case| &case.name).collect::<Vec<_>>()),
        TypeDefKind::Variant(of) => {
            let cases: Vec<_> = of.cases.iter().map(|case| (&case.name, case.ty.as_ref().map(ty))).collect();
            format!("variant {cases:?}")
        }
        TypeDefKind::Tuple(of) => format!("tuple {:?}", of.types.iter().map(ty).collect::<Vec<_>>()),
        TypeDefKind::List(of) => format!("list<{}>", ty(of)),
        TypeDefKind::Option(of) => format!("option<{}>", ty(of)),
        TypeDefKind::Result(of) => format!("result<{:?}, {:?}>", of.ok.as_ref().map(ty), of.err.as_ref().map(ty)),
        TypeDefKind::Type(of) => format!("= {}", ty(of)),
        TypeDefKind::Resource => "resource".to_owned(),
        TypeDefKind::Handle(handle) => match handle {
            wit_parser::Handle::Own(of) => format!("own<{}>", ty(&Type::Id(*of))),
            wit_parser::Handle::Borrow(of) => format!("borrow<{}>", ty(&Type::Id(*of))),
        },
        other => panic!("{} is compared nowhere yet", other.as_str()),
    }
}

fn shown(resolve: &Resolve, ty: &Type) -> String {
    let Type::Id(id) = *ty else { return format!("{ty:?}") };
    let def = &resolve.types[id];
    match (&def.name, def.owner) {
        (Some(name), TypeOwner::Interface(owner)) => {
            format!("{}.{name}", resolve.interfaces[owner].name.as_deref().unwrap_or_default())
        }
        _ => defined(resolve, id),
    }
}

/// The names of the first interface that are missing or different in the second.
fn lost(earlier: &BTreeMap<String, String>, later: &BTreeMap<String, String>) -> Vec<String> {
    earlier.iter().filter(|(name, of)| later.get(*name) != Some(of)).map(|(name, _)| name.clone()).collect()
}

#[test]
fn the_interface_only_grows() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (earlier, later) = (facts(&here.join("wit")), facts(&here.join("../../wit")));
    assert!(earlier.len() > 100, "{} names", earlier.len());
    assert_eq!(lost(&earlier, &later), [""; 0], "changed or gone");
}

#[test]
fn a_change_is_noticed() {
    let earlier = facts(&Path::new(env!("CARGO_MANIFEST_DIR")).join("wit"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("changed");
    std::fs::create_dir_all(&folder).unwrap();
    for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("wit")).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let text = text.replace("        field: string,\n", "        field: string,\n        more: string,\n");
        let text = text.replace("flush: func();", "flush: func(more: bool);\n        added: func();");
        std::fs::write(folder.join(path.file_name().unwrap()), text).unwrap();
    }
    let changed = facts(&folder);
    assert_eq!(lost(&earlier, &changed), ["batches.[method]batch-stream.flush()", "types.failure"]);
    // An addition is no loss.
    assert!(changed.contains_key("batches.[method]batch-stream.added()"));
}
