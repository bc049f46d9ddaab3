//! Composed orders against SPEC.md: the tests go through every position.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;

use crate::deal::{Recipe, Sampler};
use crate::read::Reading;

fn sampler(order: &str, epoch: u64) -> Sampler {
    let recipe =
        Recipe::read(&format!("{{\"order\":{order}}}"), &[]).unwrap_or_else(|failure| panic!("{order}: {failure}"));
    // The canonical text is read as the same order.
    let again = Recipe::read(&recipe.text().unwrap(), &[]).unwrap();
    assert_eq!(again.text(), recipe.text());
    Sampler::from_recipe(&again, epoch, 0).unwrap()
}

fn epoch(order: &str, epoch: u64) -> Vec<u64> {
    let sampler = sampler(order, epoch);
    (0..sampler.epoch_length()).map(|position| sampler.sample_at(position).unwrap()).collect()
}

/// An order without inner orders: its text, and whether it is single (no epoch has a sample twice).
fn leaf() -> impl Strategy<Value = (String, bool)> {
    let samples = prop_oneof![1_u64..12, 200_u64..700];
    prop_oneof![
        (samples.clone(), any::<i64>())
            .prop_map(|(n, seed)| (format!("{{\"name\":\"feistel\",\"samples\":{n},\"seed\":{seed}}}"), true)),
        samples.prop_map(|n| (format!("{{\"name\":\"sequential\",\"samples\":{n}}}"), true)),
        (prop::collection::vec(0_u64..40, 1..6), 1_u32..5, 1_u32..9).prop_map(|(mut sizes, lanes, window)| {
            sizes.push(3);
            (
                format!("{{\"name\":\"sharded\",\"sizes\":{sizes:?},\"lanes\":{lanes},\"shuffle_window\":{window}}}"),
                true,
            )
        }),
        (prop::collection::vec(1_u64..30, 1..6), 1_u64..4, 1_u64..5).prop_map(|(mut sizes, length, stride)| {
            sizes.push(7);
            (format!("{{\"name\":\"windows\",\"sizes\":{sizes:?},\"length\":{length},\"stride\":{stride}}}"), true)
        }),
        (1_u64..30, 0_u64..3, 0_u64..30, 1_u64..20, any::<bool>()).prop_map(|(n, epoch, consumed, more, later)| {
            let (consumed, then) = (consumed.min(n), n + more);
            let next = if later { (epoch + 1, consumed) } else { (epoch, consumed + 1) };
            let growth = [(epoch, consumed, then), (next.0, next.1, then + 3)]
                .map(|(epoch, consumed, n)| format!("{{\"epoch\":{epoch},\"consumed\":{consumed},\"samples\":{n}}}"));
            (format!("{{\"name\":\"grown\",\"samples\":{n},\"seed\":{epoch},\"growth\":[{}]}}", growth.join(",")), true)
        }),
        (prop::collection::vec(0_u64..3, 1..30), prop::collection::vec(0_u64..4_000_000, 3)).prop_map(
            |(classes, mut factors)| {
                factors[classes[0] as usize] += 1_000_000;
                (format!("{{\"name\":\"balance\",\"classes\":{classes:?},\"factors\":{factors:?}}}"), false)
            }
        ),
        (prop::collection::vec(0_u64..9, 1..30), 0_u64..40, any::<bool>()).prop_map(|(mut weights, samples, again)| {
            weights[0] += 1;
            let some = weights.iter().filter(|&&weight| weight > 0).count() as u64;
            let samples = if again { samples } else { samples.min(some) };
            (
                format!(
                    "{{\"name\":\"weighted\",\"samples\":{samples},\"weights\":{weights:?},\"replacement\":{again}}}"
                ),
                false,
            )
        }),
    ]
}

/// Views around an order: whether each is `subset`, and numbers for its list.
type Views = Vec<(bool, Vec<u64>)>;

fn views() -> impl Strategy<Value = Views> {
    prop_oneof![
        2 => Just(Vec::new()),
        1 => prop::collection::vec((any::<bool>(), prop::collection::vec(0_u64..9, 0..20)), 1..4),
    ]
}

/// The samples in the list of a view.
fn listed((is_subset, numbers): &(bool, Vec<u64>), samples: u64) -> Vec<u64> {
    let number = |sample: u64| numbers.get((sample * 7 % 20) as usize).copied().unwrap_or(9);
    // Most samples are left.
    (0..samples).filter(|&sample| (number(sample) > sample % 4) == *is_subset).collect()
}

/// An order with views around it.
fn viewed(order: &str, samples: u64, views: &Views) -> String {
    views.iter().fold(order.to_string(), |of, view| {
        let name = if view.0 { "subset" } else { "exclude" };
        format!("{{\"name\":\"{name}\",\"of\":{of},\"indices\":{:?}}}", listed(view, samples))
    })
}

