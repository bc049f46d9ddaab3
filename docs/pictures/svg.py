"""A few shapes of SVG. Each picture has its own light card, so that it can be read on light and dark pages."""

from __future__ import annotations

from html import escape

COLOURS = ("#2f6db3", "#d9822b", "#3a9a5b", "#b0478f", "#7a6ad8", "#c94f4f", "#4aa5b5", "#8c7a3f")
"""A colour for each rank, reader or source."""
PADDING = "#c9ccd1"
INK = "#23262b"
FAINT = "#6b7078"


def number(value: float) -> str:
    """With at most one digit after the point, the same on every machine."""
    return f"{round(value, 1):g}"


class Picture:
    """Shapes on a card."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self.width, self.height, self.title = width, height, title
        self.shapes: list[str] = []

    def box(self, x: float, y: float, width: float, height: float, fill: str, label: str = "") -> None:
        """A rectangle, with a text in it."""
        size = f'x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}"'
        self.shapes.append(f'<rect {size} fill="{fill}"/>')
        if label:
            self.text(
                x + width / 2, y + height / 2 + 4, label, anchor="middle", colour="#ffffff" if fill != PADDING else INK
            )

    def dot(self, x: float, y: float, fill: str, radius: float = 1.6) -> None:
        """A point."""
        self.shapes.append(f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(radius)}" fill="{fill}"/>')

    def line(self, points: list[tuple[float, float]], stroke: str = FAINT, width: float = 1) -> None:
        """A line through points."""
        path = " ".join(f"{number(x)},{number(y)}" for x, y in points)
        self.shapes.append(f'<polyline points="{path}" fill="none" stroke="{stroke}" stroke-width="{number(width)}"/>')

    def text(
        self,
        x: float,
        y: float,
        text: str,
        anchor: str = "start",
        colour: str = INK,
        size: int = 12,
        bold: bool = False,
    ) -> None:
        """A line of text."""
        weight = ' font-weight="bold"' if bold else ""
        place = f'x="{number(x)}" y="{number(y)}" text-anchor="{anchor}" font-size="{size}" fill="{colour}"{weight}'
        self.shapes.append(f"<text {place}>{escape(text)}</text>")

    def frame(self, x: float, y: float, width: float, height: float) -> None:
        """The axes of a plot."""
        self.line([(x, y), (x, y + height), (x + width, y + height)], INK)

    def render(self) -> str:
        """The file."""
        head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" width="{self.width}"'
        font = 'font-family="system-ui, sans-serif" role="img"'
        card = f'<rect width="{self.width}" height="{self.height}" rx="8" fill="#fbfbfa" stroke="#d8dade"/>'
        return "\n".join([f"{head} {font}>", f"<title>{escape(self.title)}</title>", card, *self.shapes, "</svg>", ""])
