//! The lines of the table: a measure, compared with its required and its desired value.

use comfy_table::{CellAlignment, Table, presets};

use crate::quantity::Quantity;

/// A measure.
pub struct Row {
    measure: String,
    ours: Quantity,
    other: Option<(Quantity, &'static str)>,
    ratio: Option<Quantity>,
    bounds: Option<Bounds>,
}

/// The required value of a measure, and a desired value if more is wanted.
struct Bounds {
    at_least: bool,
    must: Quantity,
    aim: Option<Quantity>,
}

impl Row {
    /// A measure of samedeal alone.
    pub fn new(measure: impl Into<String>, ours: Quantity) -> Self {
        Self { measure: measure.into(), ours, other: None, ratio: None, bounds: None }
    }

    /// A comparison with a program that needs more than samedeal: the ratio is the other's value divided by samedeal's.
    pub fn less_than(mut self, name: &'static str, other: Quantity) -> Self {
        self.ratio = Some(Quantity::Times(other.value() / self.ours.value()));
        self.other = Some((other, name));
        self
    }

    /// A comparison with a program that reaches less than samedeal: the ratio is samedeal's value divided by the
    /// other's.
    pub fn more_than(mut self, name: &'static str, other: Quantity) -> Self {
        self.ratio = Some(Quantity::Times(self.ours.value() / other.value()));
        self.other = Some((other, name));
        self
    }

    /// Upper bounds of the ratio, or of samedeal's value if there is no ratio: the required one and the desired one.
    pub fn at_most(mut self, must: Quantity, aim: Option<Quantity>) -> Self {
        self.bounds = Some(Bounds { at_least: false, must, aim });
        self
    }

    /// Lower bounds of the ratio: the required one and the desired one.
    pub fn at_least(mut self, must: Quantity, aim: Option<Quantity>) -> Self {
        self.bounds = Some(Bounds { at_least: true, must, aim });
        self
    }

    /// The name of the measure, if its figure was not taken.
    pub fn missing(&self) -> Option<&str> {
        let mut figures = [Some(self.ours), self.other.map(|(other, _)| other)].into_iter().flatten();
        figures.any(|figure| figure.value().is_nan()).then_some(&self.measure)
    }

    fn verdict(&self) -> &'static str {
        let Some(Bounds { at_least, must, aim }) = &self.bounds else { return "" };
        let value = self.ratio.unwrap_or(self.ours).value();
        let within = |bound: &Quantity| if *at_least { value >= bound.value() } else { value <= bound.value() };
        match aim {
            _ if !within(must) => "MISSED",
            None => "met",
            Some(aim) if within(aim) => "aim met",
            Some(_) => "must met",
        }
    }

    fn bound(&self, pick: impl Fn(&Bounds) -> Option<Quantity>) -> String {
        let bounds = self.bounds.as_ref();
        let sign = if bounds.is_some_and(|bounds| bounds.at_least) { ">=" } else { "<=" };
        bounds.and_then(pick).map(|bound| format!("{sign} {bound}")).unwrap_or_default()
    }

    fn cells(&self, judge: bool) -> [String; 7] {
        [
            self.measure.clone(),
            self.ours.to_string(),
            self.other.map(|(other, name)| format!("{other} ({name})")).unwrap_or_default(),
            self.ratio.map(|ratio| ratio.to_string()).unwrap_or_default(),
            self.bound(|bounds| Some(bounds.must)),
            self.bound(|bounds| bounds.aim),
            if judge { self.verdict().into() } else { String::new() },
        ]
    }
}

/// The table of all measures. Without `judge`, it has no verdicts.
pub fn render(rows: &[Row], judge: bool) -> String {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(["measure", "samedeal", "the other", "ratio", "must", "aim", "verdict"]);
    table.add_rows(rows.iter().map(|row| row.cells(judge)));
    for column in [1, 3, 4, 5] {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use Quantity::{Seconds, Times};

    #[test]
    fn verdicts_follow_must_and_aim() {
        let row = |ours| Row::new("a measure", Seconds(ours));
        let at_most = |ours| row(ours).at_most(Seconds(15.0), Some(Seconds(8.0))).verdict();
        assert_eq!([8.0, 8.1, 15.0, 15.1].map(at_most), ["aim met", "must met", "must met", "MISSED"]);
        let at_least = |ours| row(ours).less_than("x", Seconds(100.0)).at_least(Times(20.0), Some(Times(50.0)));
        assert_eq!(
            [2.0, 4.0, 5.0, 6.0].map(|ours| at_least(ours).verdict()),
            ["aim met", "must met", "must met", "MISSED"]
        );
        let slower = |ours| row(ours).more_than("x", Seconds(1.0)).at_most(Times(1.6), None).verdict();
        assert_eq!([0.5, 1.6, 1.7].map(slower), ["met", "met", "MISSED"]);
        assert_eq!(row(1.0).verdict(), "");
    }

    #[test]
    fn a_number_that_is_none_misses() {
        let row = Row::new("a measure", Seconds(f64::NAN)).at_most(Seconds(1.0), None);
        assert_eq!((row.verdict(), row.missing()), ("MISSED", Some("a measure")));
        assert_eq!(Row::new("another", Seconds(1.0)).missing(), None);
    }

    #[test]
    fn a_row_shows_both_sides_and_the_bounds() {
        let row = Row::new("indices", Seconds(0.01)).less_than("torch", Seconds(1.0)).at_least(Times(20.0), None);
        assert_eq!(row.cells(true), ["indices", "10 ms", "1 s (torch)", "100x", ">= 20x", "", "met"]);
        assert_eq!(row.cells(false)[6], "");
    }
}
