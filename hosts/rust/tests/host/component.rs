//! The embedded component: it imports nothing, is small, and exports all interfaces.

use wit_parser::WorldItem;
use wit_parser::decoding::{DecodedWasm, decode};

/// The largest size of the component, in bytes.
const MOST: usize = 861_000;
/// All interfaces that the component exports.
const INTERFACES: [&str; 12] = [
    "batches",
    "collation",
    "launch",
    "ledger",
    "mesh",
    "readings",
    "sampling",
    "shards",
    "splits",
    "steps",
    "texts",
    "types",
];

#[test]
fn it_imports_nothing_and_exports_the_interfaces() {
    let DecodedWasm::Component(resolve, world) = decode(samedeal::COMPONENT).unwrap() else { panic!("no component") };
    let world = &resolve.worlds[world];
    assert!(world.imports.is_empty(), "{:?}", world.imports);
    assert!(world.exports.values().all(|item| matches!(item, WorldItem::Interface { .. })));
    let mut found = world.exports.keys().map(|export| resolve.name_world_key(export)).collect::<Vec<_>>();
    found.sort_unstable();
    let name = |export: &str| Some(export.strip_prefix("samedeal:deal/")?.split_once("@0.1.")?.0.to_owned());
    let names: Vec<_> = found.iter().filter_map(|export| name(export)).collect();
    // Versions 0.1.x export the names of 0.1.0, so that hosts that were built against 0.1.0 find them.
    assert_eq!(names, INTERFACES, "{found:?}");
}

#[test]
fn it_is_small() {
    assert!(samedeal::COMPONENT.len() < MOST, "{} bytes", samedeal::COMPONENT.len());
}

#[test]
fn the_default_order_comes_first() {
    let orders = samedeal::plain_orders().unwrap();
    assert_eq!(orders[0], "feistel");
    for order in orders {
        let sampler = samedeal::Sampler::builder(5).order(&order).build().unwrap();
        let mut seen: Vec<u64> = sampler.indices(..).unwrap();
        seen.sort_unstable();
        assert_eq!(seen, [0, 1, 2, 3, 4], "{order}");
    }
}
