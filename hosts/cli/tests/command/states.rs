//! States: printed, resumed on any world size, and refused by other kinds of objects.

use std::collections::BTreeSet;
use std::fs;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::files;
use crate::{command, failing, json, refuses, text};

#[test]
fn another_world_goes_on_with_what_is_left() {
    let folder = files::folder("states");
    let path = folder.join("epoch.json");
    let deal = "--samples 1003 --seed 7 --remainder uneven";
    let silent = text(&format!("state {deal} --epoch 3 --world-size 8 --taken 40 --output {}", path.display()));
    assert_eq!(silent, "");
    let state: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!((&state["epoch"], &state["consumed"]), (&Value::from(3), &Value::from(320)));
    let mut seen = BTreeSet::new();
    for rank in 0..8 {
        let shown = text(&format!("indices {deal} --epoch 3 --world-size 8 --rank {rank} --count 40 --format text"));
        seen.extend(shown.lines().map(|line| line.parse::<u64>().unwrap()));
    }
    assert_eq!(seen.len(), 320);
    let resume = format!("--resume {}", path.display());
    for rank in 0..5 {
        let shown = text(&format!("indices {deal} {resume} --world-size 5 --rank {rank} --all --format text"));
        assert!(shown.lines().all(|line| seen.insert(line.parse().unwrap())));
    }
    assert_eq!(seen.len(), 1_003);
    // The second state continues from the first one.
    let chained = text(&format!("state {deal} {resume} --world-size 5 --taken 10"));
    assert!(chained.contains("\"consumed\":370") && chained.contains("\"epoch\":3"), "{chained}");
    let found = json(&format!("batches {deal} {resume} --world-size 5 --rank 1 --batch-size 8 --count 1 --json"));
    assert_eq!(found["consumed"], 320);
    let fingerprints = |more: &str| text(&format!("fingerprint {deal} {more} --world-size 5 --format text"));
    assert_ne!(fingerprints(&resume), fingerprints("--epoch 3"));
    let early = seen.iter().next().unwrap();
    let located = text(&format!("locate {deal} {resume} --world-size 5 --sample {early} --format text"));
    assert!(!located.is_empty());
}

/// The state comes from standard input. This is a pipe, which cannot be read twice, like a process substitution.
#[test]
fn a_state_comes_from_a_pipe_too() {
    let state = text("state --samples 100 --taken 10");
    let wanted = text("indices --samples 100 --start 10 --count 1 --format text");
    for path in if cfg!(unix) { &["-", "/dev/stdin"][..] } else { &["-"] } {
        let resume = format!("indices --samples 100 --resume {path} --count 1 --format text");
        let mut child = command(&resume).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), state.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{path}");
        assert_eq!(String::from_utf8(output.stdout).unwrap(), wanted, "{path}");
    }
}

