//! The page of the documentation that shows the matrix.

use std::fs;
use std::io;

use super::report::{self, Cell};
use crate::project;

pub const PAGE: &str = "docs/matrix.md";

const INTRODUCTION: &str = "\
# The matrix of engines

The same recipe gives the same numbers on every engine and machine. `cargo xtask matrix` checks this: each cell of the matrix answers every
golden case of [tests/vectors](../tests/vectors/README.md), and each answer must be the one in the file. `cargo xtask matrix` wrote this
page. `cargo xtask matrix WORD ...` runs only the cells that have one of the words in their names, and does not write the page. The counts are
those of the run that wrote it: cases and groups that came later are in the next one.

There are three kinds of cells:

- *Native*: the core is compiled for a machine, without WebAssembly. `qemu-user` runs those of other machines. s390x is big-endian.
- *Hosts*: the packages that users install. They check all that they pass on, and all that they return.
- *Core calls*: the core module of the component, without a host. [tests/engines](../tests/engines/README.md) calls them by the canonical
  ABI. Cranelift's calls are recorded. The other engines get the same calls, and each result, each list, and the whole memory after each
  group must be the same, byte by byte.

The fingerprint of the *answers* is the same for cells that answer alike in the notation of the golden cases. The fingerprint of the *calls*
covers the bytes that core modules return, and their memories at the end. It depends on where a build places its data, so only cells of the
same build have it. Hosts that have no fingerprint compare each answer in their own types.

";

/// Writes the page. `cells` has the name of each cell and its results.
pub fn write(cells: &[(&str, Vec<Cell>)]) -> io::Result<()> {
    let path = project::path(PAGE);
    let temporary = path.with_extension("new");
    fs::write(&temporary, text(cells))?;
    fs::rename(temporary, path)
}

fn text(cells: &[(&str, Vec<Cell>)]) -> String {
    let mut text = String::from(INTRODUCTION);
    text += "## Cells\n\n| | cell | engine | cases passed | answers | calls |\n|---|---|---|---|---|---|\n";
    let mut columns = Vec::new();
    for (name, found) in cells {
        for engine in report::engines(found) {
            columns.push((engine, found));
            let own = found.iter().filter(|cell| cell.engine == engine);
            let passed = report::sum(&own.cloned().collect::<Vec<_>>(), |cell| cell.passed);
            let print = |of| Some(report::whole(found, engine, of)).filter(|print| !print.is_empty());
            let [answers, calls] = [report::answers, report::calls]
                .map(|of| print(of).map_or(String::new(), |print| format!("`{print}`")));
            text += &format!("| {} | {name} | {engine} | {passed} | {answers} | {calls} |\n", columns.len());
        }
    }
    let numbers: String = (1..=columns.len()).map(|number| format!(" {number} |")).collect();
    text += "\n## Cases passed in each group\n\nThe columns have the numbers of the cells. `-`: the build has no such interface.\n\n";
    text += &format!("| group |{numbers}\n|---|{}\n", "---|".repeat(columns.len()));
    let all: Vec<Cell> = cells.iter().flat_map(|(_, found)| found.clone()).collect();
    for group in report::groups(&all) {
        let passed = columns.iter().map(|(engine, found)| match report::find(found, engine, group) {
            Some(cell) if !cell.without => format!(" {} |", cell.passed),
            _ => " - |".to_owned(),
        });
        text += &format!("| {group} |{}\n", passed.collect::<String>());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::cells::CELLS;
    use super::*;

    /// The names of the cells in a page, without repetitions.
    fn names(page: &str) -> Vec<&str> {
        let table =
            page.split("## Cells\n").nth(1).and_then(|rest| rest.split("\n## ").next()).expect("a table of cells");
        let mut names: Vec<&str> = table.lines().skip(3).filter_map(|line| line.split(" | ").nth(1)).collect();
        names.dedup();
        names
    }

    #[test]
    fn the_page_has_the_cells_of_the_code() {
        let page = fs::read_to_string(project::path(PAGE)).expect("`cargo xtask matrix` writes the page");
        assert_eq!(names(&page), CELLS.iter().map(|cell| cell.name()).collect::<Vec<_>>(), "run `cargo xtask matrix`");
    }

    #[test]
    fn a_page_has_a_row_for_each_engine_and_a_column_in_each_group() {
        let lines = "matrix\tnode (jco)\torders\t3\t0\tff\t\nmatrix\tnode (web)\torders\t3\t0\nwithout\tnode (web)\tdeals\n\
                     matrix\tnode (jco)\tdeals\t2\t0\tfe\t\n";
        let page = text(&[("Node", report::parse(lines).unwrap()), ("Bun", report::parse("").unwrap())]);
        assert_eq!(names(&page), ["Node"]);
        let print = report::whole(&report::parse(lines).unwrap(), "node (jco)", report::answers);
        assert!(page.contains(&format!("| 1 | Node | node (jco) | 5 | `{print}` |  |\n")), "{page}");
        assert!(page.contains("| 2 | Node | node (web) | 3 |  |  |\n"), "{page}");
        assert!(page.contains("| orders | 3 | 3 |\n| deals | 2 | - |\n"), "{page}");
    }
}
