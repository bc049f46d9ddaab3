//! The output of the adapters: read, compared, and shown as tables.

use crate::stamp::Digest;
use crate::table;

/// The answers of one engine to one group of cases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    pub engine: String,
    pub group: String,
    pub passed: u64,
    pub failed: u64,
    /// Whether the engine lacks the interface that the group needs.
    pub without: bool,
    /// Fingerprints, if the adapter computes them: `answers` of the answers as the cases write them, `calls` of
    /// everything that the core module returned and wrote.
    pub answers: String,
    pub calls: String,
}

/// The results in the output of an adapter. Other lines are skipped.
pub fn parse(output: &str) -> Result<Vec<Cell>, String> {
    let lines = output.lines().filter(|line| line.starts_with("matrix\t") || line.starts_with("without\t"));
    let cell = |line: &str| match line.split('\t').collect::<Vec<_>>()[..] {
        ["matrix", engine, group, passed, failed, ref prints @ ..] if prints.len() <= 2 => {
            let (passed, failed) = (passed.parse().ok()?, failed.parse().ok()?);
            let [answers, calls] = [0, 1].map(|at| prints.get(at).copied().unwrap_or_default().to_owned());
            Some(Cell { engine: engine.into(), group: group.into(), passed, failed, without: false, answers, calls })
        }
        ["without", engine, group] => {
            Some(Cell { engine: engine.into(), group: group.into(), without: true, ..Cell::default() })
        }
        _ => None,
    };
    lines.map(|line| cell(line).ok_or_else(|| format!("not a line of the matrix: {line}"))).collect()
}

/// All problems: failed cases, a number of cases that differs from that of the first engine, different fingerprints,
/// and a group that came twice.
pub fn differences(cells: &[Cell]) -> Vec<String> {
    let mut problems = Vec::new();
    let engines = engines(cells);
    for group in groups(cells) {
        let cases = |engine: &str| find(cells, engine, group).map_or(0, |cell| cell.passed + cell.failed);
        for engine in &engines {
            let (mine, first) = (cases(engine), cases(engines[0]));
            if mine != first && !find(cells, engine, group).is_some_and(|cell| cell.without) {
                problems.push(format!("{group}: {engine} ran {mine} cases, {} {first}", engines[0]));
            }
            if let Some(cell) = find(cells, engine, group).filter(|cell| cell.failed > 0) {
                problems.push(format!("{group}: {engine} failed {} of {mine} cases", cell.failed));
            }
        }
    }
    for (what, of) in [("answers", answers as Print), ("calls", calls)] {
        for group in groups(cells) {
            let mut prints =
                cells.iter().filter(|cell| cell.group == group && cell.failed == 0 && !of(cell).is_empty());
            let first = prints.next();
            problems.extend(prints.filter(|cell| Some(of(cell)) != first.map(of)).map(|cell| {
                format!(
                    "{group}: the fingerprint of the {what} of {} is {}, and not {}",
                    cell.engine,
                    of(cell),
                    first.map_or("", of)
                )
            }));
        }
    }
    let twice = |cell: &&Cell| find(cells, &cell.engine, &cell.group) != Some(cell);
    problems.extend(cells.iter().filter(twice).map(|cell| format!("{}: {} came twice", cell.group, cell.engine)));
    problems
}

/// A table with a line for each group and a column for each engine. The version of an engine stands below its name.
pub fn render(cells: &[Cell]) -> String {
    let engines = engines(cells);
    let halves = engines.iter().map(|engine| engine.split_once(" (").unwrap_or((engine, "")));
    let (names, versions): (Vec<&str>, Vec<&str>) = halves.unzip();
    let row = |first: &str, rest: Vec<String>| [vec![first.to_string()], rest].concat();
    let heading = [
        row("cases passed", names.iter().map(|name| name.to_string()).collect()),
        row("", versions.iter().map(|version| version.trim_end_matches(')').to_string()).collect()),
    ];
    let text = |cell: Option<&Cell>| match cell {
        Some(cell) if cell.failed > 0 => format!("FAILED {}", cell.failed),
        Some(cell) if cell.without => "none".into(),
        Some(cell) => cell.passed.to_string(),
        None => "-".into(),
    };
    let cases = |group: &str| engines.iter().map(|engine| text(find(cells, engine, group))).collect();
    let mut rows: Vec<Vec<String>> = groups(cells).into_iter().map(|group| row(group, cases(group))).collect();
    let total = |engine: &&str| cells.iter().filter(|c| c.engine == *engine).map(|c| c.passed).sum::<u64>().to_string();
    rows.push(row("all", engines.iter().map(total).collect()));
    table::render(&heading, &rows)
}

pub fn engines(cells: &[Cell]) -> Vec<&str> {
    distinct(cells.iter().map(|cell| cell.engine.as_str()))
}

pub fn groups(cells: &[Cell]) -> Vec<&str> {
    distinct(cells.iter().map(|cell| cell.group.as_str()))
}

/// The names without repetitions, in the order of their first appearance.
fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = Vec::new();
    names.for_each(|name| {
        if !seen.contains(&name) {
            seen.push(name)
        }
    });
    seen
}

pub fn find<'a>(cells: &'a [Cell], engine: &str, group: &str) -> Option<&'a Cell> {
    cells.iter().find(|cell| cell.engine == engine && cell.group == group)
}