#[test]
fn batches_of_different_length_go_on_too() {
    let folder = files::folder("batch-states");
    let lengths = folder.join("lengths.json");
    fs::write(&lengths, serde_json::to_string(&(1..=200).collect::<Vec<u32>>()).unwrap()).unwrap();
    let batches = format!("batches {} --lengths --max-tokens 512 --world-size 2 --all --json", lengths.display());
    let whole = json(&batches);
    let batcher =
        samedeal::Batcher::builder((1..=200).collect::<Vec<u32>>()).max_tokens(512).world_size(2).build().unwrap();
    let path = folder.join("state.json");
    fs::write(&path, batcher.state(4).unwrap()).unwrap();
    let rest = json(&format!("{batches} --resume {}", path.display()));
    let samples = |found: &Value| {
        let batches = found["batches"].as_array().unwrap();
        batches.iter().map(|batch| batch["samples"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(samples(&rest), samples(&whole)[4..]);
}

/// The `state_dict` of a Python object, as JSON.
fn state_dict(state: &str) -> String {
    format!("{{\"samedeal\": {:?}}}\n", state.trim())
}

#[test]
fn a_state_dict_of_python_is_a_state() {
    let path = files::folder("state-dicts").join("state.json");
    let state = text("state --samples 100 --taken 10");
    let wanted = text("indices --samples 100 --start 10 --count 3 --format text");
    fs::write(&path, state_dict(&state)).unwrap();
    let resume = format!("indices --samples 100 --resume {} --count 3 --format text", path.display());
    assert_eq!(text(&resume), wanted);
    // The state that a worker of torchdata's StatefulDataLoader saves also has the number of samples that this worker
    // gave.
    fs::write(&path, state_dict(&state).replace("}\n", ", \"reader\": {\"taken\": 3}}")).unwrap();
    refuses(&resume, "the state of one worker of a loader; only the StatefulDataLoader");
    assert!(text(&format!("explain {}", path.display())).contains("StatefulDataLoader of torchdata"));
}

#[test]
fn what_is_no_state_is_refused() {
    let folder = files::folder("bad-states");
    let path = folder.join("state.json");
    let resume = |text: &str, deal: &str| {
        fs::write(&path, text).unwrap();
        failing(&format!("indices {deal} --resume {}", path.display()))
    };
    let state = text("state --samples 100 --taken 10");
    for (text, deal, word) in [
        ("", "--samples 100", "holds no state of samedeal"),
        ("{\"samedeal\":9}", "--samples 100", "version 1"),
        (&*state, "--samples 101", "100, as in the state"),
        (&state, "--samples 100 --seed 1", "seed is 1"),
        (&state, "--samples 100 --order torch", "--order is torch; allowed: feistel, as in the state"),
        (&" ".repeat(1 << 17), "--samples 100", "state"),
        (&state_dict("notes"), "--samples 100", "holds no state of samedeal; `samedeal state` writes one"),
    ] {
        let (code, said) = resume(text, deal);
        assert!(code == 2 && said.contains(word) && said.contains("state.json"), "{said}");
    }
    fs::write(&path, [0xff, 0xfe]).unwrap();
    refuses(&format!("indices --samples 100 --resume {}", path.display()), "state.json: holds no state of samedeal");
    // The state decides the epoch, so --epoch is refused.
    for subcommand in ["indices", "batches --batch-size 8", "step 0 --batch-size 8", "state --taken 1"] {
        let (code, said) = failing(&format!("{subcommand} --samples 100 --epoch 2 --resume {}", path.display()));
        assert_eq!(code, 2, "{said}");
        assert!(said.contains("--resume <FILE>") && said.contains("--epoch <EPOCH>"), "{said}");
    }
    refuses("indices --samples 100 --resume no-such-file", "no-such-file");
    refuses("state --samples 100 --taken 101", "0 to 100");
}

/// A state has the number of positions of finished windows, and not their plan. So the rest may be planned with other
/// options.
#[test]
fn a_state_of_batches_knows_its_open_window() {
    let folder = files::folder("open-window");
    let (file, state) = (folder.join("lengths.txt"), folder.join("state.json"));
    let lengths = (0..300_u32).map(|it| it * 37 % 90 + 1).collect::<Vec<_>>();
    fs::write(&file, lengths.iter().map(|it| format!("{it}\n")).collect::<String>()).unwrap();
    let of = |budget| samedeal::Batcher::builder(&*lengths).max_tokens(budget).batch_window(50).world_size(2);
    let batcher = of(200).build().unwrap();
    let states = (1..).map(|steps| (steps, batcher.state(steps).unwrap()));
    let (taken, saved) = states.into_iter().find(|(_, state)| state.contains(r#""consumed":50,"history":[{"#)).unwrap();
    fs::write(&state, &saved).unwrap();
    let options = format!("{} --lengths --batch-window 50 --world-size 2 --max-tokens", file.display());
    let resume = format!("--resume {}", state.display());
    for (step, status, places) in [
        (0, "seen", json!([])),
        (taken - 1, "seen", json!([[0, "window"]])),
        (taken, "upcoming", json!([[0, "state"]])),
    ] {
        let sample = batcher.batch(step).unwrap().samples[0];
        let found = json(&format!("locate {options} 200 {resume} --sample {sample} --json"));
        let found = &found["samples"][0];
        let own = found["places"].as_array().unwrap().iter().map(|it| json!([it["step"], it["counted_from"]]));
        assert_eq!((&found["status"], own.collect::<Value>()), (&status.into(), places), "{step}");
    }
    let found = json(&format!("explain {} {options} 200 --step 0 --json", state.display()));
    let samples = batcher.batch(taken - 1).unwrap().samples;
    assert_eq!(
        (&found["steps"][0]["ranks"][0]["samples"], &found["steps"][0]["status"]),
        (&json!(samples), &"seen".into())
    );
    let (_, said) = failing(&format!("batches {options} 100 {resume}"));
    assert!(said.contains("--max-tokens is 100; allowed: 200"), "{said}");
    let found = json(&format!("batches {options} 100 {resume} --replan --all --json"));
    let mut anew = of(100).build().unwrap();
    anew.replan(&saved).unwrap();
    let batches = anew.iter().map(|batch| json!(batch.unwrap().samples)).collect::<Vec<_>>();
    assert!(found["batches"].as_array().unwrap().iter().map(|batch| &batch["samples"]).eq(&batches));
}

#[test]
fn a_state_of_batches_has_their_options() {
    let folder = files::folder("state-of-batches");
    let (lengths, path) = (folder.join("lengths.json"), folder.join("state.json"));
    let numbers = (0..400_u32).map(|sample| 1 + sample * 37 % 90).collect::<Vec<_>>();
    fs::write(&lengths, serde_json::to_string(&numbers).unwrap()).unwrap();
    let batcher = samedeal::Batcher::builder(numbers).max_tokens(300).seed(7).world_size(2).build().unwrap();
    fs::write(&path, batcher.state(9).unwrap()).unwrap();
    let of = format!("batches {} --lengths --resume {} --world-size 3 --json", lengths.display(), path.display());
    assert_eq!(json(&of), json(&format!("{of} --max-tokens 300 --seed 7")));
    // If batch options are given, they replace all batch options of the state, and not only some.
    let (_, told) = failing(&format!("{of} --max-batch-size 4"));
    assert!(told.contains("max-tokens") || told.contains("budget"), "{told}");
    let (_, told) = failing(&format!("{of} --max-tokens 200"));
    assert!(told.contains("--max-tokens is 200; allowed: 300, as in the state") && told.contains("replan"), "{told}");
    let smaller = json(&format!("{of} --max-tokens 200 --replan"));
    assert_eq!(smaller["recipe"]["batch"]["max_tokens"], 200);
}
