//! Launchers, which tell a process its rank, and meshes, which tell a rank its reader of data.

use samedeal_core::launch::{Detection, detect, variables};
use samedeal_core::{Axis, Failure, Kind, Mesh, Role};

fn mesh(world_size: u32, axes: &[(&str, u32, Role)]) -> Result<Mesh, Failure> {
    Mesh::new(world_size, axes.iter().map(|&(name, size, role)| Axis { name: name.into(), size, role }).collect())
}

use Role::{Replicate, Shard};

#[test]
fn tensor_and_context_peers_share_data() {
    let mesh = mesh(8, &[("dp", 2, Shard), ("tp", 2, Replicate), ("cp", 2, Replicate)]).unwrap();
    assert_eq!(mesh.data_world_size(), 2);
    let data_ranks: Vec<_> = (0..8).map(|rank| mesh.data_rank(rank).unwrap()).collect();
    assert_eq!(data_ranks, [0, 0, 0, 0, 1, 1, 1, 1]);
    assert_eq!(mesh.peers(6).unwrap(), [4, 5, 6, 7]);
    assert_eq!(mesh.coordinates(6).unwrap(), [1, 1, 0]);
    assert_eq!(mesh.rank_at(&[1, 1, 0]).unwrap(), 6);
}

#[test]
fn axes_in_any_order() {
    let mesh = mesh(24, &[("pp", 2, Replicate), ("dp", 3, Shard), ("tp", 4, Replicate)]).unwrap();
    for rank in 0..24 {
        assert_eq!(mesh.data_rank(rank).unwrap(), rank / 4 % 3);
        let peers = mesh.peers(rank).unwrap();
        assert_eq!(peers.len(), 8);
        assert!(peers.is_sorted() && peers.contains(&rank));
        assert!(peers.iter().all(|&peer| mesh.data_rank(peer) == mesh.data_rank(rank)));
    }
}

#[test]
fn two_axes_of_shards_multiply() {
    let mesh = mesh(8, &[("replicate", 2, Shard), ("shard", 4, Shard)]).unwrap();
    assert_eq!(mesh.data_world_size(), 8);
    assert!((0..8).all(|rank| mesh.data_rank(rank) == Ok(rank) && mesh.peers(rank) == Ok(vec![rank])));
}

#[test]
fn contradictions_show_the_arithmetic() {
    let failure = mesh(8, &[("dp", 2, Shard), ("tp", 3, Replicate)]).unwrap_err();
    assert_eq!((failure.kind, failure.field), (Kind::Contradiction, "axes"));
    assert_eq!(failure.value, "dp 2 x tp 3 = 6");
    assert_eq!(failure.allowed, "sizes whose product is the world size, 8");
    let huge = [("a", u32::MAX, Shard); 5].map(|(_, size, role)| Axis { name: format!("{size}"), size, role });
    assert_eq!(Mesh::new(8, huge.into()).unwrap_err().kind, Kind::Contradiction, "the same name twice");
    assert_eq!(mesh(0, &[]).unwrap_err().field, "world_size");
    assert_eq!(mesh(1, &[("dp", 0, Shard)]).unwrap_err().field, "axes");
    assert_eq!(mesh(2, &[]).unwrap_err().value, "1");
    let one = mesh(1, &[]).unwrap();
    assert_eq!((one.data_world_size(), one.data_rank(0), one.peers(0)), (1, Ok(0), Ok(vec![0])));
    assert_eq!(one.data_rank(1).unwrap_err().field, "rank");
    let axes: Vec<_> = (0..65).map(|i| Axis { name: i.to_string(), size: 1, role: Shard }).collect();
    assert!(Mesh::new(1, axes[..64].to_vec()).is_ok());
    assert_eq!(Mesh::new(1, axes).unwrap_err().value, "65 axes");
    let large = mesh(u32::MAX, &[("tp", u32::MAX, Replicate)]).unwrap();
    assert_eq!(large.peers(3).unwrap_err().field, "axes");
    assert_eq!(large.rank_at(&[1, 2]).unwrap_err().field, "coordinates");
    assert_eq!(large.rank_at(&[u32::MAX]).unwrap_err().field, "coordinates");
}

#[test]
fn roles_have_names() {
    assert_eq!(["shard", "replicate"].map(Role::from_name), [Ok(Shard), Ok(Replicate)]);
    for name in ["divide", "repeat", "Shard", ""] {
        let failure = Role::from_name(name).unwrap_err();
        assert_eq!((failure.kind, failure.field), (Kind::UnknownName, "role"));
        assert_eq!(failure.value, name);
        assert_eq!(failure.allowed, "shard, replicate");
    }
}

