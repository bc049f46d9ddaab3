use std::borrow::Cow;
use std::fmt;

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, Width, presets};
use serde_json::Value;

use crate::args::format::Format;
use crate::write::output::{Sink, grouped, note, percent};
use crate::write::problem::Problem;
use crate::write::rows::Rows;

/// The most letters of a value of a file that a table shows.
const LETTERS: usize = 60;
/// The most letters of a word that is never broken. Longer words may be broken: names of files, numbers without groups.
const WORD: usize = 12;
/// The note below a table with shortened values.
const SHORTENED: &str = "Some values are shortened, or shown in one line; --format json and text have them whole";

/// Items with a cell for each column: the rows of a table, or of a format for programs.
pub struct Items {
    columns: Vec<String>,
    /// Whether each of the first cells of an item is shown. All later cells are.
    shown: Vec<bool>,
    pub items: Vec<Vec<Cell>>,
}

/// One part of an item.
#[derive(Clone)]
pub enum Cell {
    /// No value.
    None,
    Number(u64),
    /// A part of a whole, which people see as a percentage.
    Share(f64),
    Ratio(f64),
    Words(String),
    /// A value of a file: exact for programs, its beginning for people.
    Value(Value),
    /// A value for programs, and what people read in its place.
    Told(Value, String),
}

impl Items {
    pub fn new<'a>(columns: impl IntoIterator<Item = &'a str>) -> Self {
        Self::some([], columns)
    }

    /// Items whose first columns are optional: a column with false is left out, and its cells as well. `more` columns
    /// are always shown.
    pub fn some<'a>(
        columns: impl IntoIterator<Item = (&'a str, bool)>,
        more: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let (names, shown): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
        let names = names.into_iter().zip(&shown).filter_map(|(name, is_shown)| is_shown.then_some(name));
        Self { columns: names.chain(more).map(str::to_owned).collect(), shown, items: Vec::new() }
    }

    pub fn push(&mut self, item: impl IntoIterator<Item = Cell>) {
        let shown = self.shown.iter().copied().chain(std::iter::repeat(true));
        self.items.push(item.into_iter().zip(shown).filter_map(|(cell, is_shown)| is_shown.then_some(cell)).collect());
    }

    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// The cells of an item, one for each column.
    pub fn cells(&self, item: usize) -> impl Iterator<Item = &Cell> {
        (0..self.columns.len()).map(move |column| self.items[item].get(column).unwrap_or(&Cell::None))
    }

    /// Prints the items in a format that has rows.
    pub fn print(&self, format: Format) -> Result<(), Problem> {
        Rows::new(Sink::new(None)?, format)?.finish(self, "")?;
        if format == Format::Table && self.is_shortened() { note(SHORTENED) } else { Ok(()) }
    }

    /// A table for people. Digits of numbers are grouped, and numbers are on the right. With a `width`, words and
    /// headings may be broken into lines, but no numbers. If three columns or more need more than the width, each item
    /// is a block of lines with a name and a value.
    pub fn table(&self, width: Option<u16>) -> Table {
        let Some(width) = width else { return self.columns_of(|_| None) };
        let least = (0..self.columns.len()).map(|column| self.least_width(column)).collect::<Vec<_>>();
        // Each column has a space on both sides and a line after it, and there is one line before the first.
        let needed = least.iter().map(|&column| usize::from(column) + 3).sum::<usize>() + 1;
        let mut table = if needed <= usize::from(width) || self.columns.len() <= 2 {
            self.columns_of(|column| Some(ColumnConstraint::LowerBoundary(Width::Fixed(least[column] + 2))))
        } else {
            self.blocks()
        };
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
        table
    }

    fn columns_of(&self, constraint: impl Fn(usize) -> Option<ColumnConstraint>) -> Table {
        let mut table = Table::new();
        table.load_style(presets::UTF8_FULL_CONDENSED).set_header(&self.columns);
        for item in &self.items {
            table.add_row(item.iter().map(|cell| {
                let alignment = if cell.is_number() { CellAlignment::Right } else { CellAlignment::Left };
                comfy_table::Cell::new(cell.told()).set_alignment(alignment)
            }));
        }
        for (number, column) in table.column_iter_mut().enumerate() {
            if let Some(constraint) = constraint(number) {
                column.set_constraint(constraint);
            }
        }
        table
    }

    /// A table with a block for each item: a line for each cell that has a value.
    fn blocks(&self) -> Table {
        let mut table = Table::new();
        table.load_style(presets::UTF8_FULL);
        for item in &self.items {
            let parts = self.columns.iter().zip(item).filter(|(_, cell)| !matches!(cell, Cell::None));
            let [names, values] = [0, 1].map(|part| {
                let line = |(name, cell): (&String, &Cell)| if part == 0 { name.clone() } else { cell.told() };
                parts.clone().map(line).collect::<Vec<_>>().join("\n")
            });
            table.add_row([names, values]);
        }
        if let Some(names) = table.column_mut(0) {
            names.set_constraint(ColumnConstraint::ContentWidth);
        }
        table
    }

    /// The least width of a column, in letters: its longest number, the longest word of its heading, and at most `WORD`
    /// letters of other words.
    fn least_width(&self, column: usize) -> u16 {
        let cells = self.items.iter().filter_map(|item| item.get(column));
        let longest = |text: &str| text.split_whitespace().map(|word| word.chars().count()).max().unwrap_or(0);
        let of_cell = |cell: &Cell| {
            let told = cell.told();
            if cell.is_number() { told.chars().count() } else { longest(&told).min(WORD) }
        };
        cells.map(of_cell).fold(longest(&self.columns[column]), usize::max).try_into().unwrap_or(u16::MAX)
    }

    /// Whether the table shortens a value.
    fn is_shortened(&self) -> bool {
        let is_shortened = |cell: &Cell| match cell {
            Cell::Value(value) => {
                let whole = plain(value);
                excerpt(&whole, LETTERS) != whole
            }
            Cell::None | Cell::Number(_) | Cell::Share(_) | Cell::Ratio(_) | Cell::Words(_) | Cell::Told(..) => false,
        };
        self.items.iter().flatten().any(is_shortened)
    }

    /// The names of the columns for programs, each once: `index_in_batch` for "index in batch".
    pub fn names(&self) -> Vec<String> {
        let mut names = Vec::<String>::with_capacity(self.columns.len());
        for column in &self.columns {
            let letters = column.chars().map(|letter| if letter.is_alphanumeric() { letter } else { '_' });
            let name =
                letters.collect::<String>().split('_').filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_");
            let count = names.iter().filter(|other| **other == name || other.starts_with(&format!("{name}_"))).count();
            let is_known = names.contains(&name);
            names.push(if is_known { format!("{name}_{}", count + 1) } else { name });
        }
        names
    }
}

