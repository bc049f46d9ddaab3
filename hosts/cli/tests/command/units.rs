//! `--unit`: neighbouring positions that always go to the same rank.

use std::fs;

use samedeal::{Order, Sampler};
use serde_json::Value;

use crate::{failing, files, json, one_step, run, text};

#[test]
fn units_are_those_of_the_library() {
    let sampler = Sampler::builder(1_000).seed(3).unit(4).rank(1).world_size(3).build().unwrap();
    let deal = "--samples 1000 --seed 3 --unit 4 --world-size 3";
    let found = json(&format!("indices {deal} --rank 1 --all --json"));
    assert_eq!(found["indices"], Value::from(sampler.indices::<u64>(..).unwrap()));
    assert_eq!(found["recipe"]["deal"]["unit"], 4);
    assert_eq!(text(&format!("recipe {deal}")).trim(), sampler.recipe().unwrap());
    let sample = sampler.indices::<u64>(7..8).unwrap()[0];
    let place = json(&format!("locate {deal} --batch-size 8 --sample {sample} --json"));
    let place = &place["samples"][0]["places"][0];
    assert_eq!((&place["rank"], &place["batch"], &place["index_in_batch"]), (&1.into(), &0.into(), &7.into()));
    let step = one_step(&format!("step 2 {deal} --batch-size 8 --json"));
    assert_eq!(step["ranks"][1]["samples"], Value::from(sampler.batch::<u64>(2, 8).unwrap()));
    // The recipe has the unit, too.
    let folder = files::folder("unit");
    let (recipe, state) = (folder.join("run.json"), folder.join("state.json"));
    fs::write(&recipe, text(&format!("recipe {deal}"))).unwrap();
    let by_recipe = format!("--recipe {}", recipe.display());
    assert_eq!(json(&format!("indices {by_recipe} --rank 1 --all --json")), found);
    // A state is taken and resumed at whole units.
    fs::write(&state, text(&format!("state {deal} --taken 20"))).unwrap();
    let resume = format!("--resume {}", state.display());
    let rest = json(&format!("indices --samples 1000 --seed 3 --unit 4 --world-size 2 {resume} --all --json"));
    let mut resumed = sampler.to_builder().unwrap().rank(0).world_size(2).build().unwrap();
    resumed.resume(&fs::read_to_string(&state).unwrap()).unwrap();
    assert_eq!(rest["indices"], Value::from(resumed.indices::<u64>(..).unwrap()));
    assert_eq!(failing(&format!("state {deal} --taken 6")).0, 2);
    let seen =
        json(&format!("explain {} --unit 4 --world-size 3 --batch-size 4 --sample {sample} --json", state.display()));
    assert_eq!(seen["samples"][0]["status"], "seen");
}

#[test]
fn verify_knows_what_units_promise() {
    for remainder in ["drop", "pad", "uneven"] {
        for layout in ["strided", "contiguous", "rotated"] {
            for (samples, world, unit) in [(0_u64, 3_u64, 4_u64), (1000, 7, 8), (1001, 4, 16), (5, 2, 64), (64, 2, 32)]
            {
                let deal = format!(
                    "--samples {samples} --world-size {world} --unit {unit} --remainder {remainder} --layout {layout}"
                );
                let found = json(&format!("verify {deal} --json"));
                // Without a batch size, steps are not checked.
                assert_eq!(found["passed"], Value::Null, "{deal}: {found}");
                let over = samples % (world * unit);
                let dropped = if remainder == "drop" { over } else { 0 };
                let padding = if remainder == "pad" { (world * unit - over) % (world * unit) } else { 0 };
                assert_eq!((&found["dropped"], &found["num_padding"]), (&dropped.into(), &padding.into()), "{deal}");
            }
        }
    }
    // This order has each sample four times.
    let path = files::folder("unit-copies").join("run.json");
    let copies = Order::new("feistel", 101).copies(4);
    fs::write(&path, Sampler::from_order(copies).unit(4).world_size(3).build().unwrap().recipe().unwrap()).unwrap();
    let found = json(&format!("verify --recipe {} --batch-size 4 --json", path.display()));
    assert_eq!((&found["passed"], &found["num_padding"]), (&true.into(), &4.into()), "{found}");
}

#[test]
fn other_units_are_refused() {
    for unit in ["0", "1048577"] {
        let (code, said) = failing(&format!("indices --samples 10 --unit {unit}"));
        assert_eq!((code, said), (2, format!("error: --unit is {unit}; allowed: 1 to 1048576")));
    }
    let said = String::from_utf8(run("indices --samples 10 --unit -1").stderr).unwrap();
    assert!(said.contains("'--unit <N>': allowed: 1 to 2^20"), "{said}");
    // With these options, --unit has no meaning and is refused.
    let dataset = files::Dataset::write("unit-refused");
    let path = dataset.folder.display();
    let (_, said) = failing(&format!("indices {path} --order sharded --workers 2 --unit 2"));
    assert!(said.contains("leave --unit or --workers out"), "{said}");
    let (_, said) = failing(&format!("batches {path} --lengths number --max-tokens 64 --unit 2"));
    assert!(said.contains("--unit is there; allowed: none with batches"), "{said}");
}
