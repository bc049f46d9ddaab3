//! What is embedded: components that import nothing, small, and made for the interface of this crate.

use wit_parser::decoding::{DecodedWasm, decode};
use wit_parser::{Resolve, WorldId, WorldItem};

/// Each with the most bytes that it may have, and with the interfaces that it exports, and no others.
const COMPONENTS: [(&str, &[u8], usize, &[&str]); 4] = [
    ("samedeal.wasm", include_bytes!("../../samedeal.wasm"), 230_000, &["types", "sampling", "mesh", "launch"]),
    ("composing.wasm", include_bytes!("../../composing.wasm"), 388_000, &["types", "sampling", "mesh", "launch"]),
    ("planning.wasm", include_bytes!("../../planning.wasm"), 612_000, &["types", "shards", "ledger", "read", "splits"]),
    ("batching.wasm", include_bytes!("../../batching.wasm"), 574_000, &["types", "batches", "collation", "steps"]),
];

/// The world of a component, which is read from its bytes: nothing is compiled for it.
fn world_of(bytes: &[u8]) -> (Resolve, WorldId) {
    match decode(bytes).unwrap() {
        DecodedWasm::Component(resolve, world) => (resolve, world),
        DecodedWasm::WitPackage(..) => panic!("no component"),
    }
}

#[test]
fn they_import_nothing() {
    for (name, bytes, ..) in COMPONENTS {
        let (resolve, world) = world_of(bytes);
        let imports = &resolve.worlds[world].imports;
        assert!(imports.is_empty(), "{name}: {imports:?}");
    }
}

#[test]
fn they_export_the_interfaces_of_this_version() {
    for (name, bytes, _, interfaces) in COMPONENTS {
        let (resolve, world) = world_of(bytes);
        let mut found = Vec::new();
        for (export, item) in &resolve.worlds[world].exports {
            assert!(matches!(item, WorldItem::Interface { .. }), "{name}: {export:?}");
            found.push(resolve.name_world_key(export));
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
