//! Batches of samples of different length, a comparison of strategies, and the picture of it.

use std::fs;
use std::path::PathBuf;

use roxmltree::Document;
use samedeal::{Batcher, Counting, Packing, Strategy, Tail, TooLong};
use serde_json::Value;

use crate::{failing, files, json, one_step, refuses, run, text};

/// Lengths of 1,000 samples, most of them short, and a file with these lengths.
fn samples(test: &str) -> (Vec<u32>, PathBuf) {
    let lengths = (0..1000_u32).map(|i| (i * 7_919 % 101).pow(2) / 40).collect::<Vec<_>>();
    let path = files::folder(&format!("batches-{test}")).join("lengths.txt");
    fs::write(&path, lengths.iter().map(|length| format!("{length}\n")).collect::<String>()).unwrap();
    (lengths, path)
}

#[test]
fn batches_are_those_of_the_library() {
    let (lengths, path) = samples("library");
    let builder = || Batcher::builder(lengths.clone()).seed(-3).epoch(2).order("torch").rank(1).world_size(3);
    for (options, batcher) in [
        ("--max-tokens 1000", builder().max_tokens(1000)),
        ("--max-batch-size 4 --max-length 250", builder().max_batch_size(4).max_length(250)),
        (
            "--strategy budget --max-tokens 1000 --counting unpadded --packing optimal --tail drop",
            builder().max_tokens(1000).counting(Counting::Unpadded).packing(Packing::Optimal).tail(Tail::Drop),
        ),
        (
            "--max-cost 90000 --counting weighted --linear 3 --quadratic 2 --max-length 200 --too-long split",
            builder()
                .max_cost(90_000)
                .counting(Counting::Weighted)
                .linear(3)
                .quadratic(2)
                .max_length(200)
                .too_long(TooLong::Split),
        ),
        (
            "--max-tokens 1000 --batch-size-multiple 4 --max-length 100 --too-long drop --tail duplicate",
            builder()
                .max_tokens(1000)
                .batch_size_multiple(4)
                .max_length(100)
                .too_long(TooLong::Drop)
                .tail(Tail::Duplicate),
        ),
        ("--strategy pad-to-max --max-batch-size 7", builder().strategy(Strategy::PadToMax).max_batch_size(7)),
        ("--strategy bucket", builder().strategy(Strategy::Bucket)),
        ("--strategy bucket --bucket-width 20", builder().strategy(Strategy::Bucket).bucket_width(20)),
        (
            "--strategy bucket --boundaries 10,50,200 --max-tokens 500",
            builder().strategy(Strategy::Bucket).boundaries([10, 50, 200]).max_tokens(500),
        ),
        ("--strategy bucket --quantiles 5", builder().strategy(Strategy::Bucket).quantiles(5)),
        (
            "--strategy pack --capacity 300 --max-batch-size 2 --tail even-split",
            builder().strategy(Strategy::Pack).capacity(300).max_batch_size(2).tail(Tail::EvenSplit),
        ),
        (
            "--strategy pack --max-length 128 --too-long truncate --packing optimal",
            builder().strategy(Strategy::Pack).max_length(128).too_long(TooLong::Truncate).packing(Packing::Optimal),
        ),
    ] {
        let has_window = !options.contains("pad-to-max");
        let (window, batcher) =
            if has_window { ("--batch-window 100", batcher.batch_window(100)) } else { ("", batcher) };
        let deal = format!("--seed -3 --epoch 2 --order torch --rank 1 --world-size 3 {window}");
        let asked = format!("batches {} --lengths {deal} {options}", path.display());
        let batcher = batcher.build().unwrap();
        let batches = batcher.iter().collect::<Result<Vec<_>, _>>().unwrap();
        let found = json(&format!("{asked} --all --json"));
        let listed = found["batches"].as_array().unwrap();
        assert_eq!(listed.len(), batches.len(), "{asked}");
        let lines = text(&format!("{asked} --all --format text"));
        for (step, ((batch, found), line)) in batches.iter().zip(listed).zip(lines.lines()).enumerate() {
            assert_eq!(found["step"], step, "{asked}");
            for (name, numbers) in
                [("starts", &batch.starts), ("lengths", &batch.lengths), ("row_ends", &batch.row_ends)]
            {
                assert_eq!(found[name], Value::from(numbers.clone()), "{asked}");
            }
            assert_eq!(found["samples"], Value::from(batch.samples.clone()), "{asked}");
            let told = [batch.padded_length.into(), batch.cost, batch.repeated.into()];
            assert_eq!(
                ["padded_length", "cost", "repeated"].map(|name| found[name].as_u64().unwrap()),
                told,
                "{asked}"
            );
            // A line of text has the same batch: five numbers, and a part for each row.
            let parts = line.split('\t').collect::<Vec<_>>();
            let rows = batch.row_ends.len() as u64;
            let numbers = parts[..5].iter().map(|part| part.parse::<u64>().unwrap()).collect::<Vec<_>>();
            assert_eq!(numbers, [step as u64, rows, told[0], told[1], told[2]], "{asked}");
            let items = parts[5..].iter().flat_map(|row| row.split(',')).map(|item| {
                let (sample, start) = item.split_once('@').unwrap_or((item, "0"));
                (sample.parse().unwrap(), start.parse().unwrap())
            });
            assert!(items.eq(batch.samples.iter().copied().zip(batch.starts.iter().copied())), "{asked}: {line}");
            assert_eq!(parts.len() - 5, batch.row_ends.len(), "{asked}: {line}");
        }
        let metrics = batcher.metrics().unwrap();
        assert_eq!(found["metrics"]["padded"], metrics.padded);
        let ratio = found["metrics"]["slowest_rank_utilization"].as_f64().unwrap();
        assert!((ratio - metrics.slowest_rank_utilization()).abs() < 1e-12, "{asked}");
        let recipe = serde_json::from_str::<Value>(&batcher.recipe().unwrap()).unwrap();
        assert_eq!((&found["recipe"], &found["rank"], &found["epoch"]), (&recipe, &1.into(), &2.into()));
        // The options give the same recipe as the library, and the recipe makes the same batches.
        let path = path.with_file_name("recipe.json");
        assert_eq!(
            text(&asked.replacen("batches ", "recipe ", 1).replace("--rank 1 ", "").replace("--epoch 2 ", "")),
            batcher.recipe().unwrap() + "\n"
        );
        fs::write(&path, batcher.recipe().unwrap()).unwrap();
        let by_recipe = asked.split(" --seed").next().unwrap();
        let by_recipe = format!("{by_recipe} --recipe {} --epoch 2 --rank 1", path.display());
        assert_eq!(json(&format!("{by_recipe} --all --json")), found);
    }
}

