//! Readings, plans of whole shards, chunk streams.

use samedeal::{BalanceBy, ChunkStream, Deal, Policy, Reading, Remainder, ShardPlan, Tier, WorkerPolicy};

use crate::asked::{Asked, ask, lists_of, look, made, member, number_of, set};

pub fn readings(a: &mut Asked) {
    let mut builder = if a.rng.bool() {
        let case = a.case("reading");
        Reading::from_recipe(member(&case, "recipe")).lists(lists_of(&case)).epoch(number_of(&case, "epoch"))
    } else {
        Reading::builder(a.wides())
    };
    set!(a, 1 in 7, builder,
        sizes(a.wides()), seed(a.signed()), deal(a.pick(Deal::ALL)), shuffle(a.rng.bool()), lanes(a.narrow()), shuffle_window(a.narrow()),
        remainder(a.pick(Remainder::ALL)), shuffle_rows(a.rng.bool()), reshuffle(a.rng.bool()), policy(a.pick(Policy::ALL)),
        worker_policy(a.pick(WorkerPolicy::ALL)), balance_by(a.pick(BalanceBy::ALL)), bytes(a.wides()), world_size(a.narrow()),
        workers(a.narrow()), batch_size(a.narrow()), drop_last(a.rng.bool()), memory_limit(a.memory()), epoch(a.wide()));
    let Some(r) = made!(a, "build", builder.build()) else { return };
    a.about(r.recipe());
    look!(a, r, seed(), world_size(), workers(), batch_size(), reads_per_row(), epoch(), is_rest());
    ask!(a, 1 in 2, r,
        at_epoch(a.wide()), resume(&a.known("state")), state(a.wide()), recipe(), recipe_fingerprint(), sizes(), lanes_read_once(),
        mixing_advice(), suggested_lanes(a.wide(), a.narrow(), &a.wides()), num_steps(a.narrow()), steps(), num_idle_readers(), num_samples(a.narrow(), a.narrow()), num_padding(a.narrow(), a.narrow()),
        num_batches(a.narrow(), a.narrow()), batch(a.narrow(), a.narrow(), a.wide()), batch_at(a.narrow(), a.wide()),
        indices(a.narrow(), a.narrow(), a.range()), indices_window(a.narrow(), a.narrow(), a.wide(), a.count()),
        num_rounds(a.narrow(), a.narrow()), round(a.narrow(), a.narrow(), a.wide()),
        round_rows(a.narrow(), a.narrow(), a.wide(), a.wide(), a.count()), round_of(a.narrow(), a.narrow(), a.wide()),
        shards(a.narrow(), a.narrow()));
    if let Some(mut rounds) = made!(a, "rounds", r.rounds(0, 0)) {
        a.begin("rounds: next");
        let next = rounds.next().transpose();
        a.end(&next);
    }
}

pub fn plans(a: &mut Asked) {
    let mut builder = if a.rng.bool() {
        let case = a.case("plan");
        ShardPlan::from_recipe(member(&case, "recipe")).lists(lists_of(&case)).epoch(number_of(&case, "epoch"))
    } else {
        ShardPlan::builder(a.wides())
    };
    set!(a, 1 in 7, builder,
        sizes(a.wides()), bytes(a.wides()), world_size(a.narrow()), workers(a.narrow()), policy(a.pick(Policy::ALL)),
        worker_policy(a.pick(WorkerPolicy::ALL)), balance_by(a.pick(BalanceBy::ALL)),
        holders((0..a.rng.u8(0..5)).map(|_| a.narrows()).collect::<Vec<_>>()), rank_nodes(a.narrows()), tolerance(a.narrow()),
        shuffle(a.rng.bool()), shuffle_rows(a.rng.bool()), reshuffle(a.rng.bool()), seed(a.signed()), epoch(a.wide()), memory_limit(a.memory()));
    let Some(mut p) = made!(a, "build", builder.build()) else { return };
    a.about(p.recipe());
    look!(a, p, epoch(), seed(), world_size(), workers());
    ask!(a, 1 in 2, p,
        recipe(), recipe_fingerprint(), sizes(), bytes(), at_epoch(a.wide()), set_epoch(a.wide()), num_shards(a.narrow(), a.narrow()),
        shards(a.narrow(), a.narrow()), shards_window(a.narrow(), a.narrow(), a.narrow(), a.count()),
        loads_window(a.pick(Tier::ALL), a.narrow(), a.count()), load_summary(a.pick(Tier::ALL), a.pick(BalanceBy::ALL)), rows(a.narrow(), a.range()),
        rows_window(a.narrow(), a.wide(), a.count()), steps(a.any_size()), config_fingerprint());
    // These calls return a value for every worker, so there must be few workers.
    if u64::from(p.world_size()) * u64::from(p.workers()) < 10_000 {
        ask!(a, 1 in 2, p, loads(a.pick(Tier::ALL)), verify());
    }
    if let Ok(balance) = p.load_summary(Tier::Ranks, BalanceBy::Samples) {
        look!(a, balance, imbalance());
    }
    if let Ok(steps) = p.steps(3) {
        look!(a, steps, is_equal());
    }
}

pub fn streams(a: &mut Asked) {
    let (reader, readers) = (a.narrow(), a.narrow());
    let _ = made!(a, "ChunkStream::new", ChunkStream::new(reader, readers));
    let mut builder = if a.rng.bool() {
        let case = a.case("chunk-stream");
        ChunkStream::from_recipe(member(&case, "recipe"), number_of(&case, "reader") as u32)
    } else {
        ChunkStream::builder(reader, readers)
    };
    set!(a, 1 in 3, builder, order(a.order_name()), seed(a.signed()), epoch(a.wide()), memory_limit(a.memory()));
    if a.one_in(3) {
        builder = builder.chunks(a.samples());
    }
    let Some(s) = made!(a, "build", builder.build()) else { return };
    a.about(s.recipe());
    look!(a, s, reader());
    ask!(a, 1 in 2, s, recipe(), chunks(a.wide(), a.count()));
    // Few chunks are read one by one, because each may need a table of its own.
    let mut some = s.iter();
    for _ in 0..5 {
        a.begin("iter");
        let chunk = some.next().transpose();
        a.end(&chunk);
    }
}