impl Cell {
    fn is_number(&self) -> bool {
        matches!(self, Self::Number(_) | Self::Share(_) | Self::Ratio(_))
    }

    /// The text of the cell in a table.
    fn told(&self) -> String {
        match self {
            Self::None => String::new(),
            Self::Number(number) => grouped(*number),
            Self::Share(share) => percent(*share),
            Self::Ratio(ratio) => format!("{ratio:.3}"),
            Self::Words(words) | Self::Told(_, words) => words.clone(),
            Self::Value(value) => excerpt(&plain(value), LETTERS),
        }
    }
}

/// The text of the cell for programs. Control characters are escaped, because a tab or a line feed, as in the name of a
/// file, would end the cell.
impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => Ok(()),
            Self::Number(number) => number.fmt(f),
            // With six decimals, this share would be 0.
            Self::Share(share) if *share > 0.0 && *share < 5e-7 => write!(f, "{share:.1e}"),
            Self::Share(number) | Self::Ratio(number) => write!(f, "{number:.6}"),
            Self::Words(words) | Self::Told(Value::String(words), _) => {
                words.chars().try_for_each(|letter| match letter.is_control() {
                    true => letter.escape_default().fmt(f),
                    false => letter.fmt(f),
                })
            }
            Self::Told(Value::Null, _) => Ok(()),
            // Only strings of JSON have control characters, so escapes of JSON fit.
            Self::Value(value) | Self::Told(value, _) => {
                value.to_string().chars().try_for_each(|letter| match letter.is_control() {
                    true => write!(f, "\\u{:04x}", u32::from(letter)),
                    false => letter.fmt(f),
                })
            }
        }
    }
}

