//! The parts of a drawing.

use svg::node::element::{Group, Line, Rectangle, Text, Title};

/// The classes of a drawing, with one set of colours for light and one for dark mode. The background has a class too,
/// so that each mode draws its own.
pub const STYLE: &str = "\
.page { fill: #ffffff } .ink { fill: #1f2328 } .faint { fill: #59636e }
.grid { stroke: #d1d9e0 } .axis { stroke: #59636e } .limit { stroke: #cc3311 }
.lengths { fill: #4477aa } .padding { fill: #ee7733 } .waiting { fill: #aa3377 }
@media (prefers-color-scheme: dark) {
.page { fill: #0d1117 } .ink { fill: #e6edf3 } .faint { fill: #9198a1 }
.grid { stroke: #30363d } .axis { stroke: #9198a1 } .limit { stroke: #ff7b72 }
.lengths { fill: #77aadd } .padding { fill: #ee8866 } .waiting { fill: #dd77bb }
}";

/// A text at a point. `anchor`: which part of the text is at this point: start, middle or end.
pub fn text(class: &str, anchor: &str, x: f64, y: f64, content: &str) -> Text {
    Text::new(clean(content)).set("class", class).set("text-anchor", anchor).set("x", tenths(x)).set("y", tenths(y))
}

pub fn line(class: &str, [x1, y1]: [f64; 2], [x2, y2]: [f64; 2]) -> Line {
    let line = Line::new().set("class", class).set("x1", tenths(x1)).set("y1", tenths(y1));
    line.set("x2", tenths(x2)).set("y2", tenths(y2))
}

/// A bar, with `says` as its tooltip.
pub fn bar(class: &str, [x, y]: [f64; 2], [width, height]: [f64; 2], says: &str) -> Group {
    let bar = Rectangle::new().set("class", class).set("x", tenths(x)).set("y", tenths(y));
    let bar = bar.set("width", tenths(width.max(0.0))).set("height", tenths(height.max(0.0)));
    Group::new().add(Title::new(clean(says))).add(bar)
}

/// The text without characters that XML forbids. Names of columns and files may contain them.
pub fn clean(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control() && !matches!(letter, '\u{fffe}' | '\u{ffff}')).collect()
}

/// Rounds to a tenth of a pixel. Finer steps are invisible.
fn tenths(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}
