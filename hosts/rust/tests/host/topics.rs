//! The list of names by topic, on the first page of the documentation, has every public name of the crate.

const CRATE: &str = include_str!("../../src/lib.rs");
const TOPICS: &str = include_str!("../../src/topics.md");

/// The names that an item makes public. An item is, for example, `use index::Index`, `use texts::{differences,
/// inspect}` or `fn plain_orders()`.
fn names(item: &str) -> Vec<&str> {
    let (kind, rest) = item.split_once(' ').unwrap();
    let listed = match kind {
        "use" => rest.split_once('{').map_or_else(|| rest.rsplit("::").next().unwrap(), |(_, list)| list),
        "fn" | "const" | "static" | "mod" => rest.split(['(', ':']).next().unwrap(),
        other => panic!("{other} is not known here"),
    };
    listed.split([',', '}']).map(str::trim).filter(|name| !name.is_empty()).collect()
}

#[test]
fn every_public_name_belongs_to_a_topic() {
    // An item may have several lines. It ends with `;`, or with its body.
    let items = CRATE.split("\npub ").skip(1).map(|item| item.split([';', '=']).next().unwrap());
    let found: Vec<&str> = items.flat_map(names).collect();
    assert!(
        found.contains(&"join_indices") && found.contains(&"plain_orders") && found.contains(&"COMPONENT"),
        "{found:?}"
    );
    for name in found {
        let is_there = [format!("`{name}`"), format!("`{name}()`")].iter().any(|form| TOPICS.contains(form));
        // The first page links the guide above the list.
        assert!(is_there || name == "guide", "src/topics.md lacks {name}");
    }
}