#[test]
fn a_state_counts_steps_and_goes_on_with_other_ranks() {
    let (lengths, path) = samples("states");
    let path = path.display();
    let first = text(&format!("state {path} --lengths --max-tokens 1000 --world-size 3 --steps 7"));
    let mut batcher = Batcher::builder(lengths.clone()).max_tokens(1000).world_size(3).build().unwrap();
    assert_eq!(first.trim_end(), batcher.state(7).unwrap());
    let state = files::folder("batches-after").join("state.json");
    fs::write(&state, &first).unwrap();
    let again = format!("state {path} --lengths --resume {}", state.display());
    let mut other = Batcher::builder(lengths).max_tokens(1000).world_size(2).build().unwrap();
    other.resume(&batcher.state(7).unwrap()).unwrap();
    assert_eq!(text(&format!("{again} --world-size 2 --steps 4")).trim_end(), other.state(4).unwrap());
    for (options, told) in [
        ("--taken 4", "--taken is for samplers; the state of batches by length counts steps"),
        ("--steps 4000", "--steps is 4000; allowed: 0 to "),
        ("--steps 4 --batch-size 8", "--batch-size has no meaning with --lengths"),
        ("--steps 4 --max-tokens 900", "--max-tokens is 900; allowed: 1000, as in the state"),
    ] {
        refuses(&format!("{again} {options}"), told);
    }
    batcher.resume(&first).unwrap();
}

#[test]
fn any_step_is_shown_alone() {
    let (_, path) = samples("alone");
    let asked = format!("batches {} --lengths --max-tokens 1000 --world-size 2 --rank 1 --json", path.display());
    let (all, one) = (json(&format!("{asked} --all")), json(&format!("{asked} --start 2 --count 1")));
    assert_eq!((one["batches"].as_array().unwrap().len(), &one["batches"][0]), (1, &all["batches"][2]));
    assert_eq!((&one["start"], &one["metrics"]), (&2.into(), &all["metrics"]));
}

