//! States: samples that were consumed are not dealt again, whatever the world size.

use proptest::prelude::*;
use samedeal_core::{Config, Kind, Layout, OrderId, Recipe, Remainder, Sampler, Spans};

fn ranks(config: Config) -> Vec<Sampler> {
    (0..config.world_size).map(|rank| Sampler::new(Config { rank, ..config }).unwrap()).collect()
}

proptest! {
    /// Several world sizes, one after the other, each of which takes a part of the samples that are left.
    #[test]
    fn every_sample_is_dealt_once_through_any_worlds(
        samples in 0_u64..300,
        seed: i64,
        epoch: u64,
        worlds in prop::collection::vec((1_u32..9, 0.0..1.0_f64), 1..5),
        order in prop::sample::select(vec![OrderId::Feistel, OrderId::Torch, OrderId::Python, OrderId::Sequential]),
    ) {
        let base = Config { seed, epoch, order, remainder: Remainder::Uneven, ..Config::new(samples) };
        let whole = Sampler::new(base).unwrap().indices::<u64>(0, samples as u32).unwrap();
        let mut seen = Vec::new();
        let mut state: Option<String> = None;
        for (world_size, part) in worlds {
            let deal: Vec<_> = ranks(Config { epoch: 7, world_size, ..base }).iter().map(|sampler| match &state {
                Some(state) => sampler.resume(state).unwrap(),
                None => sampler.at_epoch(epoch).unwrap(),
            }).collect();
            let taken = (deal[0].num_samples() as f64 * part) as u64;
            let mut runs: Vec<_> = deal.iter().map(|sampler| {
                let count = taken.min(sampler.num_samples());
                sampler.indices::<u64>(0, count as u32).unwrap().into_iter()
            }).collect();
            // Samples are seen in the order in which the steps take them.
            for _ in 0..taken {
                seen.extend(runs.iter_mut().filter_map(Iterator::next));
            }
            let states: Vec<_> = deal.iter().map(|sampler| sampler.state(taken).unwrap()).collect();
            prop_assert!(states.iter().all(|state| *state == states[0]));
            state = Some(states[0].clone());
        }
        prop_assert_eq!(&seen, &whole[..seen.len()]);
        let rest = Sampler::new(base).unwrap().resume(&state.unwrap()).unwrap();
        seen.extend(rest.indices::<u64>(0, rest.num_samples() as u32).unwrap());
        prop_assert_eq!(seen, whole);
    }

    /// The remainder is that of the samples that are left, and places are those of the samples.
    #[test]
    fn what_is_left_is_dealt_as_a_whole_would_be(
        samples in 1_u64..200, part in 0.0..1.0_f64, world_size in 1_u32..12,
        remainder in prop::sample::select(vec![Remainder::Drop, Remainder::Pad, Remainder::Uneven]),
        layout in prop::sample::select(vec![Layout::Strided, Layout::Contiguous]),
    ) {
        let consumed = (samples as f64 * part) as u64;
        let left = samples - consumed;
        let config = Config { consumed, world_size, remainder, layout, ..Config::new(samples) };
        let like = Config { world_size, remainder, layout, ..Config::new(left) };
        for (sampler, like) in ranks(config).iter().zip(ranks(like)) {
            let whole = Sampler::new(Config { consumed: 0, rank: sampler.config().rank, ..config }).unwrap();
            prop_assert_eq!(*whole.rest(consumed).unwrap().deal(), *sampler.deal());
            prop_assert_eq!(*sampler.rest(0).unwrap().deal(), *whole.deal());
            let (count, padding) = (sampler.num_samples(), sampler.deal().num_padding());
            prop_assert_eq!((count, padding), (like.num_samples(), like.deal().num_padding()));
            prop_assert_eq!(sampler.deal().num_dropped(), like.deal().num_dropped());
            let indices = sampler.indices::<u64>(0, count as u32).unwrap();
            for (index, &sample) in indices.iter().enumerate() {
                let at = sampler.locate(sample, 3).unwrap().unwrap();
                if (index as u64) < count - padding {
                    prop_assert_eq!((at.rank, at.index_in_rank), (sampler.config().rank, index as u64));
                }
                prop_assert!(at.position >= consumed);
                prop_assert_eq!(sampler.sample_at(at.position).unwrap(), sample);
                prop_assert_eq!(sampler.place_of(at.position, 3).unwrap(), at);
            }
        }
    }
}