/// A blend `by_lane`.
fn by_lane() -> impl Strategy<Value = (String, bool)> {
    let source = (prop::collection::vec(0_u64..40, 1..4), 1_u32..9, 0_u64..9, views());
    (prop::collection::vec(source, 1..4), 1_u64..6, 1_u64..4, 1_u64..9, 0_usize..4).prop_map(
        |(sources, lanes, run, rows, mode)| {
            let list = sources.iter().enumerate().map(|(at, (sizes, window, weight, views))| {
                let sizes: Vec<u64> = sizes.iter().copied().chain([lanes]).collect();
                let weight = weight + u64::from(at == 0);
                let order = format!("\"sizes\":{sizes:?},\"lanes\":{lanes},\"shuffle_window\":{window}");
                let order = viewed(&format!("{{\"name\":\"sharded\",{order}}}"), sizes.iter().sum(), views);
                format!("{{\"name\":\"s{at}\",\"weight\":{weight},\"order\":{order}}}")
            });
            let (list, row) = (list.collect::<Vec<_>>().join(","), lanes * run);
            let (name, space) = (["blend", "blend-exact"][mode % 2], ["joined", "shared"][mode / 2]);
            let (first, second) = (rows.div_ceil(3) * row, rows * 2 * row);
            let weights = [vec![2; sources.len()], vec![0; sources.len() - 1].into_iter().chain([3]).collect()];
            let stages = format!(
                "[{{\"from\":{first},\"weights\":{:?}}},{{\"from\":{second},\"weights\":{:?}}}]",
                weights[0], weights[1]
            );
            let how =
                if rows % 3 == 0 { String::new() } else { format!(",\"samples\":{},\"stages\":{stages}", rows * row) };
            (
                format!(
                    "{{\"name\":\"{name}\",\"by_lane\":true,\"run_length\":{run},\"index_space\":\"{space}\",\
                     \"sources\":[{list}]{how}}}"
                ),
                false,
            )
        },
    )
}

