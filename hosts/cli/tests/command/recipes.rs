//! Recipes that one command prints and another one reads.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use samedeal::Sampler;

use crate::files::{self, Dataset};
use crate::{command, failing, json, refuses, run, text};

#[test]
fn a_recipe_that_is_printed_and_read_gives_the_same_deal() {
    let folder = files::folder("recipes");
    let path = folder.join("run.json");
    let deal = "--samples 1003 --seed -7 --order torch --world-size 4 --remainder uneven --layout contiguous";
    assert_eq!(text(&format!("recipe {deal} --output {}", path.display())), "");
    let printed = fs::read_to_string(&path).unwrap();
    let sampler = Sampler::builder(1003).seed(-7).order("torch").world_size(4);
    let sampler = sampler.remainder(samedeal::Remainder::Uneven).layout(samedeal::Layout::Contiguous).build().unwrap();
    assert_eq!(printed, sampler.recipe().unwrap() + "\n");
    let recipe = format!("--recipe {}", path.display());
    for rest in [
        "indices --epoch 2 --rank 3 --all --json",
        "batches --rank 1 --batch-size 32 --all --json",
        "locate --sample 7,8 --batch-size 32 --json",
        "step 5 --batch-size 32 --json",
        "fingerprint --rank 2 --json",
        "verify --batch-size 32 --json",
        "recipe",
    ] {
        // `verify` fails, because the ranks are uneven, but its answers are equal.
        let answer = |deal: &str| run(&format!("{rest} {deal}"));
        let (given, read) = (answer(deal), answer(&recipe));
        assert!(!given.stdout.is_empty(), "{rest}");
        assert_eq!((&given.stdout, given.status.code()), (&read.stdout, read.status.code()), "{rest}");
    }
    let fingerprint = sampler.recipe_fingerprint().unwrap();
    assert_eq!(text(&format!("recipe {recipe} --fingerprint")), format!("{fingerprint}\n"));
    assert_eq!(json(&format!("recipe {deal} --fingerprint --json"))["recipe_fingerprint"], fingerprint);
}

#[test]
fn a_recipe_comes_from_a_pipe_and_may_be_short() {
    let mut child = command("indices --recipe - --rank 1 --all --format text")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let recipe = b" {\"deal\": {\"world_size\": 3},\n \"order\": {\"seed\": 42, \"samples\": 10}}\n";
    child.stdin.take().unwrap().write_all(recipe).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "8\n0\n1\n6\n");
}