fn environment(text: &str) -> Vec<(String, String)> {
    text.split_whitespace().map(|pair| pair.split_once('=').unwrap()).map(|(n, v)| (n.into(), v.into())).collect()
}

fn found(text: &str) -> Result<Detection, Failure> {
    detect(&environment(text), None, None)
}

#[track_caller]
fn assert_found(text: &str, rank: u32, world_size: u32, launcher: &str) -> Detection {
    let detection = found(text).unwrap();
    assert_eq!(
        (detection.rank, detection.world_size, detection.launcher),
        (rank, world_size, launcher),
        "{detection:?}"
    );
    detection
}

#[test]
fn launchers() {
    let torchrun = "RANK=5 WORLD_SIZE=8 LOCAL_RANK=1 LOCAL_WORLD_SIZE=4";
    let detection = assert_found(torchrun, 5, 8, "torchrun");
    assert_eq!((detection.local_rank, detection.local_world_size), (Some(1), Some(4)));
    assert_eq!(detection.used, ["RANK=5", "WORLD_SIZE=8"]);
    assert!(detection.warnings.is_empty());
    assert_found("OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=3", 2, 3, "open-mpi");
    assert_found("PMI_RANK=2 PMI_SIZE=3", 2, 3, "pmi");
    assert_found("MV2_COMM_WORLD_RANK=2 MV2_COMM_WORLD_SIZE=3", 2, 3, "mvapich");
    let slurm = "SLURM_PROCID=3 SLURM_NTASKS=4 SLURM_LOCALID=1 SLURM_NTASKS_PER_NODE=2(x2) SLURM_STEP_ID=0";
    let detection = assert_found(slurm, 3, 4, "slurm");
    assert_eq!((detection.local_rank, detection.local_world_size), (Some(1), None));
    assert!(detection.warnings.is_empty());
    assert_found("", 0, 1, "none");
    assert_found("WORLD_SIZE=1", 0, 1, "none");
    assert!(variables().any(|name| name == "SLURM_PROCID"));
}

#[test]
fn the_first_launcher_wins_and_the_others_are_reported() {
    let both = "SLURM_PROCID=1 SLURM_NTASKS=2 RANK=5 WORLD_SIZE=8 LOCAL_RANK=1";
    let detection = assert_found(both, 5, 8, "torchrun");
    assert_eq!(detection.warnings.len(), 1);
    assert!(detection.warnings[0].contains("SLURM_PROCID=1"), "{:?}", detection.warnings);
    let agreeing = "SLURM_PROCID=5 SLURM_NTASKS=8 RANK=5 WORLD_SIZE=8";
    assert!(assert_found(agreeing, 5, 8, "torchrun").warnings.is_empty());
    // A process of a batch script that srun did not start.
    assert_eq!(assert_found("SLURM_PROCID=0 SLURM_NTASKS=4", 0, 4, "slurm").warnings.len(), 1);
}

#[test]
fn explicit_values_come_first() {
    let environment = environment("RANK=5 WORLD_SIZE=8");
    let detection = detect(&environment, Some(1), Some(2)).unwrap();
    assert_eq!((detection.rank, detection.world_size, detection.launcher), (1, 2, "explicit"));
    assert_eq!(detection.warnings, ["not used: RANK=5, WORLD_SIZE=8; used: rank 1 of 2 (explicit)"]);
    let detection = detect(&environment, Some(1), None).unwrap();
    assert_eq!((detection.rank, detection.world_size), (1, 8));
    assert_eq!(detection.used, ["rank=1", "WORLD_SIZE=8"]);
    assert_eq!(detection.warnings, ["not used: RANK=5; used: rank 1 of 8 (torchrun)"]);
    assert_eq!(detect(&environment, Some(1), Some(2)).unwrap().used, ["rank=1", "world_size=2"]);
    assert_eq!(detect(&environment, None, Some(4)).unwrap_err().field, "RANK");
    assert_eq!(detect(&[], Some(1), None).unwrap_err().field, "world_size");
    assert_eq!(detect(&[], Some(2), Some(2)).unwrap_err().field, "rank");
    assert_eq!(detect(&[], Some(0), Some(0)).unwrap_err().field, "world_size");
    assert_eq!(detect(&[], None, Some(2)).unwrap_err().kind, Kind::Missing);
    assert_eq!(detect(&[], None, Some(1)).map(|found| (found.rank, found.world_size)), Ok((0, 1)));
}