fn order() -> impl Strategy<Value = (String, bool)> {
    prop_oneof![4 => leaf(), 1 => by_lane()].prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            (inner.clone(), 1_u32..4)
                .prop_map(|((of, single), k)| (format!("{{\"name\":\"copies\",\"of\":{of},\"copies\":{k}}}"), single && k == 1)),
            (inner.clone(), 0_u64..3, 0_u64..9, 0_u64..9).prop_map(|((of, single), epoch, start, count)| {
                (format!("{{\"name\":\"skip\",\"of\":{of},\"ranges\":[{{\"epoch\":{epoch},\"start\":{start},\"count\":{count}}}]}}"), single)
            }),
            (inner.clone(), prop::collection::btree_set(0_u64..12, 0..9), any::<bool>()).prop_map(|((of, _), list, out)| {
                let list: Vec<u64> = list.into_iter().collect();
                (format!("{{\"name\":\"{}\",\"of\":{of},\"indices\":{list:?}}}", if out { "exclude" } else { "subset" }), true)
            }),
            (prop::collection::vec((inner, 0_u64..9), 1..4), 0_usize..5, any::<bool>(), 1_u64..4, 1_u64..60, 1_u64..5).prop_map(
                |(sources, mode, shared, passes, samples, run)| {
                    let list = sources.iter().enumerate().map(|(at, ((order, _), weight))| {
                        format!("{{\"name\":\"s{at}\",\"weight\":{},\"order\":{order}}}", weight + u64::from(at == 0))
                    });
                    let list = list.collect::<Vec<_>>().join(",");
                    let space = if shared { "shared" } else { "joined" };
                    let exact = if samples % 2 == 0 { "blend" } else { "blend-exact" };
                    let how = match mode {
                        0 => String::new(),
                        1 => format!(",\"exhaustion\":\"stop\",\"max_passes\":{passes}"),
                        2 => format!(",\"exhaustion\":\"renormalize\",\"max_passes\":{passes}"),
                        3 => format!(",\"samples\":{}", samples * run),
                        _ => {
                            let (weights, from) = (vec![2; sources.len()], (samples / 2 + 1) * run);
                            format!(",\"samples\":{},\"stages\":[{{\"from\":{from},\"weights\":{weights:?}}}]", samples * run)
                        }
                    };
                    let how = if mode == 2 { how } else { format!("{how},\"run_length\":{run}") };
                    (format!("{{\"name\":\"{exact}\",\"sources\":[{list}],\"index_space\":\"{space}\"{how}}}"), false)
                },
            ),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, max_shrink_iters: 4_000, ..ProptestConfig::default() })]

    /// Every legal recipe has an exact inverse, in three epochs.
    #[test]
    fn the_inverse_is_exact((order, single) in order(), consumed in 0_u64..50, world_size in 1_u32..9) {
        let text = format!("{{\"order\":{order},\"deal\":{{\"world_size\":{world_size}}}}}");
        let Ok(recipe) = Recipe::read(&text, &[]) else { return Ok(()) };
        prop_assert_eq!(&Recipe::read(&recipe.text().unwrap(), &[]).unwrap().text(), &recipe.text());
        for epoch in 0..3 {
            let sampler = Sampler::from_recipe(&recipe, epoch, 0).unwrap();
            let (length, range) = (sampler.epoch_length(), sampler.config().samples);
            prop_assume!(length <= 4_000 && range <= 4_000);
            let mut places = vec![Vec::new(); range as usize];
            for position in 0..length {
                places[sampler.sample_at(position).unwrap() as usize].push(position);
            }
            prop_assert!(!single || places.iter().all(|places| places.len() <= 1), "{}", text);
            let rest = sampler.rest(consumed.min(length)).unwrap();
            let end = rest.config().consumed + rest.deal().num_positions();
            for (sample, places) in places.iter().enumerate() {
                let mut from = rest.config().consumed;
                // Padding repeats the positions of the epoch from the first one on, several times in a short epoch.
                let again = (0..end.div_ceil(length.max(1))).flat_map(|round| places.iter().map(move |place| place + round * length));
                for place in again.filter(|place| (from..end).contains(place)).collect::<Vec<_>>() {
                    let found = rest.locate_from(sample as u64, from, 1).unwrap().map(|place| place.position);
                    prop_assert_eq!(found, Some(place), "{} of {}", sample, text);
                    from = place + 1;
                }
                prop_assert_eq!(rest.locate_from(sample as u64, from, 1).unwrap(), None);
            }
            // The ranks together deal every position once, and `place_of` returns its rank and index.
            let mut seen = vec![0_u8; (end - rest.config().consumed) as usize];
            for rank in 0..world_size {
                let rest = rest.at_rank(rank).unwrap();
                let indices = rest.indices::<u64>(0, rest.num_samples() as u32).unwrap();
                for (number, index) in indices.iter().enumerate() {
                    let position = rest.deal().position(number as u64);
                    let place = rest.place_of(position, 1).unwrap();
                    prop_assert_eq!((place.rank, place.index_in_rank), (rank, number as u64));
                    prop_assert_eq!(*index, rest.sample_at(position).unwrap());
                    seen[(position - rest.config().consumed) as usize] += 1;
                }
                let padding = (0..indices.len() as u64).filter(|&number| rest.deal().position(number) >= length).count() as u64;
                prop_assert_eq!(padding, rest.deal().num_padding());
            }
            prop_assert!(seen.iter().all(|&times| times == 1));
        }
    }

    /// A state is resumed with another world size: the samples dealt before and after the state are together the
    /// samples of the epoch.
    #[test]
    fn states_go_on(
        (order, _) in order(), epoch in 0_u64..3, taken in 0_u64..40, worlds in prop::collection::vec(1_u32..7, 2),
    ) {
        let text = |world: u32| format!("{{\"order\":{order},\"deal\":{{\"world_size\":{world},\"remainder\":\"uneven\"}}}}");
        let Ok(recipe) = Recipe::read(&text(worlds[0]), &[]) else { return Ok(()) };
        let first = Sampler::from_recipe(&recipe, epoch, 0).unwrap();
        prop_assume!(first.epoch_length() <= 4_000);
        let state = first.state(taken.min(first.num_samples())).unwrap();
        let second = Sampler::from_recipe(&Recipe::read(&text(worlds[1]), &[]).unwrap(), 0, 0).unwrap().resume(&state).unwrap();
        let mut dealt = Vec::new();
        for rank in 0..worlds[0] {
            let rank = first.at_rank(rank).unwrap();
            dealt.extend(rank.indices::<u64>(0, taken.min(rank.num_samples()) as u32).unwrap());
        }
        for rank in 0..worlds[1] {
            let rank = second.at_rank(rank).unwrap();
            dealt.extend(rank.indices::<u64>(0, rank.num_samples() as u32).unwrap());
        }
        let mut whole: Vec<u64> = (0..first.epoch_length()).map(|position| first.sample_at(position).unwrap()).collect();
        dealt.sort_unstable();
        whole.sort_unstable();
        prop_assert_eq!(dealt, whole);
    }

    /// For every prefix, counts deviate from exact proportion by the bounds at most.
    #[test]
    fn counts_are_within_the_bounds(
        weights in prop::collection::vec(prop_oneof![0_u64..4, 1_u64..1_000, 1_u64..(1 << 40)], 1..40), exact in any::<bool>(),
        at in prop::collection::vec(0_u64..(1 << 50), 50),
    ) {
        let sum: u64 = weights.iter().sum();
        prop_assume!(sum > 0);
        let divisor = weights.iter().fold(0, |divisor, &weight| crate::base::gcd(divisor, weight));
        let exact = exact && sum / divisor <= 1 << 20;
        let name = if exact { "blend-exact" } else { "blend" };
        let list = weights.iter().enumerate().map(|(at, weight)| format!("{{\"name\":\"{at}\",\"weight\":{weight},\"samples\":9}}"));
        let list = list.collect::<Vec<_>>().join(",");
        let most = (1_u64 << 53) - 1;
        let sampler = sampler(&format!("{{\"name\":\"{name}\",\"samples\":{most},\"sources\":[{list}]}}"), 0);
        let bounds = sampler.source_bounds().unwrap();
        for n in (0..200).chain(at) {
            let counts = sampler.source_counts(0, n).unwrap().remove(1).1;
            prop_assert_eq!(counts.iter().sum::<u64>(), n);
            for ((&count, &weight), bound) in counts.iter().zip(&weights).zip(&bounds) {
                // The deviation in millionths of a sample, times the sum of the weights.
                let off = (i128::from(count) * i128::from(sum) - i128::from(n) * i128::from(weight)).abs() * 1_000_000;
                prop_assert!(off <= i128::from(*bound) * i128::from(sum), "{:?} at {}: {} > {}", weights, n, off, bound);
            }
            // At each position, only the count of its source goes up.
            if n < 200 {
                let next = sampler.source_counts(n, 1).unwrap().remove(1).1;
                let (source, _) = sampler.source_of(sampler.sample_at(n).unwrap()).unwrap();
                prop_assert!(next.iter().enumerate().all(|(at, &count)| count == u64::from(at as u32 == source)));
            }
        }
    }
}

