//! Samplers, orders, schedules, splits, meshes, launchers.

use samedeal::{
    Axis, BalanceBy, Exhaustion, IndexSpace, Layout, Mesh, Order, Part, Remainder, Role, Sampler, Schedule, Source,
    Split, Tier,
};

use crate::asked::{Asked, SMALL, ask, lists_of, look, made, member, number_of, set};

pub fn samplers(a: &mut Asked) {
    let mut builder = if a.rng.bool() {
        let case = a.case("sampler");
        let (epoch, rank) = (number_of(&case, "epoch"), number_of(&case, "rank") as u32);
        Sampler::from_recipe(member(&case, "recipe")).lists(lists_of(&case)).epoch(epoch).rank(rank)
    } else {
        match a.rng.u8(0..4) {
            0 => Sampler::sharded(a.wides()),
            1 => Sampler::from_order(order(a)),
            2 => {
                let samples = a.samples();
                let _ = made!(a, "new", Sampler::new(samples));
                Sampler::builder(samples)
            }
            _ => Sampler::builder(a.wide()),
        }
    };
    set!(a, 1 in 7, builder,
        seed(a.signed()), epoch(a.wide()), sizes(a.wides()), list(a.text(), a.wides()), lanes(a.narrow()),
        shuffle_window(a.narrow()), rank(a.narrow()), world_size(a.narrow()), remainder(a.pick(Remainder::ALL)),
        layout(a.pick(Layout::ALL)), unit(a.narrow()), consumed(a.wide()), memory_limit(a.memory()));
    let Some(mut s) = made!(a, "build", builder.build()) else { return };
    a.about(s.recipe());
    look!(
        a,
        s,
        dataset_size(),
        epoch_length(),
        seed(),
        epoch(),
        order(),
        rank(),
        world_size(),
        remainder(),
        layout(),
        unit(),
        consumed(),
        lanes(),
        shuffle_window(),
        num_samples(),
        max_num_samples(),
        num_padding(),
        num_positions(),
        num_dropped(),
        max_count()
    );
    for _ in 0..a.rng.u8(1..4) {
        ask!(a, 1 in 4, s,
            recipe(), recipe_fingerprint(), sizes(), state(a.wide()), resume(&a.known("state")), set_epoch(a.wide()), set_rank(a.narrow()),
            at_epoch(a.wide()), at_rank(a.narrow()), rest(a.wide()), window::<u64>(a.wide(), a.count()), window::<u32>(a.wide(), a.count()),
            indices::<u64>(a.range()), num_batches(a.any_size()), batch::<u64>(a.wide(), a.size()),
            sample_at(a.wide()), locate(a.wide(), a.narrow()), locate_all(&a.wides(), a.narrow()), place_of(a.wide(), a.narrow()),
            config_fingerprint(), num_rounds(), round(a.wide()), shard_of(a.wide()), locate_from(a.wide(), a.wide(), a.narrow()), fate(a.wide(), a.narrow(), a.wide()),
            step(a.wide(), a.size(), a.narrow()..a.narrow()),
            short_epochs(a.wide(), a.narrow(), a.narrow()),
            sources(), source_counts(a.range()), source_bounds(), source_of(a.wide()));
        if s.num_samples() <= SMALL {
            ask!(a, 1 in 4, s, fingerprint());
        }
        let mut some = s.iter().take(9);
        a.begin("iter");
        let last = some.try_fold((), |(), index| index.map(|_| ()));
        a.end(&last);
        let size = a.size();
        if let Some(mut batches) = made!(a, "batches", s.batches(size)) {
            a.begin("batches: next");
            let next = batches.next().transpose();
            a.end(&next);
        }
        if let Ok(own) = s.at_epoch(s.epoch())
            && let Some(mut batches) = made!(a, "into_batches", own.into_batches(size))
        {
            a.begin("into_batches: next_back");
            let last = batches.next_back().transpose();
            a.end(&last);
        }
        if let Some(builder) = made!(a, "to_builder", s.to_builder()) {
            let _ = made!(a, "to_builder: build", builder.build());
        }
        // An object must accept its own state.
        let taken = a.rng.u64(0..=s.num_samples().min(40));
        if let Ok(state) = s.state(taken) {
            let Ok(mut again) = s.at_epoch(s.epoch()) else { continue };
            a.begin("resume: own state");
            let back = again.resume(&state);
            a.end(&back);
            assert!(back.is_ok(), "a sampler refuses its own state {state}");
        }
    }
}

/// A random order, nested at most three deep.
pub fn order(a: &mut Asked) -> Order {
    nested(a, 2)
}

