//! Hostile arguments to samplers: each call returns a typed failure, and the sampler still works.

use crate::failing;
use samedeal::{BatchSize, FailureKind, Layout, Remainder, Sampler};

fn out_of_range(field: &str) -> (FailureKind, String) {
    (FailureKind::OutOfRange, field.to_owned())
}

#[test]
#[cfg_attr(not(feature = "component"), ignore = "the memory of the core has no limit")]
fn more_samples_at_a_time_than_memory() {
    let sampler = Sampler::builder(10).memory_limit(32 << 20).build().unwrap();
    let many = vec![0; 8 << 20];
    assert_eq!(failing(sampler.locate_all(&many, 1)), (FailureKind::OutOfMemory, "samples".to_owned()));
    // After the failure, the sampler still works.
    assert_eq!(sampler.locate_all(&[3], 1).unwrap(), [sampler.locate(3, 1).unwrap()]);
}

#[test]
fn configurations() {
    let all = 1 << 53;
    assert_eq!(failing(Sampler::new(all)), out_of_range("samples"));
    assert_eq!(failing(Sampler::new(u64::MAX)), out_of_range("samples"));
    assert_eq!(failing(Sampler::builder(all - 1).world_size(2).build()), out_of_range("samples"));
    assert_eq!(failing(Sampler::builder(1 << 32).order("torch").build()), out_of_range("samples"));
    assert_eq!(failing(Sampler::builder(10).world_size(0).build()), out_of_range("world_size"));
    assert_eq!(failing(Sampler::builder(10).world_size(4).rank(4).build()), out_of_range("rank"));
    assert_eq!(failing(Sampler::builder(10).rank(u32::MAX).world_size(u32::MAX).build()), out_of_range("rank"));
    assert_eq!(failing(Sampler::builder(10).order("dotnet").seed(1 << 31).build()), out_of_range("seed"));
    assert_eq!(failing(Sampler::builder(10).memory_limit(1 << 20).build()), out_of_range("memory_limit"));
    for order in ["", "\0", "Feistel", "feistel ", &"x".repeat(1 << 20), "é€😀"] {
        let error = Sampler::builder(10).order(order).build().unwrap_err();
        let failure = error.failure().unwrap();
        assert_eq!((failure.kind.clone(), failure.field.as_str()), (FailureKind::UnknownName, "name"));
        assert!(failure.value.chars().count() <= 64 && order.starts_with(&failure.value));
        assert!(failure.allowed.starts_with("feistel, "));
    }
}

#[test]
fn a_name_longer_than_the_memory() {
    let order = "é".repeat(32 << 20);
    let error = Sampler::builder(10).order(order).memory_limit(32 << 20).build().unwrap_err();
    let failure = error.failure().unwrap_or_else(|| panic!("{error}"));
    assert_eq!((failure.kind.clone(), failure.value.as_str()), (FailureKind::UnknownName, "é".repeat(64).as_str()));
}

#[test]
fn names_of_choices() {
    assert_eq!("uneven".parse(), Ok(Remainder::Uneven));
    assert_eq!("contiguous".parse(), Ok(Layout::Contiguous));
    let failure = "Pad".parse::<Remainder>().unwrap_err();
    assert_eq!(failure.to_string(), "remainder is \"Pad\"; known: pad, drop, uneven");
    assert_eq!("".parse::<Layout>().unwrap_err().allowed, "strided, contiguous, rotated");
}

#[test]
fn calls() {
    let mut sampler = Sampler::builder(10).world_size(2).build().unwrap();
    let before = sampler.indices::<u64>(..).unwrap();
    let wide = sampler.max_count();
    assert_eq!(failing(sampler.window::<u64>(6, 0)), out_of_range("start"));
    assert_eq!(failing(sampler.window::<u64>(u64::MAX, u32::MAX)), out_of_range("start"));
    assert_eq!(failing(sampler.window::<u64>(3, 3)), out_of_range("count"));
    assert_eq!(failing(sampler.window::<u32>(0, wide + 1)), out_of_range("count"));
    assert_eq!(failing(sampler.indices::<u64>(0..6)), out_of_range("count"));
    assert_eq!(failing(sampler.indices::<u64>(..=u64::MAX)), out_of_range("count"));
    assert_eq!(failing(sampler.indices::<u64>(u64::MAX..)), out_of_range("start"));
    #[expect(clippy::reversed_empty_ranges, reason = "what is tested")]
    let reversed = 4..2;
    assert_eq!(failing(sampler.indices::<u64>(reversed)), out_of_range("count"));
    assert_eq!(failing(sampler.batch::<u64>(0, 0)), out_of_range("batch_size"));
    assert_eq!(failing(sampler.batch::<u64>(5, 1)), out_of_range("batch"));
    assert_eq!(failing(sampler.batch::<u64>(u64::MAX, BatchSize::full(u32::MAX))), out_of_range("batch"));
    assert_eq!(failing(sampler.num_batches(BatchSize::full(0))), out_of_range("batch_size"));
    assert_eq!(failing(sampler.batches(BatchSize::full(0))), out_of_range("batch_size"));
    assert_eq!(failing(sampler.sample_at(10)), out_of_range("position"));
    assert_eq!(failing(sampler.locate(10, 1)), out_of_range("sample"));
    assert_eq!(failing(sampler.locate(0, 0)), out_of_range("batch_size"));
    assert_eq!(failing(sampler.place_of(u64::MAX, 1)), out_of_range("position"));
    assert_eq!(failing(sampler.set_rank(2)), out_of_range("rank"));
    assert_eq!(sampler.rank(), 0);
    assert_eq!(sampler.indices::<u64>(..).unwrap(), before);
}

