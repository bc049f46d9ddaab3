use std::fmt;

use comfy_table::{CellAlignment, Table, presets};

use crate::write::output::{grouped, percent};

/// Items with as many parts each: a table for people, or lines for other programs.
pub struct Items {
    columns: Vec<String>,
    items: Vec<Vec<Cell>>,
}

/// One part of an item.
pub enum Cell {
    Number(u64),
    /// A part of a whole, which people see as a percentage.
    Share(f64),
    Ratio(f64),
    Words(String),
}

impl Items {
    pub fn new<'a>(columns: impl IntoIterator<Item = &'a str>) -> Self {
        Self { columns: columns.into_iter().map(str::to_owned).collect(), items: Vec::new() }
    }

    pub fn push(&mut self, item: impl IntoIterator<Item = Cell>) {
        self.items.push(item.into_iter().collect());
    }

    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// For people: numbers in groups of digits, and to the right.
    pub fn table(&self) -> Table {
        let mut table = Table::new();
        table.load_style(presets::UTF8_FULL_CONDENSED).set_header(&self.columns);
        for item in &self.items {
            let right = |text: String| comfy_table::Cell::new(text).set_alignment(CellAlignment::Right);
            table.add_row(item.iter().map(|cell| match cell {
                Cell::Number(number) => right(grouped(*number)),
                Cell::Share(share) => right(percent(*share)),
                Cell::Ratio(ratio) => right(format!("{ratio:.3}")),
                Cell::Words(words) => comfy_table::Cell::new(words),
            }));
        }
        table
    }

    /// For programs: a line for every item, with tabs between its parts.
    pub fn lines(&self) -> String {
        let line = |item: &Vec<Cell>| item.iter().map(Cell::to_string).collect::<Vec<_>>().join("\t");
        self.items.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

/// Bare, and always within its part of the line: what would end it, in the name of a file, is escaped.
impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Share(number) | Self::Ratio(number) => write!(f, "{number:.6}"),
            Self::Words(words) => words.chars().try_for_each(|letter| match letter.is_control() {
                true => letter.escape_default().fmt(f),
                false => letter.fmt(f),
            }),
        }
    }
}

impl From<u64> for Cell {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<u32> for Cell {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}

impl From<String> for Cell {
    fn from(words: String) -> Self {
        Self::Words(words)
    }
}

impl From<&str> for Cell {
    fn from(words: &str) -> Self {
        Self::Words(words.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_never_ends_its_line() {
        let mut items = Items::new(["file", "row"]);
        items.push(["a\tb\nc é".into(), 1_000_u64.into()]);
        items.push(["d".into(), "".into()]);
        assert_eq!(items.lines(), "a\\tb\\nc é\t1000\nd\t");
        assert!(items.table().to_string().contains("1,000"));
    }
}