#[test]
fn files_are_the_sizes_of_a_recipe() {
    let dataset = Dataset::write("recipe-files");
    let (folder, path) = (dataset.folder.display(), dataset.folder.join("run.recipe"));
    let recipe = format!("--recipe {}", path.display());
    let deal = "--order sharded --lanes 8 --shuffle-window 16 --seed 5 --world-size 2";
    fs::write(&path, text(&format!("recipe {folder} {deal}"))).unwrap();
    // Without the files, the command takes their sizes from the recipe. With the files, it also shows their names.
    let bare = text(&format!("indices {recipe} --rank 1 --workers 2 --all --format text"));
    let indices = format!("indices {folder} --rank 1 --workers 2 --all --format text");
    let named = text(&format!("{indices} {deal}"));
    assert_eq!(text(&format!("{indices} {recipe}")), named);
    assert!(named.lines().map(|line| line.split('\t').next().unwrap()).eq(bare.lines()), "{named}");
    assert_eq!(text(&format!("verify {folder} {recipe} --json")), text(&format!("verify {folder} {deal} --json")));
    // A state is resumed with the recipe of its run, and refused with another one.
    let state = dataset.folder.join("epoch.state");
    let resume = format!("--resume {}", state.display());
    fs::write(&state, text(&format!("state {recipe} --epoch 3 --taken 10"))).unwrap();
    let rest = |more: &str| text(&format!("indices {folder} {more} {resume} --all --format text"));
    assert_eq!(rest(&recipe), rest(deal));
    let position = |more: &str| {
        let found = json(&format!("explain {} {more} --sample 7 --json", state.display()));
        found["samples"][0]["places"][0]["position"].as_u64().unwrap()
    };
    assert_eq!(
        position(&format!("{recipe} --batch-size 5")),
        position(&format!("{folder} --lanes 8 --shuffle-window 16"))
    );
    let other = dataset.folder.join("other.recipe");
    fs::write(&other, text(&format!("recipe {folder} --order sharded --lanes 8 --shuffle-window 16 --seed 6")))
        .unwrap();
    let (_, said) = failing(&format!("indices {folder} --recipe {} {resume}", other.display()));
    assert!(said.ends_with("seed is 5, and 6 in the recipe; give the recipe of the run"), "{said}");
    // The recipe belongs to other files, so these are refused.
    let (_, said) = failing(&format!("indices {folder}/b {recipe}"));
    assert!(
        said.contains("run.recipe: sizes is ") && said.ends_with("name the files of the run, in their order"),
        "{said}"
    );
    // An order without files takes only the number of samples from the files.
    fs::write(&path, r#"{"order": {"name": "feistel", "samples": 130, "seed": 5}}"#).unwrap();
    assert_eq!(
        text(&format!("indices {folder} {recipe} --all --json")),
        text(&format!("indices {folder} --seed 5 --all --json"))
    );
    let (_, said) = failing(&format!("indices {folder}/b {recipe}"));
    assert!(said.ends_with("the recipe is of 130 samples, and the files have 29; name the files of the run"), "{said}");
}

#[test]
fn more_than_256_files_are_a_hash_and_must_be_named() {
    let dataset = Dataset::write("recipe-hash");
    let folder = dataset.folder.join("many");
    fs::create_dir(&folder).unwrap();
    for number in 0..257 {
        fs::copy(dataset.folder.join("Z.parquet"), folder.join(format!("{number:03}.parquet"))).unwrap();
    }
    let path = dataset.folder.join("run.recipe");
    let deal = "--order sharded --world-size 4 --seed 3";
    let printed = text(&format!("recipe {} {deal}", folder.display()));
    assert!(printed.contains(r#""shards":257,"sizes":""#), "{printed}");
    fs::write(&path, &printed).unwrap();
    let recipe = format!("--recipe {}", path.display());
    let indices = format!("indices {} --rank 2 --all --format text", folder.display());
    assert_eq!(text(&format!("{indices} {recipe}")), text(&format!("{indices} {deal}")));
    assert_eq!(text(&format!("recipe {} {recipe}", folder.display())), printed);
    let (code, said) = failing(&format!("indices {recipe}"));
    assert!(code == 2 && said.contains("run.recipe: sizes is missing"), "{said}");
    assert!(said.ends_with("Name the files of the run or their directories"), "{said}");
    fs::remove_file(folder.join("007.parquet")).unwrap();
    let (_, said) = failing(&format!("{indices} {recipe}"));
    assert!(said.contains("sizes is 256 numbers that are others"), "{said}");
}

#[test]
fn errors_name_the_field() {
    let path = files::folder("recipe-errors").join("run.json");
    let recipe = format!("indices --recipe {}", path.display());
    for (wrong, words) in [
        (r#"{"order": {"samples": 9}, "deal": {"world_size": 0}}"#, "world_size is 0; allowed: "),
        (r#"{"order": {"samples": 9, "sed": 1}}"#, "order has no member \"sed\"; known: "),
        (r#"{"order": {"samples": "9"}}"#, "samples is "),
        (r#"{"order": {"seed": 9}}"#, "samples is missing"),
        (r#"{"order": {"samples": 9, "name": "sharded"}}"#, "sizes is missing"),
        (r#"{"order": {"samples": 9}, "deal": {"remainder": "keep"}}"#, "remainder is \"keep\"; known: "),
        ("", "is no recipe: it is no JSON (EOF"),
    ] {
        fs::write(&path, wrong).unwrap();
        let (code, said) = failing(&recipe);
        assert!(code == 2 && said.starts_with(&format!("error: {}: {words}", path.display())), "{said}");
    }
    fs::write(&path, b"\xff").unwrap();
    assert!(failing(&recipe).1.ends_with("is no recipe: it is not UTF-8"));
    for option in ["--epoch 1", "--workers 2", "--resume state.json", "--batch-size 2", "--drop-last"] {
        let (code, said) = failing(&format!("recipe --samples 9 {option}"));
        assert!(code == 2, "{said}");
        if !option.starts_with("--resume") {
            let name = option.split(' ').next().unwrap();
            assert_eq!(said, format!("error: {name} is no part of a recipe; leave it out"));
        }
    }
}

#[test]
fn a_recipe_says_how_batches_are_made_too() {
    let folder = files::folder("recipe-batches");
    let (path, lengths) = (folder.join("run.json"), folder.join("lengths.txt"));
    fs::write(&lengths, (0..300).map(|number| format!("{}\n", number * 37 % 90 + 1)).collect::<String>()).unwrap();
    let (recipe, files) = (format!("--recipe {}", path.display()), format!("{} --lengths", lengths.display()));
    let options = "--seed 4 --order torch --world-size 3 --max-tokens 200 --batch-window 50 --tail drop";
    let printed = text(&format!("recipe {files} {options}"));
    fs::write(&path, &printed).unwrap();
    // The recipe has a hash of the lengths, because there are more than 256.
    assert!(printed.contains(r#""max_tokens":200"#) && printed.contains(r#""lengths":""#), "{printed}");
    let found = json(&format!("recipe {files} {options} --fingerprint --json"));
    assert_eq!(text(&format!("recipe {files} {recipe} --fingerprint")).trim(), found["recipe_fingerprint"]);
    for rest in [
        "recipe",
        "batches --rank 2 --all --json",
        "batches --epoch 5",
        "step 3",
        "step 3 --rank 1 --json",
        "locate --sample 7,8 --json",
    ] {
        assert_eq!(text(&format!("{rest} {files} {recipe}")), text(&format!("{rest} {files} {options}")), "{rest}");
    }
    // A state is resumed with the recipe of its run, also on another world size.
    let state = folder.join("state.json");
    let batcher =
        samedeal::Batcher::from_recipe(printed.trim(), (0..300).map(|it| it * 37 % 90 + 1).collect::<Vec<_>>());
    fs::write(&state, batcher.build().unwrap().state(4).unwrap()).unwrap();
    let resume = format!("--resume {}", state.display());
    let rest = |more: &str| text(&format!("batches {files} {resume} {more} --all --json"));
    assert_eq!(rest(&recipe), rest(options));
    let step = |more: &str| text(&format!("explain {} {files} {more} --step 2 --json", state.display()));
    assert_eq!(step(&recipe), step("--max-tokens 200 --batch-window 50 --tail drop"));
    // In these cases, a recipe of batches is refused.
    let (_, said) = failing(&format!("batches --batch-size 4 {recipe}"));
    assert!(said.contains("run.json: the recipe is of batches") && said.contains("with --lengths"), "{said}");
    refuses(&format!("batches {files} {recipe} --compare"), "cannot be used with");
    fs::write(&path, printed.replace("200", "\"200\"")).unwrap();
    refuses(&format!("batches {files} {recipe}"), "max-tokens is \"200\"");
    fs::write(&lengths, "1\n2\n").unwrap();
    fs::write(&path, &printed).unwrap();
    let (_, said) = failing(&format!("batches {files} {recipe}"));
    assert!(said.contains("the recipe has 300 samples; allowed: 2, the number of lengths"), "{said}");
}

#[test]
fn the_help_of_recipe_has_no_states() {
    let help = text("recipe --help");
    assert!(help.contains("--seed") && help.contains("--max-tokens") && !help.contains("--resume"), "{help}");
}

#[test]
fn an_option_beside_a_recipe_replaces_its_member() {
    let folder = files::folder("replaced");
    let path = folder.join("run.json");
    let recipe = |made: &str| fs::write(&path, text(made)).unwrap();
    let same = |asked: &str, given: &str, options: &str| {
        let [read, made] = [format!("--recipe {} {given}", path.display()), options.to_owned()].map(|deal| {
            let output = run(&format!("{asked} {deal}"));
            assert!(output.stderr.is_empty(), "{asked} {deal}: {}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).unwrap()
        });
        assert_eq!(read, made, "{asked} {given}");
    };
    recipe("recipe --samples 1003 --seed 5 --world-size 4 --remainder drop");
    for (given, options) in [
        ("--seed 43", "--samples 1003 --seed 43 --world-size 4 --remainder drop"),
        ("--samples 900 --order torch", "--samples 900 --order torch --seed 5 --world-size 4 --remainder drop"),
        ("--world-size 2 --unit 2", "--samples 1003 --seed 5 --world-size 2 --remainder drop --unit 2"),
        ("--remainder uneven", "--samples 1003 --seed 5 --world-size 4 --remainder uneven"),
    ] {
        for asked in
            ["recipe", "verify --json", "indices --all --json", "step 3 --batch-size 9 --json", "state --taken 8"]
        {
            same(asked, given, options);
        }
        same("locate --sample 8 --batch-size 9 --json", given, options);
    }
    recipe("steps --samples 1000 --global-batch-size 8 --seed 5 --recipe-out -");
    same("steps --at 40 --json", "--seed 6 --global-batch-size 16", "--samples 1000 --global-batch-size 16 --seed 6");
    same(
        "steps --at 40 --json",
        "--samples 900 --order torch",
        "--samples 900 --order torch --global-batch-size 8 --seed 5",
    );
    recipe("split --part a:1 --part b:2 --seed 5 --recipe-out -");
    same("split --samples 99 --each --json", "--seed 6", "--part a:1 --part b:2 --seed 6");
    same("split --samples 99 --each --json", "--part a:3 --part c:1", "--part a:3 --part c:1 --seed 5");
    same("split --samples 99 --each --json", "--folds 3", "--folds 3 --seed 5");
    recipe("blend --source a:100:1 --source b:50:1 --seed 5 --recipe-out -");
    same("blend --json", "--stage 50:2,1", "--source a:100:1 --source b:50:1 --seed 5 --stage 50:2,1");
    // --seed changes the seed of the blend, not the seeds of its sources.
    assert_eq!(json(&format!("blend --recipe {} --seed 6 --json", path.display()))["recipe"]["order"]["seed"], 6);
    same("blend --json", "--exact --samples 30", "--source a:100:1 --source b:50:1 --seed 5 --exact --samples 30");
    fs::write(folder.join("lengths.json"), "[3, 5, 8, 2, 9, 4, 7, 7, 1]").unwrap();
    let lengths = format!("{} --lengths", folder.join("lengths.json").display());
    recipe(&format!("recipe {lengths} --max-tokens 20 --seed 5"));
    let asked = format!("batches {lengths} --json");
    same(&asked, "--max-tokens 30 --seed 6 --world-size 2", "--max-tokens 30 --seed 6 --world-size 2");
    same(&asked, "--tail drop", "--max-tokens 20 --seed 5 --tail drop");
}

#[test]
fn a_recipe_whose_end_is_missing_is_said_to_be_cut() {
    let path = files::folder("cut").join("run.json");
    let whole = text("recipe --samples 1000");
    for end in [1, 30, whole.len() - 2] {
        fs::write(&path, &whole[..end]).unwrap();
        for asked in ["indices", "verify", "steps", "split --samples 9", "blend"] {
            refuses(&format!("{asked} --recipe {}", path.display()), "run.json: is no recipe: its end is missing (EOF");
        }
    }
}