/// Many positions at once have the samples of the single positions. Many positions have code of their own, which sorts
/// blocks of thousands by source, with narrow and with wide numbers.
#[test]
fn many_positions_are_those_of_one_by_one() {
    let sources = |weights: &[u64]| {
        let sources = weights.iter().enumerate().map(|(n, weight)| {
            let order = match n % 4 {
                0 => format!("{{\"name\":\"feistel\",\"samples\":{}}}", 300 + n),
                1 => format!("{{\"name\":\"sequential\",\"samples\":{}}}", 5 + n),
                2 => format!("{{\"name\":\"sharded\",\"sizes\":[{n},70,9],\"lanes\":3}}"),
                _ => "{\"name\":\"copies\",\"copies\":3,\"of\":{\"name\":\"feistel\",\"samples\":1000}}".to_string(),
            };
            format!("{{\"name\":\"s{n}\",\"weight\":{weight},\"order\":{order}}}")
        });
        sources.collect::<Vec<_>>().join(",")
    };
    let weights = |most: u64| (0..40).map(|n: u64| (n * n * 977 + 13) % most).collect::<Vec<_>>();
    let (few, wide) = (weights(50), weights(1 << 46));
    let blend = |name: &str, weights: &[u64], more: &str| {
        let length = if more.contains("passes") { "" } else { "\"samples\":30000," };
        format!("{{\"name\":\"{name}\",{length}\"sources\":[{}]{more}}}", sources(weights))
    };
    let stages =
        format!(",\"stages\":[{{\"from\":3000,\"weights\":{wide:?}}},{{\"from\":9001,\"weights\":{:?}}}]", weights(7));
    let plain = blend("blend", &few, "");
    let growth = (1..41).map(|n: u64| {
        let (epoch, consumed, samples) = (n / 20, n % 20 * 900, 20_000 + n * n * 5);
        format!("{{\"epoch\":{epoch},\"consumed\":{consumed},\"samples\":{samples}}}")
    });
    let growth = growth.collect::<Vec<_>>().join(",");
    let orders = [
        format!("{{\"name\":\"grown\",\"samples\":20000,\"growth\":[{growth}]}}"),
        blend("blend", &wide, ""),
        blend("blend", &few, &stages),
        blend("blend-exact", &few, ""),
        blend("blend", &few, &format!("{stages},\"run_length\":3").replace("9001", "9003")),
        blend("blend-exact", &few, ",\"run_length\":100"),
        blend("blend", &few, ",\"exhaustion\":\"renormalize\",\"max_passes\":2"),
        format!("{{\"name\":\"skip\",\"ranges\":[{{\"epoch\":1,\"start\":90,\"count\":4000}}],\"of\":{plain}}}"),
        format!(
            "{{\"name\":\"blend\",\"samples\":25000,\"sources\":[{{\"name\":\"a\",\"weight\":2,\"order\":{plain}}},\
             {{\"name\":\"b\",\"weight\":1,\"order\":{{\"name\":\"windows\",\"sizes\":[900,20],\"length\":7}}}}]}}"
        ),
        plain,
    ];
    for order in orders {
        for (epoch, layout, unit) in
            [(0, "rotated", 1), (1, "strided", 1), (1, "rotated", 7), (3, "contiguous", 5), (2, "strided", 3)]
        {
            let deal = format!("\"world_size\":2,\"remainder\":\"pad\",\"layout\":\"{layout}\",\"unit\":{unit}");
            let recipe = Recipe::read(&format!("{{\"order\":{order},\"deal\":{{{deal}}}}}"), &[]).unwrap();
            let sampler = Sampler::from_recipe(&recipe, epoch, 1).unwrap();
            let count = sampler.num_samples();
            let many = sampler.indices::<u64>(0, count as u32).unwrap();
            let narrow = sampler.indices::<u32>(0, count as u32).unwrap();
            for (index, (&sample, &same)) in (0..).zip(many.iter().zip(&narrow)) {
                let one = sampler.sample_at(sampler.deal().position(index)).unwrap();
                assert_eq!((sample, u64::from(same)), (one, one), "{layout} {unit} {index} {order}");
            }
        }
    }
}

#[test]
fn runs_are_of_one_source() {
    let text = |more: &str| {
        format!(
            "{{\"name\":\"blend\",\"run_length\":8,\"sources\":[{{\"name\":\"a\",\"weight\":5,\"samples\":40}},\
             {{\"name\":\"b\",\"weight\":3,\"samples\":21}}]{more}}}"
        )
    };
    // 61 samples are rounded up to eight runs of 8. The first pass of source b ends within a run.
    assert_eq!(epoch(&text(""), 0).len(), 64);
    // Source a ends a pass after five of its runs, source b within its third one.
    assert_eq!(epoch(&text(",\"exhaustion\":\"stop\""), 0).len() % 8, 0);
    let source = |sample: &u64| *sample >= 40;
    for number in 0..5 {
        let all = epoch(&text(",\"stages\":[{\"from\":80,\"weights\":[1,1]}]"), number);
        for run in all.chunks(8) {
            assert!(run.iter().all(|sample| source(sample) == source(&run[0])), "{run:?}");
        }
    }
    // If a unit is as long as a run, all samples of a batch of a rank are from one source.
    let recipe = format!("{{\"order\":{},\"deal\":{{\"world_size\":3,\"unit\":8}}}}", text(",\"samples\":240"));
    let recipe = Recipe::read(&recipe, &[]).unwrap();
    for rank in 0..3 {
        let sampler = Sampler::from_recipe(&recipe, 1, rank).unwrap();
        for batch in 0..10 {
            let batch = sampler.batch::<u64>(batch, 8, true).unwrap();
            assert!(batch.iter().all(|sample| source(sample) == source(&batch[0])));
        }
    }
    for (more, field) in [
        (",\"samples\":65", "samples"),
        (",\"stages\":[{\"from\":12,\"weights\":[1,1]}]", "from"),
        (",\"exhaustion\":\"renormalize\"", "run_length"),
        (",\"exhaustion\":\"fail\",\"samples\":9", "samples"),
    ] {
        let failure = Recipe::read(&format!("{{\"order\":{}}}", text(more)), &[]).err().unwrap();
        assert_eq!(failure.field, field, "{more}: {failure}");
    }
}