#[test]
fn a_table_shows_some_steps_and_what_all_amount_to() {
    let (_, path) = samples("table");
    let path = path.display();
    let shown = text(&format!("batches {path} --lengths --max-tokens 1000 --world-size 2"));
    assert_eq!(shown.lines().count(), 3 + 5 + 1 + 3, "{shown}");
    assert!(shown.contains("1,000 samples of 0 to 250 tokens, "), "{shown}");
    assert!(shown.contains(" steps of rank 0 of 2; --start, --count and --all show more\n"), "{shown}");
    assert!(shown.contains("padding ") && shown.contains(", budget used ") && shown.contains(" ..."), "{shown}");
    let shown = text(&format!("batches {path} --lengths --strategy pack --max-length 99 --too-long truncate --all"));
    assert!(!shown.contains("--all") && shown.contains(" samples truncated"), "{shown}");
    assert!(shown.contains("packs are needed") && shown.contains(",(+"), "{shown}");
    // With --keep-order, samples keep their order.
    let numbers = text(&format!(
        "batches {path} --lengths --max-tokens 1000 --keep-order --order sequential --count 1 --format text"
    ));
    let first = numbers.split('\t').skip(5).map(|part| part.trim().parse::<u32>().unwrap()).collect::<Vec<_>>();
    assert_eq!(first, (0..first.len() as u32).collect::<Vec<_>>());
}

#[test]
fn strategies_are_compared_with_the_same_room() {
    let (lengths, path) = samples("compare");
    let asked = format!("batches {} --lengths --compare --world-size 4 --seed 7", path.display());
    let found = json(&format!("{asked} --max-tokens 2500 --json"));
    let strategies = found["strategies"].as_array().unwrap();
    let names =
        ["pad-to-max", "bucket rows", "bucket tokens", "budget padded", "budget unpadded", "pack fast", "pack optimal"];
    assert!(strategies.iter().map(|it| it["name"].as_str().unwrap()).eq(names), "{found}");
    assert_eq!((&found["samples"], &found["unit"]), (&1000.into(), &"tokens".into()));
    let tokens = lengths.iter().sum::<u32>();
    for strategy in strategies {
        let (batch, metrics) = (&strategy["recipe"]["batch"], &strategy["metrics"]);
        assert_eq!(
            (&metrics["tokens"], &metrics["over_budget"], &metrics["dropped"]),
            (&tokens.into(), &0.into(), &0.into())
        );
        let rows = batch["max_batch_size"].as_u64();
        match strategy["name"].as_str().unwrap() {
            "pad-to-max" => assert_eq!(rows, Some(10)),
            "bucket rows" => assert_eq!((rows, &batch["max_tokens"]), (Some(10), &2500.into())),
            name if name.starts_with("pack") => {
                assert_eq!((rows, &batch["capacity"]), (Some(10), &250.into()), "{name}")
            }
            name => assert_eq!((rows, &batch["max_tokens"]), (None, &2500.into()), "{name}"),
        }
    }
    // The numbers equal those of the library.
    let batcher = Batcher::builder(lengths).seed(7).world_size(4).max_tokens(2500).build().unwrap();
    assert_eq!(strategies[3]["metrics"]["slowest"], batcher.metrics().unwrap().slowest);
    let lines = text(&format!("{asked} --max-tokens 2500 --format text"));
    let line = lines.lines().nth(3).unwrap().split('\t').collect::<Vec<_>>();
    let ratio = |value: f64| format!("{value:.6}");
    assert_eq!(&line[..2], ["budget padded", &batcher.num_steps().unwrap().to_string()]);
    assert_eq!(
        line[3..6],
        [
            ratio(batcher.metrics().unwrap().padding_ratio()),
            ratio(batcher.metrics().unwrap().budget_utilization()),
            ratio(batcher.metrics().unwrap().slowest_rank_utilization()),
        ]
    );
    let shown = text(&asked);
    assert!(names.iter().all(|name| shown.contains(&format!("│ {name} "))), "{shown}");
    assert!(shown.contains("batches of up to 8,000 tokens, such as 32 rows of 250"), "{shown}");
    let weighted = json(&format!("{asked} --counting weighted --quadratic 1 --max-batch-size 10 --json"));
    let batch = &weighted["strategies"][5]["recipe"]["batch"];
    assert_eq!(weighted["strategies"].as_array().unwrap().len(), 8);
    // The budget has room for ten of the longest samples, each of which costs 250 + 250^2.
    assert_eq!((&batch["counting"], &batch["max_cost"]), (&"weighted".into(), &(10 * (250 + 250 * 250)).into()));
    // An option goes only to the strategies that use it.
    let some =
        json(&format!("{asked} --max-tokens 2500 --quantiles 3 --batch-window 64 --batch-size-multiple 2 --json"));
    for strategy in some["strategies"].as_array().unwrap() {
        let (name, batch) = (strategy["name"].as_str().unwrap(), &strategy["recipe"]["batch"]);
        assert_eq!(batch.get("quantiles"), name.starts_with("bucket").then_some(&3.into()), "{name}");
        assert_eq!(batch.get("batch_window"), (name != "pad-to-max").then_some(&64.into()), "{name}");
        let is_multiple = matches!(name, "bucket rows" | "bucket tokens" | "budget padded");
        assert_eq!(batch.get("batch_size_multiple"), is_multiple.then_some(&2.into()), "{name}");
    }
    // The command lines to copy also have these options, and the order, the seed and the epoch.
    let more = "--boundaries 90,120 --max-length 200 --too-long drop --order torch --epoch 3 --max-tokens 2500";
    let shown = text(&format!("{asked} {more}"));
    let line = shown.lines().find_map(|line| line.strip_prefix("  samedeal ")).unwrap();
    let ends = [" --lengths --order torch --seed 7 --world-size 4 --epoch 3 --strategy ", " --too-long drop"];
    assert!(ends.iter().all(|part| line.contains(part)), "{line}");
    let copied = json(&format!("{line} --json"));
    let compared = json(&format!("{asked} {more} --json"))["strategies"].clone();
    let is_same = |it: &Value| (&it["recipe"], &it["metrics"]) == (&copied["recipe"], &copied["metrics"]);
    assert!(compared.as_array().unwrap().iter().any(is_same), "{line}");
}

