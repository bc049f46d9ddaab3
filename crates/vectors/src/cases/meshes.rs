//! Meshes.

use matrix::format::{Axis, Call, Case, Mesh, Subject};

use super::asked;

pub fn cases() -> Vec<Case> {
    vec![whole(8, &[divide("dp", 2), repeat("tp", 2), repeat("cp", 2)])]
}

fn divide(name: &str, size: u32) -> Axis {
    Axis { name: name.into(), size, role: "divide".into() }
}

fn repeat(name: &str, size: u32) -> Axis {
    Axis { name: name.into(), size, role: "repeat".into() }
}

/// Everything about every rank.
fn whole(world: u32, axes: &[Axis]) -> Case {
    let calls = (0..world).flat_map(|rank| [Call::Coordinates { rank }, Call::DataRank { rank }, Call::Peers { rank }]);
    case(world, axes, [Call::DataWorld].into_iter().chain(calls))
}

fn case(world: u32, axes: &[Axis], calls: impl IntoIterator<Item = Call>) -> Case {
    let text: Vec<_> = axes.iter().map(|axis| format!("{} {} {}", axis.name, axis.size, axis.role)).collect();
    let name = format!("{world} ranks: {}", text.join(", "));
    asked(&name, Subject::Mesh(Mesh { world, axes: axes.to_vec() }), calls)
}