pub fn sum(cells: &[Cell], number: impl Fn(&Cell) -> u64) -> u64 {
    cells.iter().map(number).sum()
}

/// A function that selects one of the fingerprints of a cell.
type Print = fn(&Cell) -> &str;

pub fn answers(cell: &Cell) -> &str {
    &cell.answers
}

pub fn calls(cell: &Cell) -> &str {
    &cell.calls
}

/// One fingerprint over all groups of an engine. Empty if a group has none.
pub fn whole(cells: &[Cell], engine: &str, of: Print) -> String {
    let mut own: Vec<&Cell> = cells.iter().filter(|cell| cell.engine == engine).collect();
    own.sort_by_key(|cell| &cell.group);
    if own.iter().any(|cell| of(cell).is_empty()) {
        return String::new();
    }
    let mut digest = Digest::new();
    own.iter().for_each(|cell| digest.add(of(cell).as_bytes()));
    format!("{digest}")
}

/// A table with a line for each engine.
pub fn render_engines(cells: &[Cell]) -> String {
    let heading = ["engine", "cases passed", "failed", "answers", "calls"].map(String::from).to_vec();
    let row = |engine: &&str| {
        let total = |of: fn(&Cell) -> u64| cells.iter().filter(|cell| cell.engine == *engine).map(of).sum::<u64>();
        let counts = [total(|cell| cell.passed), total(|cell| cell.failed)].map(|count| count.to_string());
        let prints = [whole(cells, engine, answers), whole(cells, engine, calls)];
        [vec![engine.to_string()], counts.to_vec(), prints.to_vec()].concat()
    };
    table::render(&[heading], &engines(cells).iter().map(row).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "noise\nmatrix\tnative (x86)\torders\t3\t0\nmatrix\tnative (x86)\tdeals\t5\t0\n\
                        matrix\tnode (v20)\torders\t3\t0\nmatrix\tnode (v20)\tdeals\t5\t0\n";

    fn problems(lines: &str) -> Vec<String> {
        differences(&parse(lines).unwrap())
    }

    #[test]
    fn equal_engines_have_no_differences() {
        assert_eq!(problems(GOOD), Vec::<String>::new());
    }

    #[test]
    fn every_kind_of_difference_is_named() {
        let short = GOOD.replace("node (v20)\tdeals\t5\t0", "node (v20)\tdeals\t4\t0");
        assert_eq!(problems(&short), ["deals: node (v20) ran 4 cases, native (x86) 5"]);
        let failed = GOOD.replace("node (v20)\tdeals\t5\t0", "node (v20)\tdeals\t4\t1");
        assert_eq!(problems(&failed), ["deals: node (v20) failed 1 of 5 cases"]);
        let without = GOOD.replace("matrix\tnode (v20)\tdeals\t5\t0", "without\tnode (v20)\tdeals");
        assert_eq!(problems(&without), Vec::<String>::new());
        let both = format!("{GOOD}without\tnode (v20)\tdeals\n");
        assert_eq!(problems(&both), ["deals: node (v20) came twice"]);
        let absent = GOOD.replace("matrix\tnode (v20)\tdeals\t5\t0\n", "");
        assert_eq!(problems(&absent), ["deals: node (v20) ran 0 cases, native (x86) 5"]);
        let more = format!("{GOOD}matrix\tnode (v20)\textra\t1\t0\n");
        assert_eq!(problems(&more), ["extra: node (v20) ran 1 cases, native (x86) 0"]);
        let twice = format!("{GOOD}matrix\tnode (v20)\tdeals\t6\t0\n");
        assert_eq!(problems(&twice), ["deals: node (v20) came twice"]);
    }

    #[test]
    fn fingerprints_are_compared_where_they_are() {
        let lines = "matrix\ta\torders\t3\t0\tff\t01\nmatrix\tb\torders\t3\t0\nmatrix\tc\torders\t3\t0\tff\n\
                     matrix\td\torders\t3\t0\t\t01\n";
        assert_eq!(problems(lines), Vec::<String>::new());
        let answers = lines.replace("c\torders\t3\t0\tff", "c\torders\t3\t0\tfe");
        assert_eq!(problems(&answers), ["orders: the fingerprint of the answers of c is fe, and not ff"]);
        let calls = lines.replace("\t\t01", "\t\t02");
        assert_eq!(problems(&calls), ["orders: the fingerprint of the calls of d is 02, and not 01"]);
        let cells = parse(lines).unwrap();
        assert!(whole(&cells, "b", super::answers).is_empty());
        assert_eq!(whole(&cells, "a", super::answers), whole(&cells, "c", super::answers));
        assert_ne!(whole(&cells, "a", super::answers), whole(&cells, "a", super::calls));
    }

    #[test]
    fn a_broken_line_is_an_error() {
        assert!(parse("matrix\tnode\torders\t3").is_err());
        assert!(parse("matrix\tnode\torders\tall\t0").is_err());
    }

    #[test]
    fn the_table_has_a_column_per_engine() {
        let lines = GOOD.replace("node (v20)\tdeals\t5\t0", "node (v20)\tdeals\t4\t1");
        let expected = "cases passed  native  node\n              x86     v20\n\
                        --------------------------------\n\
                        orders             3  3\ndeals              5  FAILED 1\nall                8  7\n";
        let table = render(&parse(&lines).unwrap());
        let squeeze = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(squeeze(&table.replace('-', "")), squeeze(&expected.replace('-', "")));
    }
}
