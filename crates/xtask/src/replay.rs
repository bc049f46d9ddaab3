//! The epochs that the hosts saw, side by side.

use crate::table;

/// The fields that must be the same in every host: the number of samples and batches of the rank, its first and last
/// sample indices, and the SHA-256 over the contents of its samples in the order seen.
const EQUAL: &[&str] = &["samples", "batches", "first", "last", "sha256"];
/// Fields that may differ from host to host.
const OWN: &[&str] = &["engine", "seconds"];

/// The epoch that one host saw.
pub struct Replay {
    /// The name of the host.
    pub host: String,
    /// The fields that it printed, by name.
    pub fields: Vec<(String, String)>,
}

impl Replay {
    fn get(&self, name: &str) -> &str {
        self.fields.iter().find(|(key, _)| key == name).map_or("-", |(_, value)| value)
    }
}

/// All problems: fields that a host did not print, and fields that differ from those of the first host.
pub fn differences(replays: &[Replay]) -> Vec<String> {
    let mut problems = Vec::new();
    for replay in replays {
        for field in EQUAL.iter().chain(OWN) {
            if replay.get(field) == "-" {
                problems.push(format!("{} printed no {field}", replay.host));
            }
        }
        for field in EQUAL {
            let (mine, first) = (replay.get(field), replays[0].get(field));
            if mine != first {
                problems.push(format!("{field} differs: {} has {first}, {} has {mine}", replays[0].host, replay.host));
            }
        }
    }
    problems
}

/// A table with a column for each host and a line for each field. A field that differs is marked.
pub fn render(title: &str, replays: &[Replay]) -> String {
    let row = |field: &str, cell: &dyn Fn(&Replay) -> String| {
        let cells: Vec<String> = replays.iter().map(cell).collect();
        let differs = EQUAL.contains(&field) && replays.iter().any(|replay| replay.get(field) != replays[0].get(field));
        let mark = if differs { vec!["<- DIFFERS".to_string()] } else { Vec::new() };
        [vec![field.to_string()], cells, mark].concat()
    };
    let heading = [row(title, &|replay| short(replay.get("engine"), 32))];
    let rows = [
        row("samples", &|replay| table::thousands(replay.get("samples"))),
        row("batches", &|replay| table::thousands(replay.get("batches"))),
        row("first", &|replay| list(replay.get("first"))),
        row("last", &|replay| list(replay.get("last"))),
        row("sha256", &|replay| short(replay.get("sha256"), 16)),
        row("seconds", &|replay| replay.get("seconds").parse().map_or("-".into(), |time: f64| format!("{time:.2}"))),
    ];
    table::render(&heading, &rows)
}

/// A list in the form of the table: `[3,1,2]` becomes `3 1 2`.
fn list(text: &str) -> String {
    text.trim_matches(['[', ']']).replace(',', " ")
}

fn short(text: &str, length: usize) -> String {
    let cut: String = text.chars().take(length).collect();
    if cut.len() < text.len() { cut + "..." } else { cut }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flat;

    const RUST: &str = r#"{"engine": "wasmtime 48", "samples": 16539, "batches": 130, "first": [3, 1, 4, 1, 5],
        "last": [9, 2, 6, 5, 3], "sha256": "00ff00ff00ff00ff00ff", "seconds": 0.125}"#;

    fn replays(other: &str) -> [Replay; 2] {
        let replay = |host: &str, json| Replay { host: host.into(), fields: flat::fields(json).unwrap() };
        [replay("Rust", RUST), replay("Node", other)]
    }

    #[test]
    fn engine_and_time_may_differ() {
        let node = RUST.replace("wasmtime 48", "node 20").replace("0.125", "0.5").replace(", ", ",");
        assert_eq!(differences(&replays(&node)), Vec::<String>::new());
        assert!(!render("rank 0", &replays(&node)).contains("DIFFERS"));
    }

    #[test]
    fn any_other_difference_is_found_and_marked() {
        for (from, to, field) in [
            ("16539", "16538", "samples"),
            ("130", "131", "batches"),
            ("[3, 1,", "[1, 3,", "first"),
            ("5, 3]", "5]", "last"),
            ("ff00ff\"", "ff00fe\"", "sha256"),
        ] {
            let node = RUST.replace(from, to);
            assert_ne!(node, RUST);
            let problems = differences(&replays(&node));
            assert_eq!(problems.len(), 1, "{problems:?}");
            assert!(problems[0].starts_with(&format!("{field} differs: Rust has ")), "{problems:?}");
            let table = render("rank 0", &replays(&node));
            let marked: Vec<&str> = table.lines().filter(|line| line.ends_with("<- DIFFERS")).collect();
            assert!(marked.len() == 1 && marked[0].starts_with(field), "{table}");
        }
    }

    #[test]
    fn a_missing_field_is_found_even_if_all_miss_it() {
        let strip = |json: &str| json.replace("\"batches\": 130,", "");
        let [rust, node] = replays(&strip(RUST));
        let both = [Replay { fields: flat::fields(&strip(RUST)).unwrap(), ..rust }, node];
        assert_eq!(differences(&both), ["Rust printed no batches", "Node printed no batches"]);
    }
}