#[test]
fn sources_make_whole_passes_that_others_do_not_change() {
    let blend = |more: &str| {
        format!(
            "{{\"name\":\"blend\",\"seed\":5,\"samples\":50,\"sources\":[{{\"name\":\"a\",\"weight\":3,\"samples\":7}},\
             {{\"name\":\"b\",\"weight\":2,\"samples\":400}}{more}]}}"
        )
    };
    let (two, three) = (blend(""), blend(",{\"name\":\"c\",\"weight\":5,\"samples\":11}"));
    let draws = |order: &str, from: u64, samples: u64| -> Vec<u64> {
        let all = (0..20).flat_map(|number| epoch(order, number));
        all.filter(|sample| (from..from + samples).contains(sample)).map(|sample| sample - from).collect()
    };
    for (order, from, samples) in [(&two, 0, 7), (&two, 7, 400), (&three, 0, 7), (&three, 7, 400), (&three, 407, 11)] {
        let draws = draws(order, from, samples);
        for pass in draws.chunks_exact(samples as usize) {
            let mut pass = pass.to_vec();
            pass.sort_unstable();
            assert_eq!(pass, (0..samples).collect::<Vec<_>>());
        }
        assert!(draws.len() < samples as usize || draws[..7] != draws[7..14]);
    }
    let (alone, beside) = (draws(&two, 0, 7), draws(&three, 0, 7));
    assert_eq!(alone[..beside.len()], beside);
}

#[test]
fn exhausted_sources_leave_or_end_the_epoch() {
    let text = |how: &str| {
        format!(
            "{{\"name\":\"blend\",\"sources\":[{{\"name\":\"a\",\"weight\":3,\"samples\":7}},\
             {{\"name\":\"b\",\"weight\":2,\"samples\":40}},{{\"name\":\"c\",\"weight\":0,\"samples\":1}}],{how}}}"
        )
    };
    for passes in 1..4 {
        for number in 0..3 {
            let mut all = epoch(&text(&format!("\"exhaustion\":\"renormalize\",\"max_passes\":{passes}")), number);
            all.sort_unstable();
            assert_eq!(all, (0..47).flat_map(|sample| vec![sample; passes]).collect::<Vec<_>>());
            let all = epoch(&text(&format!("\"exhaustion\":\"stop\",\"max_passes\":{passes}")), number);
            let of_a = all.iter().filter(|&&sample| sample < 7).count();
            assert_eq!(of_a, 7 * passes);
            // The next position would be one draw too many of `a`.
            let end = all.len();
            let longer = epoch(&text("\"samples\":1000"), 0);
            assert!(longer[end] < 7);
            assert_eq!(longer[..end].iter().filter(|&&sample| sample < 7).count(), 7 * passes);
        }
    }
    let end = epoch(&text("\"exhaustion\":\"stop\""), 0).len();
    assert_eq!(epoch(&text(&format!("\"exhaustion\":\"fail\",\"samples\":{end}")), 0).len(), end);
    let failure = Recipe::read(
        &format!("{{\"order\":{}}}", text(&format!("\"exhaustion\":\"fail\",\"samples\":{}", end + 1))),
        &[],
    );
    assert_eq!(failure.err().unwrap().field, "samples");
}

#[test]
fn a_dataset_that_grew_loses_nothing_and_repeats_nothing() {
    let plain = "{\"name\":\"feistel\",\"samples\":300,\"seed\":9}";
    let grown = "{\"name\":\"grown\",\"samples\":300,\"seed\":9,\"growth\":[{\"epoch\":1,\"consumed\":120,\"samples\":500},\
                 {\"epoch\":1,\"consumed\":121,\"samples\":501},{\"epoch\":3,\"consumed\":0,\"samples\":777}]}";
    assert_eq!(epoch(grown, 0), epoch(plain, 0));
    let (before, after) = (epoch(plain, 1), epoch(grown, 1));
    assert_eq!(before[..120], after[..120]);
    for (number, count) in [(1, 501), (2, 501), (3, 777), (4, 777)] {
        let mut all = epoch(grown, number);
        all.sort_unstable();
        assert_eq!(all, (0..count).collect::<Vec<_>>());
    }
    // A state of the plain order can resume with growth if the state was taken before the growth, and fails if it was
    // taken later.
    let state = sampler(plain, 1).state(120).unwrap();
    let resumed = sampler(grown, 0).resume(&state).unwrap();
    assert_eq!((resumed.config().consumed, resumed.epoch_length()), (120, 501));
    let late = sampler(plain, 1).state(121).unwrap();
    assert_eq!(sampler(grown, 0).resume(&late).err().unwrap().field, "growth");
    let other = sampler(&plain.replace(":9", ":8"), 1).state(7).unwrap();
    assert_eq!(sampler(grown, 0).resume(&other).err().unwrap().field, "seed");
}

