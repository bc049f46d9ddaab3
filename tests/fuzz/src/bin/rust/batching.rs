//! Batches of sequences, and collation.

use samedeal::collate::{Padding, Side, pack, pad};
use samedeal::{
    Batch, BatchRecipe, BatchStream, Batcher, Counting, Lengths, Metrics, Packing, Strategy, Tail, TooLong,
    join_indices,
};

use crate::asked::{Asked, ask, lists_of, look, made, member, number_of, numbers, set};
use crate::dealing;

/// The options that batchers and streams share.
macro_rules! options {
    ($a:ident, $builder:ident) => {
        set!($a, 1 in 7, $builder,
            seed($a.signed()), epoch($a.wide()), rank($a.narrow()), world_size($a.narrow()), strategy($a.pick(Strategy::ALL)),
            counting($a.pick(Counting::ALL)), linear($a.narrow()), quadratic($a.narrow()), max_batch_size($a.narrow()),
            max_length($a.narrow()), max_tokens($a.wide()), max_cost($a.wide()), batch_size_multiple($a.narrow()), capacity($a.narrow()),
            packing($a.pick(Packing::ALL)), bucket_width($a.narrow()), boundaries($a.narrows()), quantiles($a.narrow()),
            batch_window($a.narrow()), mean_length($a.narrow()), keep_order($a.rng.bool()), separate_buckets($a.rng.bool()), pad_to_bucket($a.rng.bool()), too_long($a.pick(TooLong::ALL)), tail($a.pick(Tail::ALL)), memory_limit($a.memory()));
    };
}

/// Lengths that are split into few parts.
fn lengths(a: &mut Asked) -> Vec<u32> {
    (0..a.rng.usize(0..60)).map(|_| if a.one_in(30) { a.rng.u32(0..5000) } else { a.rng.u32(0..64) }).collect()
}

pub fn batchers(a: &mut Asked) {
    let mut builder = if a.rng.bool() {
        let case = a.case("batcher");
        let given = case.subject.get("lengths").map(numbers).unwrap_or_default();
        let given: Vec<u32> = given.into_iter().map(|length| length as u32).collect();
        Batcher::from_recipe(member(&case, "recipe"), given)
            .beside(None, lists_of(&case))
            .epoch(number_of(&case, "epoch"))
    } else if a.one_in(4) {
        let sources: Vec<_> = (0..a.rng.u8(0..4)).map(|_| (a.text(), lengths(a))).collect();
        Batcher::builder(Lengths::by_source(sources))
    } else if a.one_in(4) {
        let all = lengths(a);
        // Sometimes the number of lengths is wrong: too small, or 0.
        let count = if a.one_in(9) { a.wide() } else { all.len() as u64 };
        let of = move |samples: &[u64]| {
            let length = |sample: &u64| all.get(*sample as usize).copied();
            samples.iter().map(length).collect::<Option<Vec<u32>>>().ok_or_else(|| "no length of it".into())
        };
        Batcher::builder(Lengths::from_fn(count, of))
    } else {
        Batcher::builder(lengths(a))
    };
    options!(a, builder);
    if a.one_in(5) {
        let order = dealing::order(a);
        builder = if a.rng.bool() { builder.order(order) } else { builder.order(a.order_name()) };
    }
    set!(a, 1 in 9, builder, list(a.text(), a.wides()), max_batch_size(a.rng.u32(1..9)));
    let Some(mut b) = made!(a, "build", builder.build()) else { return };
    a.about(b.recipe());
    look!(a, b, world_size(), rank(), epoch(), consumed(), num_windows());
    if let Some(metrics) = made!(a, "metrics", b.metrics()) {
        look_at(a, &metrics);
    }
    ask!(a, 1 in 2, b,
        recipe(), recipe_fingerprint(), at_epoch(a.wide()), set_epoch(a.wide()), state(a.wide()), resume(&a.known("state")), replan(&a.known("state")), num_steps(), num_known_windows(),
        index(a.wide(), a.wide()), use_index(&a.known("index")), shapes(), filled_shapes(), locate(a.wide()),
        batch(a.wide()), batch_of(a.narrow(), a.wide()), batches_window(a.narrow(), a.wide(), a.count()), fingerprint());
    let half = b.num_windows() / 2;
    let others = if a.one_in(4) { a.wide() } else { b.num_windows() - half };
    let parts = [b.index(0, half), b.index(half, others)];
    if let [Ok(first), Ok(second)] = parts {
        let parts = if a.rng.bool() { [first, second] } else { [second, a.known("index")] };
        let _ = made!(a, "join_indices", join_indices(parts));
    }
    a.begin("iter");
    let some = b.iter().take(4).try_fold((), |(), batch| batch.map(|_| ()));
    a.end(&some);
    let (range, rank) = (a.range(), a.narrow());
    let _ = made!(a, "batches", b.batches(range.clone()));
    let _ = made!(a, "batches_of", b.batches_of(rank, range));
    if let Ok(batch) = b.batch(0) {
        look_in(a, &batch);
    }
    // An object must accept its own state.
    let steps = a.rng.u64(0..=b.num_steps().unwrap_or(0).min(9));
    if let Ok(state) = b.state(steps) {
        a.begin("resume: own state");
        let back = b.resume(&state);
        a.end(&back);
        assert!(back.is_ok(), "a batcher refuses its own state {state}");
    }
}

