//! The policy `locality-aware`: shards go to ranks on the nodes that store them.

use crate::cases::forms::{Locality, Plan};
use matrix::format::{Call, Case, U64};

use super::{case, everything, lists, numbers, plan, sizes, whole};

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    // Shards on one or two of four nodes; some on a node where no rank runs.
    let holders: Vec<Vec<u32>> = (0..19_u32)
        .map(|shard| if shard % 3 == 0 { vec![shard % 4, (shard + 1) % 4] } else { vec![shard % 5] })
        .collect();
    let samples = sizes(19, 7, 500);
    let bytes = sizes(19, 8, 1 << 30);
    for tolerance in [0, 50, 1_000, u32::MAX] {
        for (weight, with_bytes) in [("samples", false), ("samples", true), ("bytes", true)] {
            for (world, workers, worker_policy) in [(4, 1, "round-robin"), (6, 2, "size-aware")] {
                let rank_nodes = (0..world).map(|rank| rank % 4).collect();
                let plan = Plan {
                    bytes: if with_bytes { numbers(&bytes) } else { vec![] },
                    policy: "locality-aware".into(),
                    worker_policy: worker_policy.into(),
                    weight: weight.into(),
                    locality: Some(locality(&holders, rank_nodes, tolerance)),
                    ..plan(&samples, world, workers)
                };
                let name = format!(
                    "near by {weight}{}, tolerance {tolerance}, {world} ranks of {workers} workers",
                    if with_bytes { ", with bytes" } else { "" }
                );
                cases.push(whole(&name, plan));
            }
        }
    }
    let near = |name: &str, samples: &[u64], holders: &[Vec<u32>], rank_nodes: &[u32], tolerance| {
        let plan = Plan {
            policy: "locality-aware".into(),
            locality: Some(locality(holders, rank_nodes.to_vec(), tolerance)),
            ..plan(samples, rank_nodes.len() as u32, 1)
        };
        whole(name, plan)
    };
    let first_node = vec![vec![0]; 6];
    cases.push(near("all shards on one node", &[10; 6], &first_node, &[0, 1], 0));
    cases.push(near("all shards on one node, if need be", &[10; 6], &first_node, &[0, 1], 1_000));
    // With 61 samples, the load 31 is 1,016.4 thousandths of the mean. With 60 samples, the load 30 is the mean itself.
    cases.push(near("at the bound", &[10; 6], &first_node, &[0, 0], 0));
    cases.push(near("a hair above the bound", &[10, 10, 10, 10, 10, 11], &first_node, &[0, 1], 16));
    cases.push(near("a hair below the bound", &[10, 10, 10, 10, 10, 11], &first_node, &[0, 1], 17));
    cases.push(near("no rank is near", &[4, 9, 2], &vec![vec![7]; 3], &[0, 1], 50));
    cases.push(near("every rank is near", &[4, 9, 2, 5], &vec![vec![2, 1, 0]; 4], &[0, 1, 2], 50));
    cases.push(near("a node named twice", &[4, 9, 2], &vec![vec![1, 1]; 3], &[0, 1], 2_000));
    cases.push(near("empty shards on one node", &[0, 0, 0, 0], &vec![vec![1]; 4], &[0, 1, 1], 0));
    cases.push(near("no shards near", &[], &[], &[3, 3], 50));
    cases.push(near("far numbers of nodes", &[4, 9], &[vec![u32::MAX], vec![0]], &[0, u32::MAX], 1_000));
    // Other policies ignore the locality, and no shard counts as near.
    let ignored = Some(Locality { holder_offsets: vec![9], holders: vec![], rank_nodes: vec![], tolerance: 0 });
    cases.push(whole("a locality that nobody needs", Plan { locality: ignored, ..plan(&[4, 9, 2], 2, 1) }));
    let shuffled = Plan {
        policy: "locality-aware".into(),
        locality: Some(locality(&holders, vec![0, 1, 2, 3], 50)),
        shuffle: true,
        ..plan(&samples, 4, 2)
    };
    let epochs = [1, 2].into_iter().flat_map(|epoch| [vec![Call::AtEpoch { epoch: U64(epoch) }], lists(4, 2)].concat());
    let calls = everything(&shuffled).into_iter().chain(epochs);
    cases.push(case("near, shuffled", shuffled, calls));
    cases
}

fn locality(holders: &[Vec<u32>], rank_nodes: Vec<u32>, tolerance: u32) -> Locality {
    let ends = holders.iter().scan(0, |end, nodes| {
        *end += nodes.len() as u32;
        Some(*end)
    });
    Locality { holder_offsets: [0].into_iter().chain(ends).collect(), holders: holders.concat(), rank_nodes, tolerance }
}