#[test]
fn a_comparison_fills_the_budget_and_says_which_strategy_wastes_least() {
    let (lengths, path) = samples("budget");
    let asked = format!("batches {} --lengths --compare --world-size 2", path.display());
    // A row of the longest sample has 250 tokens, so one row fits into 499, and two rows into 500.
    for (budget, rows) in [(499_u64, 1_u64), (500, 2), (1200, 4)] {
        let found = json(&format!("{asked} --max-tokens {budget} --json"));
        let strategy =
            |name: &str| found["strategies"].as_array().unwrap().iter().find(|it| it["name"] == name).unwrap().clone();
        assert_eq!(strategy("bucket rows")["recipe"]["batch"]["max_batch_size"], rows);
        let pack = strategy("pack fast")["recipe"]["batch"].clone();
        assert_eq!((&pack["max_batch_size"], &pack["capacity"]), (&rows.into(), &(budget / rows).into()));
        // The mean batch of each strategy is at most as large as the budget, and not much smaller.
        for name in ["bucket tokens", "budget padded", "budget unpadded", "pack fast", "pack optimal"] {
            let metrics = &strategy(name)["metrics"];
            let mean = metrics["tokens"].as_f64().unwrap() / metrics["steps"].as_f64().unwrap() / 2.0;
            assert!(mean > 0.65 * budget as f64 && mean <= budget as f64, "{name}: {mean} of {budget}");
        }
        let used = |name: &str| strategy(name)["metrics"]["slowest_rank_utilization"].as_f64().unwrap();
        let best = |one: &'static str, other: &'static str| if used(other) > used(one) { other } else { one };
        let told = |name: &str| format!("{name} ({:.2} %)", 100.0 * (1.0 - used(name)));
        let (padded, packed) = (best("bucket tokens", "budget padded"), best("pack fast", "pack optimal"));
        let said = format!("full batches: {} with padded rows, {} with packed rows", told(padded), told(packed));
        let shown = text(&format!("{asked} --max-tokens {budget}"));
        assert!(shown.contains(&said), "{said}: {shown}");
        // The command lines to copy make the batches that were compared.
        let lines = shown.lines().filter_map(|line| line.strip_prefix("  samedeal ")).collect::<Vec<_>>();
        assert_eq!(lines.len(), 2, "{shown}");
        for (line, name) in lines.into_iter().zip([padded, packed]) {
            let copied = json(&format!("{line} --json"));
            assert_eq!(copied["recipe"], strategy(name)["recipe"], "{line}");
            assert_eq!(copied["metrics"], strategy(name)["metrics"], "{line}");
        }
    }
    assert_eq!(lengths.iter().max(), Some(&250));
}

