//! Meshes of real jobs, odd meshes, and contradictions.

use matrix::format::{Axis, Call, Case, Mesh, Subject};

use super::{MAX_COUNT, asked};

pub fn cases() -> Vec<Case> {
    let mut cases = vec![
        // Data, tensor and context parallelism in every order of the axes.
        whole(8, &[divide("dp", 2), repeat("tp", 2), repeat("cp", 2)]),
        whole(8, &[repeat("cp", 2), divide("dp", 2), repeat("tp", 2)]),
        whole(8, &[repeat("tp", 2), repeat("cp", 2), divide("dp", 2)]),
        whole(8, &[divide("dp", 2), repeat("tp", 4)]),
        whole(8, &[repeat("tp", 4), divide("dp", 2)]),
        // Replicated and sharded data parallelism: the sizes of two axes with the role `shard` multiply, apart or side
        // by side.
        whole(8, &[divide("replicate", 2), divide("shard", 4)]),
        whole(12, &[divide("replicate", 2), repeat("tp", 2), divide("shard", 3)]),
        whole(30, &[divide("pp", 3), repeat("tp", 2), divide("dp", 5)]),
        // No axis with the role `shard`, only such axes, axes of one rank, and no axes.
        whole(4, &[repeat("tp", 4)]),
        whole(5, &[divide("dp", 5)]),
        whole(3, &[repeat("a", 1), divide("b", 3), divide("c", 1), repeat("d", 1)]),
        whole(1, &[]),
        whole(1, &[divide("dp", 1)]),
        // The name of an axis may be any text.
        whole(2, &[divide("", 2), repeat("\u{1F0A1} é", 1)]),
        whole(2, &[divide("DP", 1), repeat("dp", 2)]),
    ];
    cases.extend([large(), questions(), too_wide()]);
    let long = "é\u{1F0A1}".repeat(32);
    let most = u32::MAX;
    for (world, axes) in [
        // Axes whose sizes do not multiply to the world size. Some products do not fit into 64 or 128 bits.
        (8, vec![divide("dp", 2), repeat("tp", 2)]),
        (8, vec![divide("dp", 16)]),
        (2, vec![]),
        (most, vec![]),
        (1, vec![divide(&long, 2)]),
        (1, vec![divide("a", most), divide("b", most)]),
        (most, vec![divide("a", 65_536), repeat("b", 65_536)]),
        (most, vec![divide("a", most), divide("b", most), divide("c", most), divide("d", most)]),
        (8, vec![divide("a", most), divide("b", most), divide("c", most), divide("d", most), divide("e", 2)]),
        // Products that are 0 modulo 2^64 and modulo 2^128: 2^128 and 2^1240.
        (1, (0..4).map(|i| divide(&i.to_string(), 1 << 31)).chain([repeat("x", 16)]).collect()),
        (1, (0..40).map(|i| divide(&i.to_string(), 1 << 31)).collect()),
        // An axis of size 0, and two axes with one name.
        (8, vec![divide("dp", 0), repeat("tp", 8)]),
        (8, vec![divide("dp", 8), repeat("tp", 0)]),
        (8, vec![divide("dp", 2), repeat("dp", 4)]),
        (8, vec![divide("", 2), repeat("tp", 2), repeat("", 2)]),
        (4, vec![divide(&long, 2), divide(&long, 2)]),
        // The largest allowed number of axes, and one more.
        (1, (0..64).map(|i| divide(&i.to_string(), 1)).collect()),
        (1, (0..65).map(|i| divide(&i.to_string(), 1)).collect()),
        // The first broken rule decides: the world, the number of axes, then axis by axis, then the product.
        (0, (0..65).map(|i| divide(&i.to_string(), 1)).collect()),
        (1, (0..65).map(|_| divide("dp", 0)).collect()),
        (0, vec![]),
        (0, vec![divide("dp", 0)]),
        (8, vec![divide("dp", 2), repeat("dp", 0)]),
        (8, vec![divide("dp", 2), repeat("dp", 2), repeat("tp", 0)]),
        (8, vec![divide("dp", 2), repeat("tp", 0), repeat("dp", 2)]),
    ] {
        cases.push(case(world, &axes, []));
    }
    cases
}

/// The largest world size: no product overflows.
fn large() -> Case {
    // 2^32 - 1 is 3 * 5 * 17 * 257 * 65,537.
    let axes = [divide("a", 3), repeat("b", 5), divide("c", 17), repeat("d", 257), divide("e", 65_537)];
    let ranks = [0, 1, 65_536, 65_537, u32::MAX / 2, u32::MAX - 1];
    let calls = ranks.into_iter().flat_map(|rank| [Call::Coordinates { rank }, Call::DataRank { rank }]);
    let calls = [Call::DataWorldSize].into_iter().chain(calls);
    let ends = [rank_at(&[2, 4, 16, 256, 65_536]), rank_at(&[2, 4, 16, 256, 65_537]), rank_at(&[0, 0, 0, 0, 0])];
    case(u32::MAX, &axes, calls.chain(ends))
}

/// Questions that fail, with others between them that must still work.
fn questions() -> Case {
    let mut calls = Vec::new();
    for rank in [6, u32::MAX, 5] {
        calls.extend([Call::Coordinates { rank }, Call::DataRank { rank }, Call::Peers { rank }]);
    }
    for coordinates in [&[][..], &[1], &[1, 2, 0], &[2, 0], &[0, 3], &[2, 3], &[u32::MAX, u32::MAX], &[1, 2]] {
        calls.push(rank_at(coordinates));
    }
    case(6, &[divide("dp", 2), repeat("tp", 3)], calls)
}

/// More peers than one answer can have.
fn too_wide() -> Case {
    let world = 2 * MAX_COUNT;
    let calls = [Call::Peers { rank: 0 }, Call::Peers { rank: world }, Call::Coordinates { rank: world - 1 }];
    case(world, &[repeat("tp", world)], calls)
}

fn divide(name: &str, size: u32) -> Axis {
    Axis { name: name.into(), size, role: "shard".into() }
}

fn repeat(name: &str, size: u32) -> Axis {
    Axis { name: name.into(), size, role: "replicate".into() }
}

fn rank_at(coordinates: &[u32]) -> Call {
    Call::RankAt { coordinates: coordinates.to_vec() }
}

/// All questions about all ranks.
fn whole(world: u32, axes: &[Axis]) -> Case {
    let mut calls = vec![Call::DataWorldSize];
    for rank in 0..world {
        let mut rest = rank;
        let mut coordinates: Vec<_> = axes
            .iter()
            .rev()
            .map(|axis| {
                let coordinate = rest % axis.size;
                rest /= axis.size;
                coordinate
            })
            .collect();
        coordinates.reverse();
        calls.extend([
            Call::Coordinates { rank },
            rank_at(&coordinates),
            Call::DataRank { rank },
            Call::Peers { rank },
        ]);
    }
    case(world, axes, calls)
}

fn case(world: u32, axes: &[Axis], calls: impl IntoIterator<Item = Call>) -> Case {
    let text: Vec<_> = axes.iter().map(|axis| format!("{} {} {}", axis.name, axis.size, axis.role)).collect();
    let name = format!("{world} ranks: {}", if text.is_empty() { "no axes".into() } else { text.join(", ") });
    asked(&name, Subject::Mesh(Mesh { world_size: world, axes: axes.to_vec() }), calls)
}
