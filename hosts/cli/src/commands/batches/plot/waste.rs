use svg::node::element::{Group, Rectangle};

use super::draw::{bar, line, text};
use super::scale::Scale;
use crate::write::percent;

/// The height of a bar, with the gap below it.
pub const PITCH: f64 = 30.0;

/// The wasted shares of the work of all ranks.
pub struct Waste {
    pub strategy: String,
    /// The share of the work on padding, from 0 to 1.
    pub padding: f64,
    /// The share that ranks spend waiting for the slowest rank of each step, from 0 to 1.
    pub waiting: f64,
    /// A text after the percentage of the bar.
    pub says: String,
}

/// Draws bars, axes and their names within a rectangle, and a legend above it.
pub fn draw(all: &[Waste], [left, top]: [f64; 2], [right, bottom]: [f64; 2]) -> Group {
    let most = all.iter().map(|waste| waste.padding + waste.waiting).fold(0.0, f64::max);
    let across = Scale::new((100.0 * most).max(0.1), 10, false, [left, right]);
    let mut group = Group::new().set("id", "waste");
    for mark in across.marks() {
        let x = across.at(mark);
        group = group.add(line("grid", [x, top], [x, bottom]));
        group = group.add(text("faint", "middle", x, bottom + 18.0, &shown(mark)));
    }
    for (place, waste) in (0_u32..).zip(all) {
        let Waste { strategy, padding, waiting, says } = waste;
        let y = top + f64::from(place) * PITCH + 4.0;
        let (end_of_padding, end) = (across.at(100.0 * padding), across.at(100.0 * (padding + waiting)));
        let height = PITCH - 8.0;
        let named = |what: &str, share: f64| format!("{strategy}: {} {what}", percent(share));
        group = group.add(text("ink", "end", left - 8.0, y + height / 2.0 + 4.0, strategy));
        group = group.add(bar("padding", [left, y], [end_of_padding - left, height], &named("padding", *padding)));
        group =
            group.add(bar("waiting", [end_of_padding, y], [end - end_of_padding, height], &named("waiting", *waiting)));
        let total = format!("{}, {says}", percent(padding + waiting));
        group = group.add(text("faint", "start", right + 12.0, y + height / 2.0 + 4.0, &total));
    }
    group = group.add(line("axis", [left, top], [left, bottom]));
    let title = "waste, in % of what all ranks compute while they wait for the slowest";
    group = group.add(text("ink", "middle", (left + right) / 2.0, bottom + 38.0, title));
    let legend = [("padding", "padding", 0.0), ("waiting", "waiting for the slowest rank", 90.0)];
    for (class, name, x) in legend {
        let key = Rectangle::new().set("class", class).set("x", left + x).set("y", top - 21.0);
        group = group.add(key.set("width", 11).set("height", 11));
        group = group.add(text("ink", "start", left + x + 16.0, top - 11.0, name));
    }
    group
}

fn shown(mark: f64) -> String {
    // A mark is computed, such as 0.30000000000000004 for 0.3. Marks are much further apart than 10^-6.
    let mark = (mark * 1e6).round() / 1e6;
    format!("{mark}")
}