#[test]
fn neighbours_are_correlated_where_nothing_is_shuffled() {
    let path = files::folder("batches-neighbours").join("lengths.json");
    fs::write(&path, Value::from((1..2000).collect::<Vec<u32>>()).to_string()).unwrap();
    let of = |order: &str| {
        let found = json(&format!("batches {} --lengths --compare --order {order} --json", path.display()));
        found["strategies"][0]["neighbor_correlation"].as_f64().unwrap()
    };
    assert!(of("sequential") > 0.999 && of("feistel").abs() < 0.5);
    let few = json(&format!("batches {} --lengths --compare --max-batch-size 1000 --json", path.display()));
    assert_eq!(few["strategies"][0]["neighbor_correlation"], Value::Null);
}

#[test]
fn a_plot_shows_the_lengths_and_every_strategy() {
    let (lengths, path) = samples("plot");
    let svg = path.with_file_name("lengths.svg");
    let asked =
        format!("batches {} --lengths --max-length 200 --too-long truncate --plot {}", path.display(), svg.display());
    // The table is printed as well.
    assert!(text(&asked).contains("│ pack optimal "));
    let drawn = fs::read_to_string(&svg).unwrap();
    let document = Document::parse(&drawn).unwrap();
    let root = document.root_element();
    assert_eq!((root.tag_name().name(), root.tag_name().namespace()), ("svg", Some("http://www.w3.org/2000/svg")));
    assert_eq!(root.attribute("viewBox").unwrap().split(' ').count(), 4);
    let group = |id: &str| root.descendants().find(|node| node.attribute("id") == Some(id)).unwrap();
    let titles = |id: &str| {
        let titles = group(id).descendants().filter(|node| node.has_tag_name(("http://www.w3.org/2000/svg", "title")));
        titles.map(|node| node.text().unwrap().trim().to_owned()).collect::<Vec<_>>()
    };
    // Each bar has a title with its number of samples; together, they have all samples.
    let counted = titles("lengths").into_iter().map(|title| {
        let (_, count) = title.rsplit_once(": ").unwrap();
        count.split(' ').next().unwrap().replace(',', "").parse::<usize>().unwrap()
    });
    assert_eq!(counted.sum::<usize>(), lengths.len());
    let texts = |id: &str| group(id).descendants().filter_map(|node| node.text()).map(str::trim).collect::<String>();
    assert!(
        texts("lengths").contains("length of a sample, in tokens") && texts("lengths").contains("--max-length 200")
    );
    assert!(texts("waste").contains("waste, in % of") && texts("waste").contains("waiting for the slowest rank"));
    for name in
        ["pad-to-max", "bucket rows", "bucket tokens", "budget padded", "budget unpadded", "pack fast", "pack optimal"]
    {
        for what in ["padding", "waiting"] {
            let is_it = |title: &String| title.starts_with(&format!("{name}: ")) && title.ends_with(what);
            assert_eq!(titles("waste").iter().filter(|title| is_it(title)).count(), 1, "{name} {what}");
        }
    }
    // Every bar is within the background of the page.
    let page = root.descendants().find(|node| node.attribute("class") == Some("page")).unwrap();
    let number = |node: &roxmltree::Node, name: &str| node.attribute(name).map_or(0.0, |it| it.parse::<f64>().unwrap());
    for bar in root.descendants().filter(|node| node.has_tag_name(("http://www.w3.org/2000/svg", "rect"))) {
        assert!(number(&bar, "x") + number(&bar, "width") <= number(&page, "width"));
        assert!(number(&bar, "y") + number(&bar, "height") <= number(&page, "height"));
    }
    assert!(drawn.contains("prefers-color-scheme: dark"));
    // A second run draws the same picture, and leaves no other file in the folder.
    text(&asked);
    assert_eq!(fs::read_to_string(&svg).unwrap(), drawn);
    assert_eq!(fs::read_dir(svg.parent().unwrap()).unwrap().count(), 2);
    refuses(&format!("batches {} --lengths --plot no/such/folder/a.svg", path.display()), "no/such/folder/a.svg: ");
}

