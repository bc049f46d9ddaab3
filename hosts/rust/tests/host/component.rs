//! What is embedded: components that import nothing, small, and made for the interface of this crate.

use std::sync::LazyLock;

use wasmtime::Engine;
use wasmtime::component::Component;
use wasmtime::component::types::ComponentItem;

/// Each with the most bytes that it may have, and with the interfaces that it exports, and no others.
const COMPONENTS: [(&str, &[u8], usize, &[&str]); 3] = [
    ("samedeal.wasm", include_bytes!("../../samedeal.wasm"), 195_000, &["types", "sampling", "mesh", "launch"]),
    ("planning.wasm", include_bytes!("../../planning.wasm"), 390_000, &["types", "shards", "ledger", "read"]),
    ("batching.wasm", include_bytes!("../../batching.wasm"), 345_000, &["types", "batches", "collation"]),
];

/// Each of them as wasmtime reads it, in the same order.
static READ: LazyLock<(Engine, Vec<Component>)> = LazyLock::new(|| {
    let engine = Engine::default();
    let read = COMPONENTS.iter().map(|(_, bytes, ..)| Component::new(&engine, bytes).unwrap()).collect();
    (engine, read)
});

#[test]
fn they_import_nothing() {
    let (engine, read) = &*READ;
    for ((name, ..), component) in COMPONENTS.iter().zip(read) {
        let imports = component.component_type().imports(engine).map(|(name, _)| name.to_owned()).collect::<Vec<_>>();
        assert_eq!(imports, [""; 0], "{name}");
    }
}

#[test]
fn they_export_the_interfaces_of_this_version() {
    let (engine, read) = &*READ;
    for ((name, _, _, interfaces), component) in COMPONENTS.iter().zip(read) {
        let exports = component.component_type();
        let mut found = Vec::new();
        for (export, item) in exports.exports(engine) {
            assert!(matches!(item.ty, ComponentItem::ComponentInstance(_)), "{name}: {export}");
            found.push(export.to_owned());
        }
        found.sort_unstable();
        let version = samedeal::VERSION;
        let mut expected = interfaces.iter().map(|it| format!("samedeal:deal/{it}@{version}")).collect::<Vec<_>>();
        expected.sort_unstable();
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn they_are_small() {
    for (name, bytes, most, _) in COMPONENTS {
        assert!(bytes.len() < most, "{name}: {} bytes", bytes.len());
    }
}

#[test]
fn the_default_order_comes_first() {
    let orders = samedeal::orders().unwrap();
    assert_eq!(orders[0], "feistel");
    for order in orders {
        let sampler = samedeal::Sampler::builder(5).order(&order).build().unwrap();
        let mut seen: Vec<u64> = sampler.indices(..).unwrap();
        seen.sort_unstable();
        assert_eq!(seen, [0, 1, 2, 3, 4], "{order}");
    }
}