fn nested(a: &mut Asked, depth: u32) -> Order {
    a.begin("Order");
    let mut order = match a.rng.u8(0..if depth == 0 { 3 } else { 10 }) {
        0 => Order::new(a.order_name(), a.samples()),
        1 => Order::sharded(a.wides()),
        2 => Order::new("feistel", a.wide()),
        3 => {
            let sources = a.rng.u8(0..4);
            let sources: Vec<Source> = (0..sources).map(|_| source(a, depth)).collect();
            Order::blend(sources)
        }
        4 => Order::grown(a.samples(), (0..a.rng.u8(0..3)).map(|_| (a.wide(), a.wide(), a.wide())).collect::<Vec<_>>()),
        5 => Order::windows(a.wides(), a.wide()),
        6 => Order::balance(a.wides(), a.narrows()),
        7 => Order::weighted(a.wides()),
        8 => nested(a, depth - 1).skip([(a.wide(), a.wide(), a.wide())]),
        9 => {
            let (inner, list) = (nested(a, depth - 1), a.wides());
            if a.rng.bool() { inner.exclude(list) } else { inner.subset(list) }
        }
        other => unreachable!("no order has the number {other}"),
    };
    a.end_plain();
    set!(a, 1 in 9, order,
        copies(a.rng.u32(0..4)), stage(a.wide(), a.wides()), grow(a.wide(), a.wide(), a.wide()), seed(a.signed()), samples(a.samples()),
        exact(), exhaustion(a.pick(Exhaustion::ALL)), max_passes(a.wide()), run_length(a.narrow()), by_lane(a.rng.bool()), index_space(a.pick(IndexSpace::ALL)),
        lanes(a.narrow()), shuffle_window(a.narrow()), stride(a.wide()), replacement(a.rng.bool()));
    if depth > 0 && a.one_in(6) {
        let source = source(a, depth);
        order = order.source(source);
    }
    order
}

fn source(a: &mut Asked, depth: u32) -> Source {
    let (name, weight) = (a.text(), a.wide());
    if a.rng.bool() { Source::new(name, a.samples(), weight) } else { Source::new(name, nested(a, depth - 1), weight) }
}

pub fn orders(a: &mut Asked) {
    let order = order(a);
    look!(a, order, to_json());
    if let Some(sampler) = made!(a, "build", Sampler::from_order(order).rank(0).build()) {
        ask!(a, 1 in 2, sampler, window::<u64>(a.wide(), a.count()), locate(a.wide(), 7));
    }
}

pub fn schedules(a: &mut Asked) {
    let mut builder = if a.rng.bool() {
        let case = a.case("schedule");
        Schedule::from_recipe(member(&case, "recipe")).lists(lists_of(&case)).rank(number_of(&case, "rank") as u32)
    } else if a.rng.bool() {
        let order = order(a);
        Schedule::from_order(order, a.narrow())
    } else {
        Schedule::builder(a.samples(), a.narrow())
    };
    set!(a, 1 in 7, builder,
        seed(a.signed()), lanes(a.narrow()), shuffle_window(a.narrow()), list(a.text(), a.wides()), rank(a.narrow()), world_size(a.narrow()),
        layout(a.pick(Layout::ALL)), unit(a.narrow()), global_batch_size(a.narrow()), epochs(a.wide()),
        stages((0..a.rng.u8(0..4)).map(|_| (a.wide(), a.narrow())).collect::<Vec<_>>()), memory_limit(a.memory()));
    let Some(s) = made!(a, "build", builder.build()) else { return };
    a.about(s.recipe());
    look!(a, s, rank(), world_size(), dataset_size(), seed(), order(), layout(), unit(), num_steps());
    ask!(a, 1 in 2, s,
        recipe(), recipe_fingerprint(), at_rank(a.narrow()), global_batch_size(a.wide()), samples_consumed(a.wide()), place_of(a.wide()),
        step_of_consumed(a.wide()), step_of(a.wide(), a.wide()), indices_window(a.wide(), a.count()), locate(a.wide(), a.wide()), state(a.wide()),
        resume(&a.known("state")), to_builder());
    // Steps of many samples can take many epochs, each of which is built anew. A range with too many is refused.
    let range = a.range();
    let consumed = |step| s.samples_consumed(step).unwrap_or_default();
    let count = consumed(range.end).saturating_sub(consumed(range.start)) / u64::from(s.world_size());
    if !(SMALL..=1 << 20).contains(&count) {
        ask!(a, 1 in 2, s, indices(range.clone()));
    }
    // A batch has as many samples as the recipe says, so only batches that fit into memory are read.
    let step = a.wide();
    if s.global_batch_size(step).is_ok_and(|size| size < 10_000) {
        ask!(a, 1 in 2, s, batch(step));
        if let Some(mut steps) = made!(a, "steps", s.steps(step..)) {
            a.begin("steps: next");
            let next = steps.next().transpose();
            a.end(&next);
        }
    }
    look!(a, s, iter());
}