#[test]
fn answers_go_to_files() {
    let (_, path) = samples("output");
    for options in ["--max-tokens 500 --all --json", "--compare --json"] {
        let asked = format!("batches {} --lengths {options}", path.display());
        let file = path.with_file_name("answer.json");
        assert_eq!(text(&format!("{asked} --output {}", file.display())), "");
        assert_eq!(fs::read_to_string(&file).unwrap(), text(&asked));
    }
}

#[test]
fn refusals_say_what_to_do_instead() {
    let (_, path) = samples("refused");
    let asked = format!("batches {} --lengths", path.display());
    for (options, said) in [
        ("", "--max-tokens is missing; needed: the most tokens of a batch, or --max-batch-size and --max-length"),
        ("--counting weighted", "--max-cost is missing; needed: the most that a batch may cost"),
        ("--strategy pack", "--capacity is missing; needed: the tokens of a row, or --max-length"),
        ("--max-tokens 500 --capacity 9", "--capacity is 9; allowed: none with strategy budget and counting padded"),
        ("--max-tokens 500 --max-cost 9", "--max-cost is 9; allowed: none with strategy budget and counting padded"),
        ("--max-tokens 500 --linear 1", "--linear is 1; allowed: none with strategy budget and counting padded"),
        (
            "--max-tokens 500 --format npy",
            "batches of different size do not fit into an array; use --format text or json, or the libraries",
        ),
        ("--max-tokens 500 --rank 4 --world-size 4", "--rank is 4; allowed: 0 to 3"),
        ("--max-tokens 500 --count 999", "--count is 999; allowed: 0 to "),
        ("--max-tokens 0", "--max-tokens is 0; allowed: 1 to 18446744073709551615"),
        ("--strategy bucket --max-batch-size 0", "--max-batch-size is 0; allowed: 1 to 4294967295"),
        ("--strategy bucket --boundaries 9,9", "--boundaries is "),
        (
            "--strategy bucket --bucket-width 4 --quantiles 4",
            "--bucket-width is 4; allowed: none, where quantiles is given",
        ),
        ("--max-tokens 500 --order deal", "--order is \"deal\"; known: feistel, "),
        (
            "--max-tokens 500 --max-length 100",
            "a sample is too long: 207 (sample 724); allowed: 0 to 100, or choose what happens to it: --too-long truncate",
        ),
        ("--max-tokens 500 --remainder drop", "--remainder is there; allowed: none with batches, which have tail"),
        ("--max-tokens 500 --lanes 4", "--lanes is 4; allowed: none with the order feistel"),
        ("--compare --capacity 0", "--capacity is 0; allowed: 1 to 4294967295"),
        ("--compare --max-tokens 0", "--max-tokens is 0; allowed: 1 to 18446744073709551615"),
        ("--compare --linear 2", "--linear is 2; allowed: none with strategy pad-to-max"),
        ("--compare --boundaries 9,9", "--boundaries is "),
        ("--compare --max-length 100", "a sample is too long: 207 (sample 724); allowed: 0 to 100, or choose "),
    ] {
        let (code, found) = failing(&format!("{asked} {options}"));
        assert!(code == 2 && found.starts_with(&format!("error: {said}")), "{found}, not {said}");
    }
    for (arguments, words) in [
        ("--max-tokens -1", "'--max-tokens <N>': allowed: 1 to 2^64 - 1"),
        ("--max-tokens x", "'--max-tokens <N>': allowed: 1 to 2^64 - 1"),
        ("--max-length 4294967296", "'--max-length <N>': allowed: 0 to 2^32 - 1"),
        ("--boundaries 1,x", "'--boundaries <N,N,...>': allowed: whole numbers with commas between"),
        ("--strategy best", "invalid value 'best' for '--strategy <NAME>'"),
        ("--length-unit tokens", "invalid value 'tokens' for '--length-unit <UNIT>'"),
        ("--compare --rank 0", "'--compare' cannot be used with '--rank <RANK>'"),
        ("--plot a.svg --strategy pack", "'--plot <FILE.svg>' cannot be used with '--strategy <NAME>'"),
    ] {
        refuses(&format!("{asked} {arguments}"), words);
    }
    for (option, instead) in [
        ("--batch-size 32", "add --max-batch-size 32 instead"),
        ("--drop-last", "add --tail drop instead"),
        ("--order sharded", "add another order instead; `samedeal orders` lists them"),
        ("--workers 4", "leave it out; the workers of a loader take the batches of its rank in turn"),
    ] {
        let (code, said) = failing(&format!("{asked} --max-tokens 500 {option}"));
        let name = if option.contains("sharded") { option } else { option.split(' ').next().unwrap() };
        assert!(code == 2 && said.starts_with(&format!("error: {name} has no meaning with --lengths: ")), "{said}");
        assert!(said.ends_with(instead), "{said}");
    }
    let (_, said) = failing("batches --samples 10 --lengths n --max-tokens 500");
    assert!(
        said.ends_with("--samples has no meaning with --lengths: name the files that tell lengths instead"),
        "{said}"
    );
    // Without --lengths, options that need it are refused; other missing options are reported as before.
    for options in
        ["--max-tokens 9", "--compare", "--plot a.svg", "--length-unit words", "--quantiles 2", "--tail drop"]
    {
        let said = String::from_utf8(run(&format!("batches --samples 10 --batch-size 2 {options}")).stderr).unwrap();
        assert!(said.lines().nth(1).is_some_and(|line| line.contains("--lengths [<COLUMN>]")), "{said}");
    }
    // The message names only one of the missing options.
    let said = String::from_utf8(run("batches --samples 10 --max-tokens 9").stderr).unwrap();
    assert!(said.lines().nth(1).is_some_and(|line| line.trim() == "--lengths [<COLUMN>]"), "{said}");
    assert_eq!(said.lines().nth(2), Some(""), "{said}");
    assert!(failing("batches --samples 10").1.starts_with("error: --batch-size is missing; needed: "));
}

