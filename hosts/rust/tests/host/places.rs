//! The share of the data that a process reads: meshes, and the variables of launchers.

use samedeal::{Axis, Detection, FailureKind, Mesh, Role, Sampler, detect_rank_in, rank_variables};

#[test]
fn peers_share_and_others_do_not() {
    let mesh = Mesh::new(8, [Axis::shard("dp", 2), Axis::replicate("tp", 2), Axis::replicate("cp", 2)]).unwrap();
    assert_eq!((mesh.world_size(), mesh.data_world_size(), mesh.axes().len()), (8, 2, 3));
    let indices = (0..8).map(|rank| {
        let builder =
            Sampler::builder(100).seed(1).rank(mesh.data_rank(rank).unwrap()).world_size(mesh.data_world_size());
        builder.build().unwrap().indices::<u64>(..).unwrap()
    });
    let indices = indices.collect::<Vec<_>>();
    for rank in 0..8 {
        let same = (0..8).filter(|&other| indices[other as usize] == indices[rank as usize]).collect::<Vec<_>>();
        assert_eq!(mesh.peers(rank).unwrap(), same);
        let disjoint = |other: &Vec<u64>| other.iter().all(|index| !indices[rank as usize].contains(index));
        assert!((0..8).all(|other| same.contains(&other) || disjoint(&indices[other as usize])));
        assert_eq!(mesh.rank_at(&mesh.coordinates(rank).unwrap()).unwrap(), rank);
    }
}

#[test]
fn two_axes_with_different_data_multiply() {
    let mesh = Mesh::new(24, [Axis::replicate("pp", 2), Axis::shard("replicate", 3), Axis::shard("shard", 4)]).unwrap();
    assert_eq!(mesh.data_world_size(), 12);
    let ranks = (0..24).map(|rank| mesh.data_rank(rank).unwrap());
    assert!(ranks.eq((0..12).chain(0..12)));
    assert_eq!(mesh.peers(17).unwrap(), [5, 17]);
    assert_eq!(Mesh::new(1, []).unwrap().coordinates(0).unwrap(), [0; 0]);
}

#[test]
fn meshes_that_contradict_themselves() {
    let failing = |world, axes: Vec<Axis>| Mesh::new(world, axes).unwrap_err().failure().unwrap().clone();
    let failure = failing(8, vec![Axis::shard("dp", 3), Axis::replicate("tp", 2)]);
    assert_eq!((failure.kind.clone(), failure.value.as_str()), (FailureKind::Contradiction, "dp 3 x tp 2 = 6"));
    assert_eq!(failing(4, vec![Axis::shard("a", 2), Axis::replicate("a", 2)]).kind, FailureKind::Contradiction);
    assert_eq!(failing(0, vec![]).field, "world_size");
    assert_eq!(failing(4, vec![Axis::shard("a", 0)]).kind, FailureKind::OutOfRange);
    // The product of the sizes overflows, names are very long, and there are more axes than allowed.
    assert_eq!(failing(4, (0..64).map(|i| Axis::shard(i.to_string(), u32::MAX)).collect()).field, "axes");
    let long = failing(4, vec![Axis::shard("é".repeat(40 << 20), 0)]);
    assert!(long.value.chars().count() < 100, "{}", long.value.chars().count());
    let endless = Mesh::new(1, (0..).map(|i: u64| Axis::shard(i.to_string(), 1))).unwrap_err();
    assert_eq!(endless.to_string(), "axes is 65 axes; allowed: up to 64");
    assert_eq!(Mesh::new(1, (0..64).map(|i| Axis::replicate(i.to_string(), 1))).unwrap().axes().len(), 64);
}

#[test]
fn questions_that_a_mesh_refuses() {
    let mesh = Mesh::new(4, [Axis { name: "dp".into(), size: 4, role: "shard".parse().unwrap() }]).unwrap();
    assert_eq!(mesh.axes()[0].role, Role::Shard);
    for refused in [
        mesh.data_rank(4).unwrap_err(),
        mesh.coordinates(u32::MAX).map(|_| ()).unwrap_err(),
        mesh.peers(4).map(|_| ()).unwrap_err(),
    ] {
        assert_eq!(refused.to_string().split(';').nth(1), Some(" allowed: 0 to 3"));
    }
    for coordinates in [&[][..], &[4], &[0, 0], &vec![0; 10 << 20]] {
        assert_eq!(mesh.rank_at(coordinates).unwrap_err().failure().unwrap().field, "coordinates");
    }
    let wide = Mesh::new(1 << 21, [Axis::replicate("tp", 1 << 21)]).unwrap();
    assert_eq!(wide.peers(0).unwrap_err().failure().unwrap().field, "axes");
    assert_eq!((wide.data_rank(9).unwrap(), mesh.data_rank(3).unwrap()), (0, 3));
}

#[track_caller]
fn detect(environment: &[(&str, &str)]) -> Detection {
    detect_rank_in(environment.iter().copied(), None, None).unwrap()
}

#[test]
fn launchers_in_the_order_of_their_word() {
    let torchrun = [("RANK", "3"), ("WORLD_SIZE", "8"), ("LOCAL_RANK", "1"), ("LOCAL_WORLD_SIZE", "2")];
    let found = detect(&torchrun);
    assert_eq!((found.rank, found.world_size, found.launcher.as_str()), (3, 8, "torchrun"));
    assert_eq!((found.local_rank, found.local_world_size), (Some(1), Some(2)));
    assert!(found.warnings.is_empty());
    let slurm = [("SLURM_PROCID", "5"), ("SLURM_NTASKS", "6"), ("SLURM_STEP_ID", "0")];
    assert_eq!(detect(&slurm).launcher, "slurm");
    let both = detect(&[&slurm[..], &torchrun[..]].concat());
    assert_eq!((both.rank, both.warnings.len()), (3, 1));
    let explicit = detect_rank_in(torchrun, Some(1), Some(2)).unwrap();
    assert_eq!((explicit.rank, explicit.world_size, explicit.launcher.as_str()), (1, 2, "explicit"));
    assert_eq!(detect(&[]).launcher, "none");
    // If a name comes several times, the last value counts. Other variables are ignored.
    assert_eq!(detect(&[("RANK", "x"), ("HOME", "/"), ("RANK", "1"), ("WORLD_SIZE", " 2\n")]).rank, 1);
    assert!(rank_variables().unwrap().iter().any(|name| name == "LOCAL_RANK"));
}

#[test]
fn variables_that_make_no_sense() {
    let long = "9".repeat(50 << 20);
    for (environment, kind, field) in [
        (vec![("LOCAL_RANK", "3")], FailureKind::Missing, "RANK"),
        (vec![("RANK", "3")], FailureKind::Missing, "WORLD_SIZE"),
        (vec![("RANK", "3"), ("WORLD_SIZE", "3")], FailureKind::OutOfRange, "RANK"),
        (vec![("RANK", "-1"), ("WORLD_SIZE", "3")], FailureKind::WrongType, "RANK"),
        (vec![("RANK", "0"), ("WORLD_SIZE", long.as_str())], FailureKind::OutOfRange, "WORLD_SIZE"),
        (vec![("RANK", "\u{fffd}é"), ("WORLD_SIZE", "2")], FailureKind::WrongType, "RANK"),
    ] {
        let error = detect_rank_in(environment, None, None).unwrap_err();
        let failure = error.failure().unwrap();
        assert_eq!((failure.kind.clone(), failure.field.as_str()), (kind, field), "{error}");
        assert!(failure.value.chars().count() <= 64);
    }
}