#[test]
fn states_of_anything_else_are_refused() {
    let sampler = Sampler::new(Config { epoch: 3, ..Config::new(10) }).unwrap();
    let state = sampler.state(4).unwrap();
    for (text, field) in [
        (String::new(), "state"),
        ("{}".into(), "state"),
        ("[".repeat(4_000), "state"),
        (format!("{{\"a\":{}", "[".repeat(4_000)), "state"),
        (" ".repeat(5_000), "state"),
        (format!("{state}x"), "state"),
        (state[..state.len() - 1].into(), "state"),
        (state.replace("\"samedeal\":1", "\"samedeal\":2"), "samedeal"),
        (state.replace("\"samedeal\":1", "\"more\":[],\"samedeal\":2"), "samedeal"),
        (state.replace("sampler", "batcher"), "state"),
        (state.replace("\"seed\":0", "\"seed\":0,\"seed\":0"), "state"),
        (state.replace("\"seed\":0", "\"seed\":0,\"more\":0"), "order"),
        (state.replace(",\"epoch\":3", ""), "state"),
        (state.replace(",\"consumed\":4", ""), "state"),
        (state.replace(",\"samples\":10", ""), "state"),
        (state.replace("\"recipe\":{", "\"recipe\":{\"deal\":{},"), "recipe"),
        (state.replace("\"epoch\"", "\"history\":[],\"epoch\""), "state"),
        (state.replace(",\"seed\":0", ""), "seed"),
        (state.replace("\"name\":\"feistel\",", ""), "name"),
        (state.replace("\"seed\":0", "\"seed\":0,\"lanes\":8"), "lanes"),
        (state.replace("\"seed\":0", "\"seed\":0.0"), "state"),
        (state.replace("\"seed\":0", "\"seed\":\"0\""), "state"),
        (state.replace("\"seed\":0", "\"seed\":9223372036854775808"), "state"),
        (state.replace("\"consumed\":4", "\"consumed\":11"), "consumed"),
        (state.replace("\"consumed\":4", "\"consumed\":-1"), "state"),
        (state.replace("\"samples\":10", "\"samples\":18446744073709551615"), "state"),
        (state.replace("\"samples\":10", "\"samples\":11"), "samples"),
        (state.replace("\"seed\":0", "\"seed\":1"), "seed"),
        (state.replace("feistel", "torch"), "name"),
    ] {
        assert_ne!(text, state);
        let failure = sampler.resume(&text).err().unwrap();
        assert_eq!(failure.field, field, "{text}");
        assert!(failure.value.chars().count() <= 64 && failure.allowed.chars().count() <= 300, "{failure:?}");
        assert_eq!((sampler.config().epoch, sampler.config().consumed), (3, 0));
    }
    let spaced = state.replace(':', " : ").replace(',', " ,\n");
    for text in [format!(" {spaced}\n"), state.replace("\"seed\":0", "\"seed\":-0")] {
        let rest = sampler.resume(&text).unwrap();
        assert_eq!((rest.config().consumed, rest.num_samples()), (4, 6));
        assert_eq!(rest.state(0).unwrap(), state);
        assert_eq!(sampler.rest(4).unwrap().state(0).unwrap(), state);
        // `at_epoch` gives the whole of an epoch, also of the present one.
        for epoch in [3, 4] {
            let whole = rest.at_epoch(epoch).unwrap();
            assert_eq!((whole.config().epoch, whole.config().consumed, whole.num_samples()), (epoch, 0, 10));
        }
        assert_eq!(rest.rest(11).err().unwrap().field, "consumed");
        assert_eq!(rest.at_rank(1).err().unwrap().field, "rank");
    }
    assert_eq!(*sampler.config(), Config { epoch: 3, ..Config::new(10) });
}

#[test]
fn the_member_recipe_of_a_state_is_told_from_the_state_itself() {
    let sampler = Sampler::new(Config::new(10)).unwrap();
    let state = sampler.state(4).unwrap();
    let (begin, rest) = state.split_once("{\"order\"").unwrap();
    let end = rest.split_once("}}").unwrap().1;
    let text = |recipe: &str| format!("{begin}{recipe}{end}");
    for (text, told) in [
        (text("5"), "recipe is 5; allowed: an object"),
        (text("[{}]"), "recipe is a list; allowed: an object"),
        (text("{},\"recipe\":{}"), "recipe is there twice; allowed: once"),
        (text("{},"), "state is ,\"epoch\""),
        (text("{\"order\":5}"), "recipe.order is 5; allowed: an object"),
        (state.replace("\"seed\":0", "\"seed\":0;"), "state is ;}}"),
        (state.replace("\"recipe\"", "recipe"), "state is recipe"),
    ] {
        let failure = sampler.resume(&text).err().unwrap();
        assert_eq!(failure.field, "state", "{text}");
        assert!(failure.to_string().contains(&format!("; in this text, {told}")), "{text}: {failure}");
    }
    // An unknown member of the text is one of `state`, also if `recipe` is no object.
    let failure = sampler.resume(&text("5").replace("\"kind\"", "\"new\":1,\"kind\"")).err().unwrap();
    assert_eq!((failure.field, &*failure.value), ("state", "new"));
}