#[test]
fn local_rank_is_no_rank() {
    let failure = found("LOCAL_RANK=1").unwrap_err();
    assert_eq!((failure.kind, failure.field), (Kind::Missing, "RANK"));
    assert!(failure.allowed.contains("RANK and WORLD_SIZE"));
    assert_eq!(found("LOCAL_RANK=1 WORLD_SIZE=8 LOCAL_WORLD_SIZE=4").unwrap_err().field, "RANK");
    let detection = assert_found("LOCAL_RANK=1 WORLD_SIZE=4 LOCAL_WORLD_SIZE=4", 1, 4, "torchrun");
    assert_eq!(detection.used, ["LOCAL_RANK=1", "WORLD_SIZE=4"]);
    // RANK wins over LOCAL_RANK.
    assert_found("LOCAL_RANK=1 RANK=0 WORLD_SIZE=2", 0, 2, "torchrun");
}

#[test]
fn a_local_rank_alone_is_one_of_one() {
    let detection = assert_found("LOCAL_RANK=0 WORLD_SIZE=1", 0, 1, "torchrun");
    assert_eq!(detection.used, ["LOCAL_RANK=0", "WORLD_SIZE=1"]);
    assert_eq!(found("LOCAL_RANK=1 WORLD_SIZE=1").unwrap_err().field, "RANK");
    assert_eq!(found("LOCAL_RANK=0").unwrap_err().field, "RANK");
    let detection = detect(&environment("LOCAL_RANK=0"), None, Some(1)).unwrap();
    assert_eq!((detection.rank, detection.world_size, detection.used.len()), (0, 1, 2));
}

#[test]
fn a_launcher_of_nodes_agrees_with_that_of_their_processes() {
    let torchrun = "RANK=5 WORLD_SIZE=8 LOCAL_RANK=1 LOCAL_WORLD_SIZE=4";
    for (outer, warnings) in [
        ("SLURM_PROCID=1 SLURM_NTASKS=2", 0),
        ("OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2", 0),
        // Another node, then other numbers of nodes.
        ("SLURM_PROCID=0 SLURM_NTASKS=2", 1),
        ("SLURM_PROCID=1 SLURM_NTASKS=4", 1),
        ("SLURM_PROCID=1 SLURM_NTASKS=3", 1),
    ] {
        let detection = assert_found(&format!("{torchrun} {outer}"), 5, 8, "torchrun");
        assert_eq!(detection.warnings.len(), warnings, "{outer}: {:?}", detection.warnings);
    }
    let unsaid = assert_found("RANK=5 WORLD_SIZE=8 SLURM_PROCID=1 SLURM_NTASKS=2", 5, 8, "torchrun");
    assert_eq!(unsaid.warnings.len(), 1);
}

#[test]
fn local_numbers_that_make_no_sense() {
    let detection = assert_found("RANK=5 WORLD_SIZE=8 LOCAL_RANK=4 LOCAL_WORLD_SIZE=4", 5, 8, "torchrun");
    assert_eq!(detection.warnings, ["LOCAL_RANK=4 is not below LOCAL_WORLD_SIZE=4"]);
    let broken = environment("LOCAL_RANK=x LOCAL_WORLD_SIZE=y");
    let detection = detect(&broken, Some(0), Some(2)).unwrap();
    assert_eq!((detection.local_rank, detection.local_world_size, detection.launcher), (None, None, "explicit"));
    assert_eq!(detect(&broken, Some(0), None).unwrap_err().field, "LOCAL_RANK");
}

#[test]
fn bad_variables_are_named() {
    for (text, kind, field) in [
        ("RANK=x WORLD_SIZE=2", Kind::WrongType, "RANK"),
        ("RANK=-1 WORLD_SIZE=2", Kind::WrongType, "RANK"),
        ("RANK=1.5 WORLD_SIZE=2", Kind::WrongType, "RANK"),
        ("RANK=0 WORLD_SIZE=4294967296", Kind::OutOfRange, "WORLD_SIZE"),
        ("RANK=2 WORLD_SIZE=2", Kind::OutOfRange, "RANK"),
        ("RANK=0 WORLD_SIZE=0", Kind::OutOfRange, "WORLD_SIZE"),
        ("RANK=3", Kind::Missing, "WORLD_SIZE"),
        ("SLURM_PROCID=3", Kind::Missing, "SLURM_NTASKS"),
        ("WORLD_SIZE=2", Kind::Missing, "RANK"),
        ("LOCAL_RANK=a", Kind::WrongType, "LOCAL_RANK"),
    ] {
        let failure = found(text).unwrap_err();
        assert_eq!((failure.kind, failure.field), (kind, field), "{text}: {failure}");
    }
}
