//! Loader workers, each of which is a reader of the order `sharded`.

use samedeal::Sampler;
use serde_json::{Value, json as value};

use crate::files::Dataset;
use crate::plans::{SIZES, numbers};
use crate::{failing, json, text};

/// A loader takes the batches of its workers in turn.
#[test]
fn workers_read_as_readers_of_their_own() {
    let dataset = Dataset::write("plan-workers");
    let path = dataset.folder.display();
    let (world, workers) = (2, 3);
    for remainder in ["pad", "drop", "uneven"] {
        let deal = format!(
            "{path} --order sharded --lanes 6 --shuffle-window 8 --world-size 2 --workers 3 --remainder {remainder}"
        );
        for rank in 0..world {
            let mut own = Vec::new();
            for worker in 0..workers {
                let reader = Sampler::sharded(SIZES)
                    .lanes(6)
                    .shuffle_window(8)
                    .rank(rank + world * worker)
                    .world_size(world * workers);
                let reader = reader.remainder(remainder.parse().unwrap()).build().unwrap();
                let all: Vec<u64> = reader.indices(..).unwrap();
                let one = format!("{deal} --rank {rank} --worker {worker}");
                let found = json(&format!("indices {one} --all --json"));
                assert_eq!(numbers(&found["indices"]), all);
                let who = value!({"rank": rank, "world_size": 2, "worker": worker, "workers": 3});
                assert_eq!(found["reader"], who);
                let batches = json(&format!("batches {one} --batch-size 7 --all --json"))["batches"].clone();
                own.push(batches.as_array().unwrap().iter().map(numbers).collect::<Vec<_>>());
            }
            let turns = (0..own[0].len()).flat_map(|turn| own.iter().filter_map(move |batches| batches.get(turn)));
            for (batch, samples) in turns.enumerate() {
                let list = samples.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
                let found = json(&format!("locate {deal} --batch-size 7 --sample {list} --json"));
                for (inner, found) in found["samples"].as_array().unwrap().iter().enumerate() {
                    let here = |place: &&Value| {
                        place["rank"] == rank && place["batch"] == batch && place["index_in_batch"] == inner
                    };
                    let place = found["places"].as_array().unwrap().iter().find(here);
                    let place = place.unwrap_or_else(|| panic!("rank {rank}, batch {batch}, inner {inner}: {found}"));
                    assert_eq!(place["worker"], batch as u32 % workers);
                    assert_eq!(place["worker_batch"], batch as u32 / workers);
                }
            }
        }
    }
    let deal = format!("{path} --order sharded --lanes 6 --shuffle-window 8 --world-size 2 --workers 3 --batch-size 7");
    let found = text(&format!("locate {deal} --sample 0,129 --drop-last --format text"));
    assert!(found.lines().all(|line| line.split('\t').count() == 12), "{found}");
    assert!(
        text(&format!("locate {deal} --sample 0"))
            .contains("│ sample ┆ position ┆ rank ┆ worker ┆ index in reader ┆ worker batch ┆")
    );
    assert!(text(&format!("batches {deal} --rank 1 --worker 2")).contains("batches of worker 2 of 3 in rank 1 of 2"));
    for (arguments, said) in [
        ("--order sharded --world-size 2 --rank 2 --workers 3", "--rank is 2; allowed: 0 to 1"),
        ("--order sharded --workers 3 --worker 3", "--worker is 3; allowed: 0 to 2"),
        ("--order sharded --workers 0", "--workers is 0; allowed: 1 to 4294967295"),
        ("--order sharded --world-size 2 --workers 4294967295", "--workers is 4294967295; allowed: 1 to 2147483647"),
        ("--order sharded --world-size 0 --workers 2", "--world-size is 0; allowed: 1 to 4294967295"),
    ] {
        assert_eq!(failing(&format!("indices {path} {arguments}")), (2, format!("error: {said}")));
    }
    assert!(failing(&format!("locate {path} --sample 1 --workers 2")).1.contains("--workers is for --order sharded"));
    assert_eq!(failing(&format!("indices {path} --order sharded --worker 1")).0, 2);
}