#[test]
fn what_is_added_later_does_not_change_what_was_read() {
    let blend = |stages: &str, more: &str| {
        format!(
            "{{\"name\":\"blend\",\"samples\":100,\"sources\":[{{\"name\":\"a\",\"weight\":3,\"samples\":70}},\
             {{\"name\":\"b\",\"weight\":2,\"samples\":40}}{more}],\"stages\":[{stages}]}}"
        )
    };
    let first = blend("{\"from\":50,\"weights\":[1,1]}", "");
    let state = sampler(&first, 1).state(20).unwrap();
    let more = ",{\"name\":\"c\",\"weight\":0,\"samples\":10}";
    for (stages, sources, field) in [
        ("{\"from\":50,\"weights\":[1,1]}", "", None),
        ("{\"from\":50,\"weights\":[1,1]},{\"from\":120,\"weights\":[9,1]}", "", None),
        ("{\"from\":50,\"weights\":[1,1]},{\"from\":119,\"weights\":[9,1]}", "", Some("stages")),
        ("{\"from\":50,\"weights\":[1,2]}", "", Some("stages")),
        ("", "", Some("stages")),
        ("{\"from\":50,\"weights\":[1,1,0]},{\"from\":130,\"weights\":[9,1,5]}", more, None),
        ("{\"from\":50,\"weights\":[1,1,1]}", more, Some("stages")),
        ("{\"from\":50,\"weights\":[1,1,0]}", ",{\"name\":\"c\",\"weight\":1,\"samples\":10}", Some("sources")),
    ] {
        let resumed = sampler(&blend(stages, sources), 0).resume(&state);
        assert_eq!(resumed.as_ref().err().map(|failure| failure.field), field, "{stages} {sources}");
        let Ok(resumed) = resumed else { continue };
        let (before, after) = (epoch(&first, 1), epoch(&blend(stages, sources), 1));
        assert_eq!(before[..20], after[..20]);
        assert_eq!((resumed.config().epoch, resumed.config().consumed), (1, 20));
    }
    // Ranges are added to an order that had no `skip`, and to an order that had one.
    let plain = "{\"name\":\"feistel\",\"samples\":90}";
    let skip = |of: &str, ranges: &str| format!("{{\"name\":\"skip\",\"of\":{of},\"ranges\":[{ranges}]}}");
    let range = |start: u64| format!("{{\"epoch\":2,\"start\":{start},\"count\":10}}");
    let state = sampler(plain, 2).state(30).unwrap();
    assert!(sampler(&skip(plain, &range(30)), 0).resume(&state).is_ok());
    assert_eq!(sampler(&skip(plain, &range(29)), 0).resume(&state).err().unwrap().field, "ranges");
    let skipped = skip(plain, &range(5));
    let state = sampler(&skipped, 2).state(20).unwrap();
    for (start, right) in [(30, true), (29, false), (60, true)] {
        let resumed = sampler(&skip(plain, &format!("{},{}", range(5), range(start))), 0).resume(&state);
        assert_eq!(resumed.is_ok(), right, "{start}");
    }
    let long = skip(plain, &format!("{},{}", range(5), range(40)));
    assert_eq!(epoch(&long, 2)[..30], epoch(&skipped, 2)[..30]);
    assert_eq!(epoch(&long, 2)[30..], epoch(&skipped, 2)[40..]);
}

#[test]
fn samples_are_balanced_over_epochs() {
    let classes = (0..200).map(|sample| u64::from(sample % 10 == 0)).collect::<Vec<_>>();
    let text = format!("{{\"name\":\"balance\",\"classes\":{classes:?},\"factors\":[700000,2600000]}}");
    let mut seen = vec![0_u64; 200];
    for number in 0..30 {
        let mut here = vec![0_u64; 200];
        for sample in epoch(&text, number) {
            here[sample as usize] += 1;
        }
        for (sample, (here, seen)) in here.iter().zip(&mut seen).enumerate() {
            *seen += here;
            let (least, factor) = if sample % 10 == 0 { (2, 2.6) } else { (0, 0.7) };
            assert!((least..=least + 1).contains(here));
            assert!((*seen as f64 - (number + 1) as f64 * factor).abs() < 1.0);
        }
    }
}

#[test]
fn lists_come_by_their_paths() {
    let long: Vec<u64> = (0..300).collect();
    let recipe = "{\"order\":{\"name\":\"blend\",\"sources\":[{\"name\":\"a\",\"order\":{\"name\":\"exclude\",\"of\":{\"samples\":900}}},\
                  {\"name\":\"b\",\"order\":{\"name\":\"sharded\"}}]}}";
    let lists: [crate::document::lists::List; 2] = [("sources/a/indices", &long), ("sources/b/sizes", &[5, 6])];
    let read = Recipe::read(recipe, &lists).unwrap();
    let text = read.text().unwrap();
    assert!(text.contains("\"indices\":\"") && text.contains("\"sizes\":[5,6]"));
    assert_eq!(Recipe::read(&text, &lists).unwrap().text().unwrap(), text);
    assert_eq!(
        Recipe::read(&text, &lists[1..]).err().unwrap().to_string().split(' ').next(),
        Some("order.sources[0].order.indices")
    );
    for (name, field) in [
        ("sizes", "sizes"),
        ("indices", "indices"),
        ("sources/a/sizes", "sizes"),
        ("sources/c/sizes", "lists"),
        ("of/sizes", "lists"),
    ] {
        let lists: [crate::document::lists::List; 3] = [lists[0], lists[1], (name, &[5, 6])];
        assert_eq!(Recipe::read(recipe, &lists).err().unwrap().field, field, "{name}");
    }
}