fn look_in(a: &mut Asked, batch: &Batch) {
    look!(a, batch, shape());
    a.begin("rows");
    std::hint::black_box(batch.rows().count());
    a.end_plain();
}

fn look_at(a: &mut Asked, metrics: &Metrics) {
    look!(a, metrics, padding_ratio(), budget_utilization(), slowest_rank_utilization(), cost_imbalance());
    std::hint::black_box(metrics.named().count());
}

pub fn batch_streams(a: &mut Asked) {
    let case = a.case("batch-recipe");
    let (text, lists, memory) = (member(&case, "recipe"), lists_of(&case), a.memory());
    if let Some(recipe) = made!(a, "BatchRecipe::new", BatchRecipe::new(&text, None, lists, memory)) {
        ask!(a, 1 in 2, recipe, recipe(), recipe_fingerprint());
    }
    let mut builder = if a.rng.bool() {
        let case = a.case("batch-stream");
        BatchStream::from_recipe(member(&case, "recipe"))
            .beside(None, lists_of(&case))
            .rank(number_of(&case, "rank") as u32)
    } else {
        BatchStream::builder()
    };
    options!(a, builder);
    let Some(mut s) = made!(a, "build", builder.build()) else { return };
    a.about(s.recipe());
    look!(a, s, rank());
    ask!(a, 1 in 2, s, recipe(), recipe_fingerprint());
    for _ in 0..a.rng.u8(0..9) {
        let mut given = lengths(a);
        let mut samples: Vec<u64> = given.iter().map(|_| a.wide()).collect();
        if a.one_in(9) {
            samples.pop();
        }
        given.truncate(30);
        samples.truncate(30);
        ask!(a, 1 in 2, s, push(&samples, &given), take(), metrics());
        ask!(a, 1 in 8, s, flush());
        a.begin("ready");
        let some = s.ready().take(3).try_fold((), |(), batches| batches.map(|_| ()));
        a.end(&some);
    }
}

pub fn collation(a: &mut Asked) {
    let given = lengths(a);
    let total: u32 = given.iter().sum();
    let values: Vec<u32> = (0..if a.one_in(5) { a.rng.u32(0..500) } else { total }).collect();
    let mut padding = Padding::new(7);
    // A width is the number of cells in a row. It is small, because all rows must fit into this process.
    let cells = if a.one_in(5) { a.rng.u32(0..70_000) } else { a.rng.u32(0..80) };
    set!(a, 1 in 2, padding, side(a.pick(Side::ALL)), pad_to_multiple_of(cells), width(cells));
    let _ = made!(a, "pad", pad(&values, &given, padding));
    let ends = if a.rng.bool() { vec![given.len() as u32] } else { a.narrows() };
    let _ = made!(a, "pack", pack(&values, &given, &ends, cells, 0));
}