#[test]
fn runs_that_are_no_prefix_have_no_state() {
    let config = Config { world_size: 2, layout: Layout::Contiguous, ..Config::new(10) };
    let sampler = Sampler::new(config).unwrap();
    assert_eq!(sampler.state(3).unwrap_err().kind, Kind::Contradiction);
    assert!(sampler.state(0).unwrap().contains("\"consumed\":0"));
    assert!(sampler.state(5).unwrap().contains("\"consumed\":10"));
    assert_eq!(sampler.state(6).unwrap_err().field, "taken");
    let dropping = Sampler::new(Config { world_size: 4, remainder: Remainder::Drop, ..Config::new(10) }).unwrap();
    assert!(dropping.state(1).unwrap().contains("\"consumed\":4"));
    assert!(dropping.state(2).unwrap().contains("\"consumed\":10"));
}

#[test]
fn lanes_go_on_on_another_number_of_ranks() {
    let sizes = [40, 7, 0, 60, 21];
    let of_lanes = |world_size: u32, rank, lanes: u32| {
        let text = format!(
            r#"{{"order": {{"name": "sharded", "seed": 5, "lanes": {lanes}, "shuffle_window": 4}},
                "deal": {{"world_size": {world_size}}}}}"#
        );
        let lists: [(&str, &[u64]); 1] = [("sizes", &sizes)];
        Sampler::from_recipe(&Recipe::read(&text, &lists).unwrap(), 0, rank).unwrap()
    };
    let sharded = |world_size, rank| of_lanes(world_size, rank, 8);
    let whole = sharded(1, 0).indices::<u64>(0, 128).unwrap();
    let state = sharded(4, 1).state(9).unwrap();
    for world_size in [1, 2, 8, 3] {
        let mut seen = Vec::new();
        for rank in 0..world_size {
            let sampler = sharded(world_size, rank).resume(&state).unwrap();
            let mine = sampler.indices::<u64>(0, sampler.num_samples() as u32).unwrap();
            seen.extend(mine.iter().copied().take((sampler.num_samples() - sampler.deal().num_padding()) as usize));
            // The rows of the rounds have all these samples.
            let mut read = 0;
            for number in 0..sampler.num_rounds().unwrap() {
                let round = sampler.round(number).unwrap();
                assert_eq!(round.start, read);
                read += round.count;
                let Spans { shard, first_row, num_rows, .. } = &round.spans;
                let held: Vec<u64> = (0..round.spans.len())
                    .flat_map(|at| {
                        let first = sizes[..shard[at] as usize].iter().sum::<u64>() + first_row[at];
                        first..first + num_rows[at]
                    })
                    .collect();
                let run = &mine[round.start as usize..(round.start + round.count) as usize];
                assert!(run.iter().all(|sample| held.contains(sample)));
            }
            assert_eq!(read, sampler.num_samples());
        }
        seen.sort_unstable();
        let mut left = whole[36..].to_vec();
        left.sort_unstable();
        assert_eq!(seen, left);
    }
    let failure = of_lanes(1, 0, 16).resume(&state).err().unwrap();
    assert_eq!((failure.field, &*failure.value), ("lanes", "16"));
    assert!(failure.allowed.starts_with("8, as in the state"), "{failure}");
}

mod batches {
    use std::collections::HashSet;

    use samedeal_core::batch::{BatchConfig, Batcher, Buckets, Counting, NO_LIMIT, Packing, Strategy, Tail, TooLong};
    use samedeal_core::{Order, OrderId};

    fn lengths(count: u32) -> Vec<u32> {
        (0..count).map(|i| i.wrapping_mul(2_654_435_761) >> 25).collect()
    }

    fn configs() -> Vec<BatchConfig> {
        let mut configs = Vec::new();
        for strategy in [Strategy::PadToMax, Strategy::Bucket, Strategy::Budget, Strategy::Pack] {
            for (window, too_long, tail) in [
                (None, TooLong::Error, Tail::Keep),
                (Some(50), TooLong::Split, Tail::Duplicate),
                (None, TooLong::Drop, Tail::EvenSplit),
                (Some(70), TooLong::Single, Tail::Drop),
            ] {
                configs.push(BatchConfig {
                    window,
                    keep_order: too_long == TooLong::Drop,
                    too_long,
                    tail,
                    seed: 4,
                    epoch: 2,
                    max_batch_size: 3,
                    max_length: if too_long == TooLong::Error { 128 } else { 90 },
                    budget: if strategy == Strategy::Budget { 300 } else { 0 },
                    capacity: 128,
                    counting: if window == Some(50) { Counting::Unpadded } else { Counting::Padded },
                    packing: if window == Some(70) { Packing::Optimal } else { Packing::Fast },
                    buckets: Some(Buckets::Quantiles(3)),
                    ..BatchConfig::new(lengths(400), strategy)
                });
            }
        }
        configs
    }

