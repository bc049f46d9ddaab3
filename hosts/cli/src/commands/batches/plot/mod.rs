//! A drawing of the lengths, and of the waste of each strategy.

mod draw;
mod histogram;
mod scale;
mod waste;

use std::path::Path;

use draw::{STYLE, clean, text};
use histogram::Histogram;
use svg::Document;
use svg::node::element::{Description, Rectangle, Style, Title};
pub use waste::Waste;

use crate::read::lengths::Lengths;
use crate::write::{Problem, Sink};

const WIDTH: f64 = 960.0;
const LEFT: f64 = 168.0;

/// The content of a plot.
pub struct Plot<'a> {
    pub lengths: &'a Lengths,
    /// The most tokens that a sample may have.
    pub limit: Option<u32>,
    /// The heading, and the line below it.
    pub title: &'a str,
    pub below: &'a str,
    pub waste: &'a [Waste],
}

impl Plot<'_> {
    /// Writes an SVG file, which appears when it is complete.
    pub fn write(&self, path: &Path) -> Result<(), Problem> {
        let mut sink = Sink::new(Some(path))?;
        svg::write(&mut sink, &self.document()).map_err(|error| Problem::message(error.to_string()))?;
        sink.finish()
    }

    fn document(&self) -> Document {
        let Self { lengths, limit, title, below, waste } = *self;
        let (top, bottom) = (72.0, 300.0);
        let bars = bottom + 92.0;
        let end = bars + waste.len() as f64 * waste::PITCH;
        let height = end + 56.0;
        let document = Document::new().set("viewBox", (0, 0, WIDTH, height)).set("width", WIDTH).set("height", height);
        let document = document.set("role", "img").set("font-family", "system-ui, sans-serif").set("font-size", 12);
        document
            .add(Title::new(clean(title)))
            .add(Description::new().add(svg::node::Text::new(clean(below))))
            .add(Style::new(STYLE))
            .add(Rectangle::new().set("class", "page").set("width", WIDTH).set("height", height))
            .add(text("ink", "start", 24.0, 30.0, title).set("font-size", 16).set("font-weight", 600))
            .add(text("faint", "start", 24.0, 50.0, below))
            .add(Histogram::new(&lengths.values).draw(lengths.unit, limit, [LEFT, top], [WIDTH - 48.0, bottom]))
            .add(waste::draw(waste, [LEFT, bars], [WIDTH - 200.0, end]))
    }
}