#[test]
fn what_is_wrong_is_told() {
    let source = "\"sources\":[{\"name\":\"a\",\"samples\":7}]";
    for (order, field, value) in [
        ("{\"name\":\"blend\"}".to_string(), "sources", ""),
        (format!("{{\"name\":\"blend\",{source},\"lanes\":3}}"), "lanes", "3"),
        (format!("{{\"name\":\"blend\",{source},\"max_passes\":3}}"), "max_passes", "3"),
        (format!("{{\"name\":\"blend\",{source},\"exhaustion\":\"stop\",\"max_passes\":0}}"), "max_passes", "0"),
        ("{\"name\":\"blend\",\"sources\":[{\"name\":\"a\",\"samples\":7,\"weight\":0}]}".into(), "weight", "0"),
        ("{\"name\":\"blend\",\"sources\":[{\"name\":\"a\",\"samples\":0}]}".into(), "weight", "1"),
        (
            "{\"name\":\"blend\",\"sources\":[{\"name\":\"a\",\"samples\":1,\"weight\":9007199254740992}]}".into(),
            "weight",
            "9007199254740992",
        ),
        ("{\"name\":\"blend\",\"sources\":[{\"samples\":1}]}".into(), "name", ""),
        ("{\"name\":\"blend\",\"sources\":[{\"name\":\"a/b\",\"samples\":1}]}".into(), "name", "a/b"),
        (
            "{\"name\":\"blend\",\"sources\":[{\"name\":\"a\",\"samples\":1},{\"name\":\"a\",\"samples\":1}]}".into(),
            "name",
            "a twice",
        ),
        (
            "{\"name\":\"blend\",\"sources\":[{\"name\":\"a\",\"order\":{\"name\":\"torch\",\"samples\":4}}]}".into(),
            "name",
            "torch",
        ),
        ("{\"name\":\"exclude\",\"of\":{\"samples\":9},\"indices\":[9]}".into(), "indices", "9"),
        ("{\"name\":\"exclude\",\"of\":{\"samples\":9},\"indices\":[3,3]}".into(), "indices", "3"),
        ("{\"name\":\"exclude\",\"of\":{\"samples\":9}}".into(), "indices", ""),
        ("{\"name\":\"exclude\",\"indices\":[3]}".into(), "of", ""),
        (
            "{\"name\":\"skip\",\"of\":{\"samples\":9},\"ranges\":[{\"epoch\":0,\"start\":10,\"count\":0}]}".into(),
            "start",
            "10",
        ),
        (
            "{\"name\":\"skip\",\"of\":{\"samples\":9},\"ranges\":[{\"epoch\":0,\"start\":8,\"count\":2}]}".into(),
            "count",
            "2",
        ),
        ("{\"name\":\"copies\",\"of\":{\"samples\":9},\"copies\":0}".into(), "copies", "0"),
        ("{\"name\":\"copies\",\"of\":{\"samples\":9007199254740991},\"copies\":2}".into(), "epoch", "0"),
        ("{\"name\":\"windows\",\"sizes\":[4],\"length\":0}".into(), "length", "0"),
        ("{\"name\":\"balance\",\"classes\":[0,2],\"factors\":[1,2]}".into(), "classes", "2"),
        (
            "{\"name\":\"grown\",\"samples\":9,\"growth\":[{\"epoch\":0,\"consumed\":10,\"samples\":12}]}".into(),
            "consumed",
            "10",
        ),
        (
            "{\"name\":\"grown\",\"samples\":9,\"growth\":[{\"epoch\":0,\"consumed\":1,\"samples\":9}]}".into(),
            "samples",
            "9",
        ),
    ] {
        let failure = Recipe::read(&format!("{{\"order\":{order}}}"), &[]).err().unwrap_or_else(|| panic!("{order}"));
        assert_eq!((failure.field, &*failure.value), (field, value), "{order}: {failure}");
    }
    // A text of any depth is refused without a stack overflow.
    let deep = format!("{{\"order\":{}", "{\"name\":\"copies\",\"copies\":1,\"of\":".repeat(20_000));
    assert_eq!(Recipe::read(&deep, &[]).err().unwrap().field, "recipe");
}

#[test]
fn ranges_may_together_have_more_positions_than_numbers() {
    let samples = (1_u64 << 53) - 1;
    let ranges: Vec<String> =
        (0..2_100).map(|epoch| format!("{{\"epoch\":{epoch},\"start\":1,\"count\":{}}}", samples - 1)).collect();
    let order = format!(
        "{{\"name\":\"skip\",\"ranges\":[{}],\"of\":{{\"name\":\"sequential\",\"samples\":{samples}}}}}",
        ranges.join(",")
    );
    assert_eq!(epoch(&order, 0), [0]);
}