    /// The items of the first `steps` steps, as sample and start, without repetitions.
    fn taken(batcher: &Batcher, world: u32, steps: u64) -> Vec<(u64, u32)> {
        let mut items = Vec::new();
        for rank in 0..world {
            for step in 0..steps {
                let run = batcher.take(rank, step, 1).unwrap();
                let rows = run.row_ends.len() - run.repeated[0] as usize;
                let end = rows.checked_sub(1).map_or(0, |last| run.row_ends[last] as usize);
                items.extend(run.samples[..end].iter().copied().zip(run.starts[..end].iter().copied()));
            }
        }
        items
    }

    /// Default windows are wider with a larger world size. The rest of the open window of another world size is planned
    /// by itself.
    #[test]
    fn a_default_window_goes_on_in_other_worlds() {
        let lengths = (0..20_000).map(|sample| sample * 7 % 10).collect::<Vec<_>>();
        let by_default = |world| {
            let config = BatchConfig {
                world_size: world,
                budget: 40,
                max_batch_size: NO_LIMIT,
                ..BatchConfig::new(lengths.clone(), Strategy::Budget)
            };
            Batcher::of(config).unwrap()
        };
        let one = by_default(1);
        assert_eq!((one.num_windows(), by_default(64).num_windows()), (2, 1));
        let steps = one.num_steps().unwrap();
        let state = one.state(300).unwrap();
        assert!(
            state.contains(r#""epoch":0,"consumed":0,"history":[{"world_size":1,"steps":300}],"window":"#),
            "{state}"
        );
        let same = by_default(1).resume(&state).unwrap();
        assert_eq!(same.take(0, 0, (steps - 300) as u32).unwrap(), one.take(0, 300, (steps - 300) as u32).unwrap());

        let many = by_default(64).resume(&state).unwrap();
        let mut seen = taken(&one, 1, 300);
        seen.extend(taken(&many, 64, 20));
        let state = many.state(20).unwrap();
        // The open window of the first world size is over: the rest has windows of the larger one.
        assert!(state.contains(r#""consumed":8192,"history":[{"world_size":64,"steps":"#), "{state}");
        let back = by_default(1).resume(&state).unwrap();
        seen.extend(taken(&back, 1, back.num_steps().unwrap()));
        seen.sort_unstable();
        assert!(seen.iter().map(|item| item.0).eq(0..20_000), "every sample once");
        let again = by_default(64).resume(&state).unwrap();
        assert_eq!(again.take(3, 0, 5).unwrap(), many.take(3, 20, 5).unwrap());

        // A given window of as many items is another configuration, because it does not follow the world size.
        let config =
            BatchConfig { budget: 40, max_batch_size: NO_LIMIT, ..BatchConfig::new(lengths.clone(), Strategy::Budget) };
        let said = Batcher::of(BatchConfig { window: Some(8_192), ..config }).unwrap();
        assert_eq!(said.fingerprint().unwrap(), one.fingerprint().unwrap());
        assert_eq!(said.resume(&state).err().unwrap().field, "batch_window");
    }

    /// The recipe has the hash of only some lengths, so the checksum of the open window has to find other lengths.
    #[test]
    fn other_lengths_of_the_open_window_are_refused() {
        let config = |lengths| BatchConfig {
            budget: 300,
            max_batch_size: NO_LIMIT,
            window: Some(40),
            ..BatchConfig::new(lengths, Strategy::Budget)
        };
        let own = lengths(20_000);
        let whole = Batcher::of(config(own.clone())).unwrap();
        let (before, state) = (whole.take(0, 0, 3).unwrap().samples, whole.state(3).unwrap());
        let mut others = (0..20_000).filter(|&sample| {
            let mut changed = own.clone();
            changed[sample] += 1;
            let other = Batcher::of(config(changed)).unwrap();
            // If the hash in the recipe differs, the state is refused at once.
            let Ok(rest) = other.resume(&state) else { return false };
            rest.take(0, 0, 1).err().is_some_and(|failure| failure.field == "lengths")
        });
        assert!(others.any(|sample| before.contains(&(sample as u64))));
        let rest = whole.resume(&state).unwrap();
        assert_eq!(rest.state(0).unwrap(), state);
        assert_eq!(rest.state(2).unwrap(), whole.state(5).unwrap());
    }

    /// A state from the middle of an epoch has steps of one window only.
    #[test]
    fn a_state_has_one_window() {
        let base = BatchConfig {
            budget: 300,
            max_batch_size: NO_LIMIT,
            window: Some(40),
            ..BatchConfig::new(lengths(400), Strategy::Budget)
        };
        let whole = Batcher::of(BatchConfig { world_size: 2, ..base.clone() }).unwrap();
        let steps = whole.num_steps().unwrap();
        let (mut states, mut taken) = (Vec::new(), HashSet::new());
        let mut order = vec![0; 400];
        Order::new(OrderId::Feistel, 400, 0, 0).unwrap().fill(0, 1, &mut order).unwrap();
        for step in 0..=steps {
            if step > 0 {
                let both = [0, 1].map(|rank| whole.take(rank, step - 1, 1).unwrap().samples);
                taken.extend(both.concat());
            }
            let state = whole.state(step).unwrap();
            let rest = Batcher::of(BatchConfig { world_size: 2, ..base.clone() }).unwrap().resume(&state).unwrap();
            assert_eq!(rest.num_steps().unwrap(), steps - step);
            assert!(rest.consumed().is_multiple_of(40) || rest.consumed() == 400);
            // Each position below `consumed` was consumed; the history tells of those behind it.
            assert!(order[..rest.consumed() as usize].iter().all(|sample| taken.contains(sample)), "{state}");
            states.push(state);
        }
        assert!(states[steps as usize].ends_with(r#""consumed":400,"history":[]}"#));
        states.dedup();
        assert_eq!(states.len() as u64, steps + 1);
    }

    /// The rest of an epoch is planned with other options, several times, and with the first ones again.
    #[test]
    fn what_is_left_is_planned_with_other_options() {
        let base = BatchConfig {
            budget: 300,
            max_batch_size: NO_LIMIT,
            window: Some(90),
            too_long: TooLong::Split,
            ..BatchConfig::new(lengths(400), Strategy::Budget)
        };
        let options = [
            base.clone(),
            BatchConfig { budget: 100, ..base.clone() },
            BatchConfig {
                strategy: Strategy::Pack,
                capacity: 70,
                max_batch_size: 2,
                budget: 0,
                window: None,
                ..base.clone()
            },
            BatchConfig { max_length: 30, counting: Counting::Unpadded, ..base.clone() },
        ];
        let mut tokens = vec![0_u64; 400];
        let mut state = None::<String>;
        for (at, config) in options.iter().chain(&options).chain(&options).enumerate() {
            let world = [2, 3, 1][at % 3];
            let mut batcher = Batcher::of(BatchConfig { world_size: world, ..config.clone() }).unwrap();
            if let Some(state) = &state {
                let failure = batcher.resume(state).err().unwrap();
                assert_eq!(failure.kind, samedeal_core::Kind::Contradiction);
                batcher = batcher.replan(state).unwrap();
            }
            let all = batcher.num_steps().unwrap();
            let steps = if at == 11 { all } else { all.min(4) };
            for rank in 0..world {
                let run = batcher.take(rank, 0, steps as u32).unwrap();
                for (&sample, &length) in run.samples.iter().zip(&run.lengths) {
                    tokens[sample as usize] += u64::from(length);
                }
            }
            let next = batcher.state(steps).unwrap();
            // A batcher with the same options resumes, after steps with other options.
            let same = Batcher::of(BatchConfig { world_size: world, ..config.clone() }).unwrap().resume(&next).unwrap();
            assert_eq!(same.state(0).unwrap(), next);
            assert_eq!(same.num_steps().unwrap(), all - steps);
            state = Some(next);
        }
        assert!(tokens.iter().zip(lengths(400)).all(|(&seen, length)| seen == u64::from(length)), "{tokens:?}");
        let other = BatchConfig { lengths: lengths(399), world_size: 2, ..base };
        assert_eq!(Batcher::of(other).unwrap().replan(&state.unwrap()).err().unwrap().field, "samples");
    }

    /// Batches are the same, whether the batcher has the lengths or asks for them.
    #[test]
    fn lengths_are_asked_for() {
        use samedeal_core::batch::BatchRecipe;
        use samedeal_core::{Failure, Kind};
        use std::rc::Rc;
        let length = |sample: u64| ((sample.wrapping_mul(2_654_435_761) >> 20) % 200) as u32;
        let samples = 40_000_u64;
        let section = r#""deal":{"world_size":3},"batch":{"max_tokens":2000,"batch_window":9000"#;
        let held = format!(r#"{{{section}}}}}"#);
        let held = BatchRecipe::with_lengths(&held, (0..samples).map(length).collect(), &[]).unwrap();
        let asked =
            BatchRecipe::read(&format!(r#"{{"order":{{"samples":{samples}}},{section}}}}}"#), None, &[]).unwrap();
        assert_eq!(
            Batcher::new(
                &Rc::new(
                    BatchRecipe::read(&format!(r#"{{"order":{{"samples":{samples}}},{section}}}}}"#), None, &[])
                        .unwrap()
                ),
                0
            )
            .err()
            .unwrap()
            .field,
            "lengths"
        );
        assert_eq!(asked.supply(vec![1; 3]).unwrap_err().kind, Kind::Contradiction);
        let wanted = asked.wanted().unwrap();
        assert_eq!((wanted.len(), wanted.is_sorted()), (1 << 14, true));
        asked.supply(wanted.into_iter().map(length).collect()).unwrap();
        assert!(asked.wanted().unwrap().is_empty());
        assert_eq!(asked.text(), held.text());
        // A recipe with only the hash of the lengths is enough to continue; the hash is checked.
        let again = BatchRecipe::read(&asked.text().unwrap(), None, &[]).unwrap();
        let wanted = again.wanted().unwrap();
        assert_eq!(again.supply(vec![7; wanted.len()]).unwrap_err().field, "lengths");
        again.supply(wanted.into_iter().map(length).collect()).unwrap();
        assert_eq!(again.text(), held.text());
        let (held, asked) = (Batcher::new(&Rc::new(held), 1).unwrap(), Batcher::new(&Rc::new(asked), 1).unwrap());
        fn answer<R>(
            batcher: &Batcher,
            length: impl Fn(u64) -> u32,
            ask: impl Fn(&Batcher) -> Result<R, Failure>,
        ) -> (R, usize) {
            for times in 0.. {
                match ask(batcher) {
                    Ok(answer) => return (answer, times),
                    Err(failure) => {
                        assert_eq!(failure.kind, Kind::Wanted, "{failure}");
                        assert!(batcher.supply(vec![1]).is_err());
                        batcher.supply(batcher.wanted().unwrap().into_iter().map(&length).collect()).unwrap();
                        assert!(batcher.wanted().unwrap().is_empty());
                    }
                }
            }
            unreachable!()
        }
        let (run, times) = answer(&asked, length, |batcher| batcher.take(1, 0, 3));
        assert_eq!((&run, times), (&held.take(1, 0, 3).unwrap(), 1));
        let steps = held.num_steps().unwrap();
        let (run, times) = answer(&asked, length, |batcher| batcher.take(2, 0, steps as u32));
        assert_eq!((&run, times), (&held.take(2, 0, steps as u32).unwrap(), 3), "each window once, and one was there");
        assert_eq!(answer(&asked, length, Batcher::fingerprint), (held.fingerprint().unwrap(), 4));
        assert_eq!(answer(&asked, length, |batcher| batcher.shapes(false)).0, held.shapes(false).unwrap());
        assert_eq!(answer(&asked, length, |batcher| batcher.index(1, 2)), (held.index(1, 2).unwrap(), 2));
        assert_eq!(answer(&asked, length, |batcher| batcher.locate(77)).0, held.locate(77).unwrap());
        assert_eq!(answer(&asked, length, |batcher| batcher.state(steps - 1)).0, held.state(steps - 1).unwrap());
    }

    /// The fingerprint of a recipe depends on only some lengths, so an index of other lengths may have the same one.
    #[test]
    fn an_index_of_other_lengths_is_told() {
        let lengths: Vec<u32> = (0..40_000).map(|sample| sample * 31 % 60 + 1).collect();
        let config = |lengths| BatchConfig {
            budget: 300,
            max_batch_size: NO_LIMIT,
            window: Some(9_000),
            ..BatchConfig::new(lengths, Strategy::Budget)
        };
        let here = Batcher::of(config(lengths.clone())).unwrap();
        let index = here.index(0, here.num_windows()).unwrap();
        let sampled = here.recipe().text().unwrap();
        let mut others = lengths.clone();
        for sample in 0..40_000 {
            let before = others[sample];
            others[sample] = 60 - before / 2;
            let same =
                sample % 97 == 0 && Batcher::of(config(others.clone())).unwrap().recipe().text().unwrap() == sampled;
            if !same {
                others[sample] = before;
            }
            if sample > 4_000 {
                break;
            }
        }
        assert_ne!(others, lengths);
        let other = Batcher::of(config(others)).unwrap();
        other.use_index(&index).unwrap();
        let steps = other.num_steps().unwrap();
        match other.take(0, 0, steps as u32) {
            Err(failure) => assert_eq!(failure.field, "lengths"),
            Ok(_) => panic!("lengths of which the recipe sees nothing went unseen"),
        }
    }

    #[test]
    fn an_index_says_how_many_steps_there_are() {
        use samedeal_core::batch::join_indices;
        let base = BatchConfig {
            budget: 300,
            max_batch_size: NO_LIMIT,
            world_size: 2,
            window: Some(40),
            ..BatchConfig::new(lengths(400), Strategy::Budget)
        };
        let batcher = || Batcher::of(base.clone()).unwrap();
        let whole = batcher();
        let (windows, steps, metrics) = (whole.num_windows(), whole.num_steps().unwrap(), whole.metrics().unwrap());
        let index = whole.index(0, windows).unwrap();
        let parts = [
            whole.index(7, windows - 7).unwrap(),
            whole.index(0, 3).unwrap(),
            whole.index(0, 2).unwrap(),
            whole.index(3, 4).unwrap(),
            whole.index(1, 2).unwrap(),
        ];
        assert_eq!(join_indices(&parts).unwrap(), index);
        assert_eq!(join_indices(&parts[..2]).unwrap_err().field, "first");
        assert_eq!(join_indices(&[]).unwrap_err().field, "index");
        let other = batcher();
        other.use_index(&index).unwrap();
        assert_eq!(other.num_known_windows(), windows);
        assert_eq!((other.num_steps().unwrap(), other.metrics().unwrap()), (steps, metrics));
        assert_eq!(other.take(1, steps - 2, 2).unwrap(), whole.take(1, steps - 2, 2).unwrap());
        assert_eq!(other.fingerprint().unwrap(), whole.fingerprint().unwrap());
        for taken in [1, steps / 2, steps - 1, steps] {
            let rest = batcher().resume(&whole.state(taken).unwrap()).unwrap();
            rest.use_index(&index).unwrap();
            assert_eq!(rest.num_steps().unwrap(), steps - taken);
            assert_eq!(
                rest.take(0, 0, (steps - taken) as u32).unwrap(),
                whole.take(0, taken, (steps - taken) as u32).unwrap()
            );
            assert_eq!(
                rest.metrics().unwrap(),
                batcher().resume(&whole.state(taken).unwrap()).unwrap().metrics().unwrap()
            );
        }
        assert_eq!(batcher().use_index(&parts[0]).unwrap_err().field, "index");
        assert_eq!(batcher().at_epoch(1).unwrap().use_index(&index).unwrap_err().field, "epoch");
        let other = Batcher::of(BatchConfig { budget: 301, ..base.clone() }).unwrap();
        assert_eq!(other.use_index(&index).unwrap_err().field, "recipe_fingerprint");
        let changed = index.replace("\"windows\":10", "\"windows\":11");
        assert_ne!(changed, index);
        assert_eq!(batcher().use_index(&changed).unwrap_err().field, "index");
        assert_eq!(batcher().use_index("{}").unwrap_err().field, "index");
        let of_three = Batcher::of(BatchConfig { world_size: 3, ..base.clone() })
            .unwrap()
            .resume(&whole.state(1).unwrap())
            .unwrap();
        let own = Batcher::of(BatchConfig { world_size: 3, ..base.clone() }).unwrap();
        let own = own.index(0, own.num_windows()).unwrap();
        assert_eq!(of_three.use_index(&own).unwrap_err().field, "consumed");
        assert_eq!(of_three.index(0, 1).unwrap_err().field, "consumed");
    }

    #[test]
    fn no_item_is_taken_twice_through_any_worlds() {
        for config in configs() {
            let whole = Batcher::of(BatchConfig { tail: Tail::Keep, ..config.clone() }).unwrap();
            let mut all = taken(&whole, 1, whole.metrics().unwrap().steps);
            all.sort_unstable();
            for worlds in [&[4, 3, 1][..], &[1, 8, 8, 2], &[2, 2, 64], &[3, 1, 3, 1]] {
                let mut seen = Vec::new();
                let mut state: Option<String> = None;
                let mut dropped = false;
                for (at, &world) in worlds.iter().enumerate() {
                    let mut batcher =
                        Batcher::of(BatchConfig { world_size: world, epoch: 9, ..config.clone() }).unwrap();
                    match &state {
                        Some(state) => batcher = batcher.resume(state).unwrap(),
                        None => batcher = batcher.at_epoch(2).unwrap(),
                    }
                    let steps = batcher.metrics().unwrap().steps;
                    let steps = if at + 1 == worlds.len() { steps } else { steps / 3 };
                    seen.extend(taken(&batcher, world, steps));
                    dropped |= batcher.metrics().unwrap().dropped > 0;
                    state = Some(batcher.state(steps).unwrap());
                    // Nothing is left after the last world size.
                    if at + 1 == worlds.len() && steps > 0 {
                        for world in [world, 5] {
                            let mut after = Batcher::of(BatchConfig { world_size: world, ..config.clone() }).unwrap();
                            after = after.resume(state.as_ref().unwrap()).unwrap();
                            assert_eq!(after.metrics().unwrap().steps, 0);
                            assert_eq!(after.state(0).unwrap(), *state.as_ref().unwrap());
                        }
                    }
                }
                seen.sort_unstable();
                assert!(seen.windows(2).all(|pair| pair[0] != pair[1]), "{config:?}");
                assert!(seen == all || dropped, "{config:?} {worlds:?}");
                assert!(!dropped || config.tail == Tail::Drop);
            }
        }
    }

    #[test]
    fn the_same_world_goes_on_with_the_same_batches() {
        for config in configs() {
            let config = BatchConfig { world_size: 3, ..config };
            let whole = Batcher::of(config.clone()).unwrap();
            let steps = whole.metrics().unwrap().steps;
            for taken in [0, 1, steps / 2, steps - 1, steps] {
                let mut rest = Batcher::of(BatchConfig { epoch: 7, ..config.clone() }).unwrap();
                rest = rest.resume(&whole.state(taken).unwrap()).unwrap();
                assert_eq!(rest.metrics().unwrap().steps, steps - taken);
                for rank in 0..3 {
                    assert_eq!(
                        rest.take(rank, 0, (steps - taken) as u32).unwrap(),
                        whole.take(rank, taken, (steps - taken) as u32).unwrap()
                    );
                }
                // States of the resumed batcher are those of the whole one.
                let more = (steps - taken) / 2;
                assert_eq!(rest.state(more).unwrap(), whole.state(taken + more).unwrap());
                rest = rest.at_epoch(2).unwrap();
                assert_eq!(rest.fingerprint().unwrap(), whole.fingerprint().unwrap());
            }
        }
    }

    #[test]
    fn samples_are_found_where_they_are() {
        for config in configs() {
            for (before, steps) in [(2, 0), (2, 5), (3, 2)] {
                let of = |world| Batcher::of(BatchConfig { world_size: world, ..config.clone() }).unwrap();
                let batcher = of(2).resume(&of(before).state(steps).unwrap()).unwrap();
                let mut all = 0;
                for sample in 0..400 {
                    for place in batcher.locate(sample).unwrap() {
                        let run = batcher.take(place.rank, place.step, 1).unwrap();
                        let first = if place.row == 0 { 0 } else { run.row_ends[place.row as usize - 1] };
                        let item = (first + place.index_in_row) as usize;
                        assert!(item < run.row_ends[place.row as usize] as usize);
                        assert_eq!((run.samples[item], run.starts[item]), (sample, place.start));
                        all += 1;
                    }
                }
                assert_eq!(all, batcher.metrics().unwrap().items, "{config:?}");
                assert_eq!(batcher.locate(400).err().unwrap().field, "sample");
            }
        }
    }

    #[test]
    fn states_of_other_batches_are_refused() {
        let config = BatchConfig { budget: 300, world_size: 2, ..BatchConfig::new(lengths(100), Strategy::Budget) };
        let mut batcher = Batcher::of(config.clone()).unwrap();
        let state = batcher.state(2).unwrap();
        let other = |config: BatchConfig| Batcher::of(config).unwrap().resume(&state).err().unwrap().field;
        assert_eq!(other(BatchConfig { budget: 301, ..config.clone() }), "max_tokens");
        assert_eq!(other(BatchConfig { seed: 1, ..config.clone() }), "seed");
        assert_eq!(other(BatchConfig { lengths: lengths(101), ..config.clone() }), "samples");
        assert_eq!(other(BatchConfig { capacity: 128, strategy: Strategy::Pack, ..config.clone() }), "strategy");
        let mut longer = lengths(100);
        longer[7] += 1;
        assert_eq!(other(BatchConfig { lengths: longer, ..config.clone() }), "lengths");
        for (from, to, field) in [
            ("\"steps\":2", "\"steps\":18446744073709551615", "steps"),
            ("\"world_size\":2", "\"world_size\":0", "world_size"),
            ("\"world_size\":2", "\"world_size\":4294967296", "world_size"),
            ("batcher", "sampler", "state"),
            ("\"consumed\":0,", "", "state"),
            ("\"consumed\":0", "\"consumed\":101", "consumed"),
            ("\"steps\":2", "\"steps\":2,\"batch\":{\"max_tokens\":0}", "max_tokens"),
        ] {
            let changed = state.replace(from, to);
            assert_ne!(changed, state);
            assert_eq!(batcher.resume(&changed).err().unwrap().field, field, "{changed}");
        }
        let many = "{\"world_size\":1,\"steps\":1},{\"world_size\":3,\"steps\":1},".repeat(2_048);
        assert_eq!(batcher.resume(&state.replace("[{", &format!("[{many}{{"))).err().unwrap().field, "history");
        let more = batcher.resume(&state.replace("\"steps\":2", "\"steps\":200")).unwrap();
        assert_eq!(more.num_steps().unwrap_err().field, "history");
        assert_eq!(batcher.state(0).unwrap(), Batcher::of(config.clone()).unwrap().state(0).unwrap());
        assert_eq!(batcher.state(1_000).err().unwrap().field, "steps");
        batcher = batcher.resume(&state).unwrap();
        assert_eq!(batcher.state(0).unwrap(), state);
    }
}