pub fn splits(a: &mut Asked) {
    let mut builder = match a.rng.u8(0..4) {
        0 => Split::by_weight((0..a.rng.u8(0..4)).map(|_| (a.text(), a.wide())).collect::<Vec<_>>()),
        1 => Split::by_size((0..a.rng.u8(0..4)).map(|_| (a.text(), a.wide())).collect::<Vec<_>>()),
        2 => Split::folds(a.narrow().min(3000)),
        _ => {
            let case = a.case("split");
            Split::from_recipe(member(&case, "recipe"))
        }
    };
    set!(a, 1 in 3, builder, seed(a.signed()), memory_limit(a.memory()));
    let Some(s) = made!(a, "build", builder.build()) else { return };
    a.about(s.recipe());
    look!(a, s, parts());
    let samples = a.samples();
    let keys: Vec<String> = (0..a.rng.u8(0..5)).map(|_| a.text()).collect();
    let name = a.text();
    let part = if a.rng.bool() { Part::Number(a.narrow()) } else { Part::Name(&name) };
    ask!(a, 1 in 2, s,
        recipe(), recipe_fingerprint(), name_of(a.narrow()), number_of(part), part_of(&a.wides()), part_of_window(&a.wides()),
        part_of_run(a.wide(), a.count()), part_of_keys(&keys), part_of_keys_window(&keys), indices(part, samples), others(part, samples),
        counts(samples), members(a.narrow(), a.wide(), a.count()));
    if let Some(sizes) = made!(a, "exact_sizes", s.exact_sizes()) {
        ask!(a, 1 in 2, sizes, add_keys(&keys), add_ids(&a.wides()), split(&name));
    }
}

/// Meshes, launchers, and other functions.
pub fn functions(a: &mut Asked) {
    let axes: Vec<Axis> = (0..a.rng.u8(0..4))
        .map(|_| {
            let (name, size) = (a.text(), if a.one_in(5) { a.narrow() } else { a.rng.u32(1..4) });
            if a.rng.bool() { Axis::shard(name, size) } else { Axis::replicate(name, size) }
        })
        .collect();
    let world = axes.iter().fold(1_u32, |all, axis| all.wrapping_mul(axis.size));
    let world = if a.one_in(4) { a.narrow() } else { world };
    if let Some(mesh) = made!(a, "Mesh::new", Mesh::new(world, axes)) {
        look!(a, mesh, world_size(), axes(), data_world_size());
        ask!(a, 1 in 2, mesh, data_rank(a.narrow()), coordinates(a.narrow()), rank_at(&a.narrows()));
        // The number of peers can be the world size, so it must be small.
        if mesh.world_size() < 10_000 {
            ask!(a, 1 in 2, mesh, peers(a.narrow()));
        }
    }
    let names = samedeal::rank_variables().unwrap_or_default();
    let environment: Vec<(String, String)> = (0..a.rng.u8(0..6))
        .map(|_| {
            let name = if a.one_in(5) { a.text() } else { names[a.rng.usize(..names.len())].clone() };
            let value = if a.rng.bool() { a.narrow().to_string() } else { a.text() };
            (name, value)
        })
        .collect();
    let ranks = [a.rng.bool(), a.rng.bool()].map(|is_there| is_there.then(|| a.narrow()));
    let environment = environment.iter().map(|(name, value)| (name, value));
    let _ = made!(a, "detect_rank_in", samedeal::detect_rank_in(environment, ranks[0], ranks[1]));
    let _ = made!(a, "detect_rank", samedeal::detect_rank(ranks[0], ranks[1]));
    let _ = made!(a, "rank_variables", samedeal::rank_variables());
    let _ = made!(a, "plain_orders", samedeal::plain_orders());
    let (text, state) = (a.text(), a.known("state"));
    let _ = made!(a, "inspect", samedeal::inspect(&state));
    let _ = made!(a, "inspect", samedeal::inspect(&text));
    let _ = made!(a, "differences", samedeal::differences(&state, &text));
    let _ = made!(a, "recipe_after", samedeal::recipe_after(&state, &text));
    let floats: Vec<f64> = a.wides().into_iter().map(f64::from_bits).collect();
    let _ = made!(a, "whole_weights", samedeal::whole_weights(&floats));
    let assigned: Vec<Vec<u32>> = (0..a.rng.u8(0..4)).map(|_| a.narrows()).collect();
    let (shards, offsets, flat) = (a.narrow(), a.narrows(), a.narrows());
    if let Some(verified) = made!(a, "verify_shards", samedeal::verify_shards(shards, &assigned)) {
        look!(a, verified, is_ok());
    }
    let _ = made!(a, "verify_runs", samedeal::verify_runs(shards, &offsets, &flat));
    // The parsers of all names of choices.
    let name = a.text();
    a.begin("from_str");
    let known = [
        name.parse::<Role>().is_ok(),
        name.parse::<Remainder>().is_ok(),
        name.parse::<Layout>().is_ok(),
        name.parse::<Tier>().is_ok(),
        name.parse::<BalanceBy>().is_ok(),
        name.parse::<Exhaustion>().is_ok(),
        name.parse::<IndexSpace>().is_ok(),
    ];
    a.end_plain();
    std::hint::black_box(known);
    if let Err(error) = Sampler::new(u64::MAX) {
        let failure = error.failure().expect("arguments are to blame");
        look!(a, failure, min(), max(), needs());
        look!(a, failure.kind, name());
        look!(a, error, failure());
        std::hint::black_box(failure.known().count());
    }
}