#[test]
fn wide_batches_and_narrow_numbers() {
    let sampler = Sampler::new((1 << 32) + 1).unwrap();
    assert_eq!(failing(sampler.window::<u32>(0, 1)), out_of_range("samples"));
    assert_eq!(failing(sampler.batch::<u32>(0, 1)), out_of_range("samples"));
    assert_eq!(failing(sampler.batch::<u64>(0, sampler.max_count() + 1)), out_of_range("batch_size"));
    assert_eq!(sampler.window::<u64>(0, 1).unwrap().len(), 1);
}

#[test]
fn a_batch_is_refused_where_it_would_be_too_long_and_not_before() {
    let widest = Sampler::new(1).unwrap().max_count();
    let sampler = Sampler::new(u64::from(widest) + 1).unwrap();
    for batch_size in [widest + 1, 2 * widest, u32::MAX] {
        // The component itself refuses the call, so the value is the batch size that was passed, not the size of the
        // batch.
        let expected = sampler.batch::<u64>(0, batch_size).unwrap_err();
        assert_eq!(expected.failure().unwrap().value, batch_size.to_string());
        assert_eq!(sampler.batches(batch_size).map(|batches| batches.len()), Err(expected));
        // A large batch size is allowed if the batch itself is short.
        let short = Sampler::new(100).unwrap();
        assert_eq!(short.batches(batch_size).unwrap().map(|batch| batch.unwrap().len()).sum::<usize>(), 100);
        assert_eq!(short.batches(BatchSize::full(batch_size)).unwrap().len(), 0);
    }
    assert_eq!(sampler.batches(BatchSize::full(2 * widest)).unwrap().len(), 0);
    let lengths = sampler.batches(widest).unwrap().map(|batch| batch.unwrap().len());
    assert!(lengths.eq([widest as usize, 1]));
}

#[test]
#[cfg_attr(not(feature = "component"), ignore = "the memory of the core has no limit")]
fn a_table_beyond_the_memory_limit() {
    let mut sampler = Sampler::builder(50_000_000).order("fisher-yates").memory_limit(64 << 20).build().unwrap();
    let no_memory = (FailureKind::OutOfMemory, "samples".to_owned());
    for _ in 0..3 {
        assert_eq!(failing(sampler.window::<u64>(0, 1)), no_memory);
        assert_eq!(failing(sampler.locate(0, 1)), no_memory);
        assert_eq!(failing(sampler.fingerprint()), no_memory);
        // The iterators end after their first error.
        assert!(sampler.iter().map(failing).eq([no_memory.clone()]));
        assert!(sampler.batches(BatchSize::full(8)).unwrap().map(failing).eq([no_memory.clone()]));
        sampler.set_epoch(sampler.epoch() + 1).unwrap();
        assert_eq!(sampler.num_samples(), 50_000_000);
        assert_eq!(sampler.num_batches(7).unwrap(), 7_142_858);
        assert_eq!(sampler.config_fingerprint().unwrap().len(), 64);
    }
    let wide = Sampler::builder(50_000_000).order("fisher-yates").build().unwrap();
    assert_eq!(wide.window::<u32>(0, 3).unwrap().len(), 3);
}

#[test]
fn the_least_memory_is_enough_for_windows() {
    let sampler = Sampler::builder(1 << 40).memory_limit(32 << 20).build().unwrap();
    for start in 0..4 {
        let window = sampler.window::<u64>(start << 20, sampler.max_count()).unwrap();
        assert_eq!(window.len(), 1 << 20);
    }
}

#[test]
fn more_indices_than_memory() {
    let sampler = Sampler::new((1 << 53) - 1).unwrap();
    assert_eq!(failing(sampler.indices::<u64>(..)), (FailureKind::OutOfMemory, "count".to_owned()));
    assert_eq!(sampler.indices::<u64>(..3).unwrap().len(), 3);
}

/// By default each sampler would reserve 4 GiB of address space, so only one would fit into this limit.
#[test]
#[cfg(target_os = "linux")]
#[cfg_attr(not(feature = "component"), ignore = "the memory of the core has no limit")]
fn many_samplers_fit_into_a_limited_address_space() {
    const LIMITED: &str = "SAMEDEAL_TEST_LIMITED";
    if std::env::var_os(LIMITED).is_none() {
        let own = std::env::current_exe().unwrap();
        let mut command = std::process::Command::new("sh");
        command.args(["-c", "ulimit -v 8000000; exec \"$0\" \"$@\""]).arg(own);
        command.args(["--exact", "hostile::many_samplers_fit_into_a_limited_address_space", "--nocapture"]);
        let done = command.env(LIMITED, "1").output().unwrap();
        assert!(done.status.success(), "{done:?}");
        return;
    }
    let made = |samples: u64| Sampler::builder(samples).order("torch").build();
    let samplers: Vec<_> = (0..200).map(|number| made(1000 + number).unwrap()).collect();
    for sampler in &samplers {
        let mut all = sampler.indices::<u64>(..).unwrap();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..sampler.dataset_size()));
    }
    // The table is larger than the memory that is reserved at first, so the memory must grow.
    assert_eq!(made(5_000_000).unwrap().indices::<u64>(..3).unwrap().len(), 3);
    let full = (0..2000).map(made).find_map(|sampler| {
        let error = sampler.as_ref().err().cloned();
        std::mem::forget(sampler);
        error
    });
    let full = full.expect("the space has an end").to_string();
    assert!(
        full.contains("fewer objects at a time: no address space (`ulimit -v`) is left, of which each reserves 8 MiB"),
        "{full}"
    );
}