impl From<&Cell> for Value {
    fn from(cell: &Cell) -> Self {
        match cell {
            Cell::None => Self::Null,
            Cell::Number(number) => (*number).into(),
            Cell::Share(number) | Cell::Ratio(number) => (*number).into(),
            Cell::Words(words) => words.as_str().into(),
            Cell::Value(value) | Cell::Told(value, _) => value.clone(),
        }
    }
}

/// A value, for people: a text without its quotes.
fn plain(value: &Value) -> Cow<'_, str> {
    value.as_str().map_or_else(|| value.to_string().into(), Cow::from)
}

/// The beginning of a text, in one line.
pub fn excerpt(text: &str, letters: usize) -> String {
    // Only the first part of a long text is read. White space between words is shortened, so the part is longer than
    // the result.
    let begin = text.char_indices().nth(4 * letters).map_or(text, |(end, _)| &text[..end]);
    let words = begin.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut short = words.chars().filter(|letter| !letter.is_control()).take(letters).collect::<String>();
    if short.len() < words.len() || begin.len() < text.len() {
        short.push_str("...");
    }
    short
}

impl From<u64> for Cell {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

/// An unknown value is an empty cell.
impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(known: Option<T>) -> Self {
        known.map_or(Self::None, Into::into)
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

/// An empty text is an empty cell.
impl From<&str> for Cell {
    fn from(words: &str) -> Self {
        if words.is_empty() { Self::None } else { Self::Words(words.to_owned()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_as_wide_as_it_may_be_and_breaks_no_number() {
        let mut items = Items::new(["sample", "file"]);
        items.push([1_000_000_u64.into(), "a long name of a file with many words in it".into()]);
        for (width, least) in [(200, 59), (40, 30)] {
            let table = items.table(Some(width)).to_string();
            let widest = table.lines().map(|line| line.chars().count()).max().unwrap_or_default();
            assert!(widest <= usize::from(width) && widest >= least, "{width}:\n{table}");
            assert!(table.contains("1,000,000"), "{width}:\n{table}");
        }
    }

    #[test]
    fn where_columns_need_more_than_the_width_an_item_is_a_block_of_lines() {
        let columns = ["source", "share asked", "deviation in samples", "whole passes", "bound", "repeats"];
        let mut items = Items::new(columns);
        items.push([
            "web".into(),
            Cell::Share(0.7),
            Cell::Ratio(0.25),
            1_000_000_u64.into(),
            Cell::None,
            12_u64.into(),
        ]);
        for width in [40, 60, 80, 100] {
            let table = items.table(Some(width)).to_string();
            let lines = table.lines().collect::<Vec<_>>();
            assert!(lines.iter().all(|line| line.chars().count() <= usize::from(width)), "{width}:\n{table}");
            // A word of a heading is in one line, and so is a number.
            let words = ["source", "deviation", "samples", "passes", "1,000,000", "70.00 %"];
            assert!(words.iter().all(|word| table.contains(word)), "{width}:\n{table}");
            assert!(lines.len() <= 9, "{width}:\n{table}");
        }
    }

    #[test]
    fn names_of_columns_are_words_of_programs() {
        let items = Items::new(["index in batch", "cost max/mean", "packs >=", "rank", "rank"]);
        assert_eq!(items.names(), ["index_in_batch", "cost_max_mean", "packs", "rank", "rank_2"]);
    }

    #[test]
    fn a_share_above_0_is_no_0_for_programs() {
        for (share, shown) in
            [(0.0, "0.000000"), (3e-9, "3.0e-9"), (4.9e-7, "4.9e-7"), (6e-7, "0.000001"), (0.7, "0.700000")]
        {
            assert_eq!(Cell::Share(share).to_string(), shown);
        }
    }

    #[test]
    fn an_excerpt_is_one_short_line() {
        assert_eq!(excerpt("a\n\tb  c", 10), "a b c");
        assert_eq!(excerpt("naïve words", 5), "naïve...");
        assert_eq!(excerpt(&"x".repeat(1000), 4), "xxxx...");
        assert_eq!(excerpt(&" ".repeat(1000), 4), "...");
    }
}
