//! What is embedded: a component that imports nothing, small, and made for the interface of this crate.

use wasmtime::Engine;
use wasmtime::component::Component;
use wasmtime::component::types::ComponentItem;

const COMPONENT: &[u8] = include_bytes!("../samedeal.wasm");

#[test]
fn it_imports_nothing() {
    let engine = Engine::default();
    let component = Component::new(&engine, COMPONENT).unwrap();
    let imports = component.component_type().imports(&engine).map(|(name, _)| name.to_owned()).collect::<Vec<_>>();
    assert_eq!(imports, [""; 0]);
}

#[test]
fn it_exports_the_interface_of_this_version() {
    let engine = Engine::default();
    let component = Component::new(&engine, COMPONENT).unwrap();
    let exports = component.component_type();
    let names = exports.exports(&engine).map(|(name, _)| name.to_owned()).collect::<Vec<_>>();
    let version = samedeal::VERSION;
    for interface in ["types", "sampling"] {
        let name = format!("samedeal:deal/{interface}@{version}");
        let item = exports.exports(&engine).find(|(found, _)| *found == name).map(|(_, item)| item.ty);
        assert!(matches!(item, Some(ComponentItem::ComponentInstance(_))), "{name} is not among {names:?}");
    }
}

#[test]
fn it_is_small() {
    assert!(COMPONENT.len() < 150_000, "{} bytes", COMPONENT.len());
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
