//! The orders that reproduce other systems, against figures taken from those systems.

use samedeal_core::{Config, OrderId, Remainder, Sampler};

fn order(order: OrderId, samples: u64, seed: i64) -> Vec<u64> {
    let config = Config { order, seed, ..Config::new(samples) };
    Sampler::new(config).unwrap().indices(0, samples as u32).unwrap()
}

#[test]
fn torch_randperm() {
    for id in [OrderId::Torch, OrderId::Torch25] {
        assert_eq!(order(id, 10, 0), [4, 1, 7, 5, 3, 9, 0, 8, 6, 2]);
        assert_eq!(order(id, 10, 1), [5, 6, 1, 2, 0, 8, 9, 3, 7, 4]);
    }
}

#[test]
fn torch_distributed_sampler() {
    let rows = [[8, 0, 6, 3], [4, 5, 7, 8], [9, 1, 2, 4]];
    for (rank, row) in (0..).zip(rows) {
        let config = Config { order: OrderId::Torch, seed: 42, epoch: 1, world_size: 3, rank, ..Config::new(10) };
        assert_eq!(Sampler::new(config).unwrap().indices::<u64>(0, 4).unwrap(), row);
        let config = Config { remainder: Remainder::Drop, ..config };
        assert_eq!(Sampler::new(config).unwrap().indices::<u64>(0, 3).unwrap(), row[..3]);
    }
}

/// The size from which PyTorch 2.6 draws 64 bits a sample: 860 MB of memory, seconds in a release build.
#[test]
#[ignore = "needs 860 MB of memory, and minutes with checked arithmetic; `cargo xtask exhaust` runs it"]
fn torch_randperm_from_the_size_at_which_the_releases_differ() {
    for (id, first) in [(OrderId::Torch, [180_140_102, 136_514_640]), (OrderId::Torch25, [209_652_404, 184_016_247])] {
        let config = Config { order: id, ..Config::new(214_748_364) };
        assert_eq!(Sampler::new(config).unwrap().indices::<u64>(0, 2).unwrap(), first);
    }
}

#[test]
fn python_shuffle() {
    assert_eq!(order(OrderId::Python, 10, 0), [7, 8, 1, 5, 3, 4, 2, 0, 9, 6]);
    assert_eq!(order(OrderId::Python, 10, 1), [6, 8, 9, 7, 5, 3, 0, 4, 1, 2]);
    assert_eq!(order(OrderId::Python, 10, 42), [7, 3, 2, 8, 5, 6, 9, 4, 0, 1]);
    assert_eq!(order(OrderId::Python, 10, -42), order(OrderId::Python, 10, 42));
}

#[test]
fn dotnet_shuffle() {
    assert_eq!(order(OrderId::Dotnet, 10, 0), [0, 4, 5, 8, 2, 1, 3, 6, 9, 7]);
    assert_eq!(order(OrderId::Dotnet, 10, 1), [6, 8, 4, 1, 9, 7, 5, 3, 0, 2]);
    assert_eq!(order(OrderId::Dotnet, 10, 42), [9, 0, 4, 2, 5, 7, 3, 8, 1, 6]);
    assert_eq!(order(OrderId::Dotnet, 10, -7), [4, 1, 8, 6, 9, 2, 0, 5, 7, 3]);
    assert_eq!(order(OrderId::Dotnet, 10, i32::MIN.into()), order(OrderId::Dotnet, 10, 0));
    assert_eq!(order(OrderId::Dotnet, 10, i32::MAX.into()), order(OrderId::Dotnet, 10, 0));
}