#[test]
fn a_recipe_may_have_an_order_that_is_made_of_others() {
    let folder = crate::files::folder("batches-composed");
    let (path, lengths, state) = (folder.join("run.json"), folder.join("lengths.txt"), folder.join("state.json"));
    let values = (0..450_u32).map(|sample| 1 + sample * 37 % 90).collect::<Vec<_>>();
    std::fs::write(&lengths, values.iter().map(|length| format!("{length}\n")).collect::<String>()).unwrap();
    let kept = (0..300).collect::<Vec<u64>>();
    let web = samedeal::Order::new("feistel", 400).subset(kept.clone());
    let blend = samedeal::Order::blend([samedeal::Source::new("web", web, 7), samedeal::Source::new("books", 50, 3)]);
    let blend = blend.samples(200).seed(5);
    let batcher = Batcher::builder(values).order(blend).max_tokens(256).world_size(2).rank(1).build().unwrap();
    std::fs::write(&path, batcher.recipe().unwrap()).unwrap();
    let run = format!("{} --lengths --recipe {}", lengths.display(), path.display());
    let (_, said) = failing(&format!("batches {run}"));
    assert!(said.contains("sources[0].order.indices is missing") && said.contains("--list PATH=FILE"), "{said}");
    let list = folder.join("kept.json");
    std::fs::write(&list, serde_json::to_string(&kept).unwrap()).unwrap();
    let run = format!("{run} --list sources/web/indices={}", list.display());
    let found = json(&format!("batches {run} --rank 1 --all --json"));
    let expected = batcher.iter().map(|batch| Value::from(batch.unwrap().samples)).collect::<Vec<_>>();
    let batches = found["batches"].as_array().unwrap();
    assert!(batches.iter().map(|batch| &batch["samples"]).eq(&expected), "{found}");
    assert_eq!(text(&format!("recipe {run}")).trim(), batcher.recipe().unwrap());
    // A sample of a small source has several places in an epoch.
    let places = json(&format!("locate {run} --sample 420 --json"));
    assert_eq!(places["samples"][0]["places"].as_array().unwrap().len(), batcher.locate(420).unwrap().len());
    assert!(one_step(&format!("step 1 {run} --json"))["ranks"].as_array().unwrap().len() == 2);
    // A state of a composed order needs the recipe of its run.
    std::fs::write(&state, batcher.state(2).unwrap()).unwrap();
    let resume = format!("--resume {}", state.display());
    let rest = json(&format!("batches {run} {resume} --rank 1 --all --json"));
    assert!(rest["batches"].as_array().unwrap().iter().map(|batch| &batch["samples"]).eq(&expected[2..]), "{rest}");
    let (_, said) = failing(&format!("batches {} --lengths --max-tokens 256 {resume}", lengths.display()));
    assert!(said.ends_with("which is made of others; give the recipe of the run with --recipe"), "{said}");
    let shown = text(&format!("explain {}", state.display()));
    assert!(shown.contains("web 7, books 3"), "{shown}");
}