#[test]
fn epochs_end_where_whole_numbers_do() {
    let recipe =
        Recipe::read("{\"order\":{\"name\":\"copies\",\"copies\":2,\"of\":{\"samples\":2251799813685248}}}", &[])
            .unwrap();
    assert!(Sampler::from_recipe(&recipe, 0, 0).is_ok());
    assert_eq!(Sampler::from_recipe(&recipe, 1, 0).err().unwrap().to_string().split(';').next(), Some("epoch is 1"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// With `by_lane`, a lane takes whole passes over the same lane of each source, and no prefix of it is further from
    /// the weights than the bound.
    #[test]
    fn lanes_are_blends_of_their_own(
        sources in prop::collection::vec((prop::collection::vec(0_u64..30, 1..4), 1_u32..9, 1_u64..60), 1..5),
        lanes in 1_u64..9, run in 1_u64..4, rows in 1_u64..60, is_exact in any::<bool>(),
    ) {
        let orders: Vec<String> = sources.iter().enumerate().map(|(at, (sizes, window, _))| {
            let sizes: Vec<u64> = sizes.iter().copied().chain([lanes]).collect();
            format!("{{\"name\":\"sharded\",\"sizes\":{sizes:?},\"lanes\":{lanes},\"shuffle_window\":{window},\"seed\":{at}}}")
        }).collect();
        let list: Vec<String> = orders.iter().zip(&sources).enumerate().map(|(at, (order, (_, _, weight)))| {
            format!("{{\"name\":\"s{at}\",\"weight\":{weight},\"order\":{order}}}")
        }).collect();
        let name = if is_exact { "blend-exact" } else { "blend" };
        let text = format!(
            "{{\"name\":\"{name}\",\"by_lane\":true,\"run_length\":{run},\"samples\":{},\"sources\":[{}]}}",
            rows * run * lanes, list.join(",")
        );
        let (first, sum) = (sampler(&text, 0), sources.iter().map(|source| source.2).sum::<u64>());
        let positions: Vec<u64> = (0..2).flat_map(|number| epoch(&text, number)).collect();
        let bounds = first.source_bounds().unwrap();
        for lane in 0..lanes {
            let own: Vec<(u32, u64)> = positions.iter().skip(lane as usize).step_by(lanes as usize)
                .map(|&sample| first.source_of(sample).unwrap()).collect();
            for (source, order) in (0_u32..).zip(&orders) {
                let drawn: Vec<u64> = own.iter().filter(|own| own.0 == source).map(|own| own.1).collect();
                let passes = (0..).flat_map(|pass| {
                    epoch(order, pass).into_iter().skip(lane as usize).step_by(lanes as usize).collect::<Vec<_>>()
                });
                prop_assert_eq!(&drawn, &passes.take(drawn.len()).collect::<Vec<_>>(), "{} in lane {} of {}", source, lane, text);
                let (mut count, weight) = (0_u64, sources[source as usize].2);
                for (before, own) in (1_u64..).zip(&own) {
                    count += u64::from(own.0 == source);
                    let off = (count * sum).abs_diff(before * weight);
                    prop_assert!(off * 1_000_000 <= bounds[source as usize] * sum, "{} of {}", before, text);
                }
            }
        }
    }
    /// `exclude` and `subset` of `sharded` are the order `sharded` of the samples that they leave.
    #[test]
    fn what_is_left_of_shards_is_in_lanes(
        sizes in prop::collection::vec(0_u64..40, 1..6), lanes in 1_u32..9, window in 1_u32..9, seed in any::<i32>(),
        views in prop::collection::vec((any::<bool>(), prop::collection::vec(0_u64..9, 0..20)), 1..4),
        readers in 1_u32..9, number in 0_u64..3,
    ) {
        let order = |sizes: &[u64]| format!(
            "{{\"name\":\"sharded\",\"sizes\":{sizes:?},\"lanes\":{lanes},\"shuffle_window\":{window},\"seed\":{seed}}}"
        );
        let samples = sizes.iter().sum();
        let lists: Vec<_> = views.iter().map(|view| (view.0, listed(view, samples))).collect();
        let is_left = |sample: &u64| lists.iter().all(|(is_subset, list)| list.contains(sample) == *is_subset);
        let left: Vec<u64> = (0..samples).filter(is_left).collect();
        let starts = sizes.iter().scan(0, |end, size| { *end += size; Some(*end - size..*end) });
        let dense: Vec<u64> = starts.map(|own| left.iter().filter(|sample| own.contains(sample)).count() as u64).collect();
        let places = epoch(&order(&dense), number);
        let text = viewed(&order(&sizes), samples, &views);
        let found = epoch(&text, number);
        prop_assert_eq!(&found, &places.iter().map(|&place| left[place as usize]).collect::<Vec<_>>(), "{}", text);
        // If readers divide the lanes, each reads a sample of its own lanes only: those of a reader of the dense dataset.
        let reading = |order: &str| {
            let text = format!(
                "{{\"order\":{order},\"deal\":{{\"world_size\":{readers},\"remainder\":\"uneven\"}},\"batch\":{{\"batch_size\":3}}}}"
            );
            Reading::from_recipe(&text, &[], number).unwrap()
        };
        let (whole, dense) = (reading(&text), reading(&order(&dense)));
        prop_assert_eq!(whole.reads_per_row(), dense.reads_per_row());
        prop_assert_eq!(whole.lanes_read_once(), dense.lanes_read_once());
        let mut read = vec![0; samples as usize];
        for rank in 0..readers {
            let count = whole.num_samples(rank, 0).unwrap();
            let own = whole.indices(rank, 0, 0, count as u32).unwrap();
            let places = dense.indices(rank, 0, 0, count as u32).unwrap();
            prop_assert_eq!(&own, &places.iter().map(|&place| left[place as usize]).collect::<Vec<_>>());
            for round in 0..whole.num_rounds(rank, 0).unwrap() {
                let spans = whole.round(rank, 0, round).unwrap().spans;
                for (at, &shard) in spans.shard.iter().enumerate() {
                    let start = sizes[..shard as usize].iter().sum::<u64>() + spans.first_row[at];
                    (start..start + spans.num_rows[at]).for_each(|sample| read[sample as usize] += 1);
                }
            }
        }
        // Rows that are left out are not read.
        prop_assert_eq!(read, (0..samples).map(|sample| u32::from(is_left(&sample))).collect::<Vec<_>>());
    }
}
