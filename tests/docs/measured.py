"""The measured figures of the documentation: stored as the benchmarks printed them last, and written into the pages.

    python tests/docs/measured.py keep OUTPUT    store the figures of a benchmark, and write them into the pages
    python tests/docs/measured.py write          write the stored figures into the pages
    python tests/docs/measured.py names OUTPUT   fail if a stored figure has an id that a benchmark no longer prints
    python tests/docs/measured.py stale          fail if measured sources have changed since a part was measured

A benchmark prints a line for each measurement, with a value for each run, and a line with the versions of its programs:

    figure: PART.NAME UNIT VALUE [VALUE ...]
    versions: TEXT

Each part has a file in docs/comparison/figures. docs/maintaining/documentation.md says how a page names a figure.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import json
import math
import os
import platform
import re
import statistics
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any, NamedTuple

from pages import ROOT, pages

FOLDER = ROOT / "docs/comparison/figures"
SOURCES = (
    *("Cargo.lock", "Cargo.toml", "wit", "crates/component", "crates/core", "crates/interface", "crates/bulk"),
    *("crates/web", "hosts/js/src", "hosts/python/src", "hosts/rust/src", "tests/bench"),
)
"""The folders of the measured programs and of the measurements. All files in git below them count."""
SCALES = {
    "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")),
    "B": ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")),
}
UNITS = (*SCALES, "x", "share", "ratio", "correlation", "count")


class Figure(NamedTuple):
    """The values of a measurement over its runs."""

    unit: str
    n: int
    min: float
    median: float
    max: float


class Kept(NamedTuple):
    """The stored figures by their ids, and for each part the versions and the machine of the measurement."""

    figures: dict[str, Figure]
    parts: dict[str, dict[str, Any]]


class Misstated(Exception):
    """An error for a page that names a figure in a wrong way, or a figure that is not stored."""


def two_digits(value: float) -> str:
    """A number with two significant digits, and commas between thousands."""
    if value == 0:
        return "0"
    rounded = float(f"{value:.2g}")
    return f"{rounded:,.{max(0, 1 - math.floor(math.log10(rounded)))}f}"


def text(value: float, unit: str) -> str:
    """A value in the form that all pages use. Times, sizes and ratios have two significant digits, parts are in
    percent."""
    if unit in SCALES:
        scales = SCALES[unit]
        # 999.6 us is written as 1.0 ms.
        scale, name = next((one for one in scales if float(f"{value / one[0]:.2g}") >= 1), scales[-1])
        return f"{two_digits(value / scale)} {name}"
    if unit == "x":
        return f"{two_digits(value)}x"
    if unit == "share":
        return f"{100 * value:.2f} %"
    # Adding 0 to a negative zero makes it a positive one.
    return {"ratio": f"{value:.4f}", "correlation": f"{round(value, 2) + 0.0:+.2f}", "count": f"{value:,.0f}"}[unit]


def stated(expression: str, figures: dict[str, Figure]) -> str:
    """The text for an expression on a page: `ID`, `ID min`, `ID max`, `ID n`, `ID / ID` or `ID / NUMBER`."""

    def operand(words: str) -> tuple[float, str]:
        if re.fullmatch(r"[\d.]+", words):
            return float(words), ""
        name, _, which = words.partition(" ")
        if name not in figures:
            raise Misstated(f"no figure is called {name}")
        if which not in ("", "min", "max", "n"):
            raise Misstated(f"a figure has min, max and n, and not {which}")
        figure = figures[name]
        return getattr(figure, which or "median"), "count" if which == "n" else figure.unit

    value, unit = operand(expression.partition(" / ")[0])
    if " / " in expression:
        divisor, of = operand(expression.partition(" / ")[2])
        if of not in (unit, ""):
            raise Misstated(f"{expression} divides {unit} by {of}")
        value, unit = value / divisor, "x" if of else unit
    return text(value, unit)


FENCED = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)
INLINE = re.compile(r"(?P<shown>[-+]?\d[\d,.]*(?:x|\s(?:ns|us|ms|s|B|kB|MB|GB|%))?)?<!-- figure: (?P<of>[^>]*?) -->")
TABLE = re.compile(
    r"(?P<head>^ *<!-- figures: (?P<prefix>[\w.-]+)(?P<all>, all)? -->\n\n?)(?P<table>(?:^ *\|.*\n)+)", re.MULTILINE
)
MEASURED = re.compile(r"(?P<head>^<!-- measured: (?P<parts>[\w, -]+) -->\n\n?)(?P<shown>(?:^.+\n)+)", re.MULTILINE)


def written(page: Path, source: str, kept: Kept) -> str:
    """The text of a page with the stored figures in place of its old ones."""

    def inline(match: re.Match[str]) -> str:
        if match["shown"] is None:
            raise Misstated(f"there is no number before <!-- figure: {match['of']} -->")
        return f"{stated(match['of'], kept.figures)}<!-- figure: {match['of']} -->"

    def table(match: re.Match[str]) -> str:
        return match["head"] + filled(match["table"], match["prefix"], kept.figures, whole=match["all"] is not None)

    def measured(match: re.Match[str]) -> str:
        return match["head"] + provenance(page, match["parts"].split(", "), kept)

    try:
        blocks = FENCED.split(source)
        for place in range(0, len(blocks), 2):
            block = MEASURED.sub(measured, TABLE.sub(table, INLINE.sub(inline, blocks[place])))
            marks = len(re.findall(r"<!-- (?:figure|figures|measured):", block))
            if marks != sum(len(form.findall(block)) for form in (INLINE, TABLE, MEASURED)):
                raise Misstated("a comment `figures:` stands before no table, or `measured:` before no paragraph")
            blocks[place] = block
    except Misstated as error:
        raise Misstated(f"{page.relative_to(ROOT)}: {error}") from None
    return "".join(blocks)


def filled(lines: str, prefix: str, figures: dict[str, Figure], *, whole: bool) -> str:
    """A table whose cells are the figures `PREFIX.ROW.COLUMN`. If `whole`, it must show all figures with this
    prefix."""
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines.splitlines()]
    heads = [slug(head) for head in rows[0]]
    ids = [[f"{prefix}.{slug(row[0])}.{head}" for head in heads] for row in rows]
    # Columns without figures stay as they are.
    columns = [any(one[column] in figures for one in ids) for column in range(len(heads))]
    for row, names in zip(rows[2:], ids[2:], strict=True):
        for column, name in enumerate(names):
            if name in figures:
                row[column] = text(figures[name].median, figures[name].unit)
            elif columns[column] and row[column]:
                raise Misstated(f"the table states {row[column]}, but no figure is called {name}")
    shown = {name for names in ids for name in names}
    if whole and (hidden := sorted(name for name in figures if name.startswith(f"{prefix}.") and name not in shown)):
        raise Misstated(f"the table does not show {', '.join(hidden)}")
    indent = " " * (len(lines) - len(lines.lstrip(" ")))
    body = [f"{indent}| {' | '.join(row)} |" for row in rows[2:]]
    return "\n".join([*lines.splitlines()[:2], *body]) + "\n"


def slug(name: str) -> str:
    """The name of a row or a column in the form that ids have."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def provenance(page: Path, parts: list[str], kept: Kept) -> str:
    """The paragraph that names the command for the figures of a page, with the date, the versions and the machine."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for part in parts:
        if part not in kept.parts:
            raise Misstated(f"no part is called {part}")
        own = kept.parts[part]
        counts = sorted({figure.n for name, figure in kept.figures.items() if name.startswith(f"{part}.")})
        spread = " to ".join(str(n) for n in sorted({counts[0], counts[-1]}))
        runs = "one run" if counts == [1] else f"medians of {spread} values"
        alike.setdefault((runs, own["date"], own["machine"], own["versions"]), []).append(part)
    sentences = []
    for (runs, date, machine, versions), names in alike.items():
        folder = os.path.relpath(FOLDER, page.parent)
        files = ", ".join(f"[{name}.json]({folder}/{name}.json)" for name in names)
        sentences.append(
            f"`cargo xtask bench --only {','.join(names)}` printed these figures on {date}, {runs}: "
            f"{machine}; {versions} ({files})."
        )
    return textwrap.fill(" ".join(sentences), 140, break_long_words=False, break_on_hyphens=False) + "\n"


def figure(own: dict[str, Any]) -> Figure:
    """A figure from its JSON. If all runs had the same value, the JSON has it once."""
    return Figure(**{"min": own["median"], "max": own["median"], **own})


def record(figure: Figure) -> dict[str, Any]:
    """The JSON of a figure, with whole numbers as integers."""
    values = {
        name: int(value) if value == int(value) else value for name, value in figure._asdict().items() if name != "unit"
    }
    alike = ("min", "max") if figure.min == figure.max else ()
    return {"unit": figure.unit, **{name: value for name, value in values.items() if name not in alike}}


def read() -> Kept:
    """All stored figures."""
    figures, parts = {}, {}
    for file in sorted(FOLDER.glob("*.json")):
        part = json.loads(file.read_text(encoding="utf-8"))
        figures |= {name: figure(own) for name, own in part.pop("figures").items()}
        parts[file.stem] = part
    return Kept(figures, parts)


def printed(output: str) -> tuple[dict[str, Figure], str]:
    """The figures that a benchmark printed, by their ids, and the versions."""
    figures = {}
    for line in re.findall(r"^figure: (.*)$", output, re.MULTILINE):
        name, unit, *values = line.split()
        assert re.fullmatch(r"[a-z0-9-]+(\.[a-z0-9-]+)+", name), f"{name} is not PART.NAME in small letters and digits"
        assert unit in UNITS, f"{name}: {unit} is none of {', '.join(UNITS)}"
        numbers = [float(value) for value in values]
        found = (min(numbers), statistics.median(numbers), max(numbers))
        figures[name] = Figure(unit, len(numbers), *(float(f"{value:.6g}") for value in found))
    versions = re.search(r"^versions: (.*)$", output, re.MULTILINE)
    return figures, versions[1] if versions else f"CPython {platform.python_version()}"


def git(*words: str) -> str:
    """The output of a git command."""
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def digest() -> str:
    """A digest of the measured sources, as they are in the work tree."""
    found = hashlib.sha256()
    for name in git("ls-files", "-z", "--", *SOURCES).split("\0"):
        if (ROOT / name).is_file():
            found.update(f"{name}\0".encode() + hashlib.sha256((ROOT / name).read_bytes()).digest())
    return found.hexdigest()[:16]


def machine() -> str:
    """The processor, and its number of cores."""
    info = Path("/proc/cpuinfo")
    names = re.findall(r"^model name\s*: (.*)$", info.read_text() if info.exists() else "", re.MULTILINE)
    return f"{[*names, platform.machine()][0]}, {os.cpu_count()} cores, {platform.system()}"


def dump(part: dict[str, Any]) -> str:
    """The text of a part's file: a line for each member, and for each figure."""
    lines = [f"  {json.dumps(name)}: {json.dumps(part[name])}" for name in sorted(part) if name != "figures"]
    figures = [f"    {json.dumps(name)}: {json.dumps(part['figures'][name])}" for name in sorted(part["figures"])]
    return "{\n" + ",\n".join([*lines, '  "figures": {\n' + ",\n".join(figures) + "\n  }"]) + "\n}\n"


def keep(output: str) -> list[Path]:
    """Writes the files of the measured parts. Figures that a part no longer prints are removed."""
    figures, versions = printed(output)
    files = []
    for name in sorted({name.partition(".")[0] for name in figures}):
        part = {
            "command": f"cargo xtask bench --only {name}",
            # The last commit that changed the measured sources, and a mark if the work tree has other changes.
            "commit": git("log", "-1", "--format=%h", "--abbrev=12", "--", *SOURCES).strip()
            + ("+" if git("status", "--porcelain", "--", *SOURCES) else ""),
            "date": datetime.date.today().isoformat(),
            "machine": machine(),
            "sources": digest(),
            "versions": versions,
            "figures": {key: record(own) for key, own in figures.items() if key.startswith(f"{name}.")},
        }
        FOLDER.mkdir(parents=True, exist_ok=True)
        files.append(FOLDER / f"{name}.json")
        files[-1].write_text(dump(part), encoding="utf-8")
    return files


def write() -> tuple[list[Path], list[str]]:
    """Writes the figures into the pages. Returns the pages that changed, and the errors of others."""
    kept, changed, wrong = read(), [], []
    for page in pages():
        source = page.read_text(encoding="utf-8")
        try:
            new = written(page, source, kept)
        except Misstated as error:
            wrong.append(str(error))
            continue
        if new != source:
            page.write_text(new, encoding="utf-8")
            changed.append(page)
    return changed, wrong


def gone(output: str) -> list[str]:
    """The ids of stored figures that the benchmark no longer prints, among the parts of its output."""
    names = printed(output)[0]
    parts = {name.partition(".")[0] for name in names}
    return sorted(name for name in read().figures if name.partition(".")[0] in parts and name not in names)


def stale() -> list[str]:
    """The parts that were measured with other sources than those of the work tree."""
    now = digest()
    return [name for name, part in read().parts.items() if part["sources"] != now]


def main() -> int:
    """Runs one of the commands above."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("keep", "write", "names", "stale"))
    parser.add_argument("output", type=Path, nargs="?", help="the file with what a benchmark printed")
    options = parser.parse_args()
    output = options.output.read_text(encoding="utf-8") if options.output else ""
    if options.command == "names":
        wrong = gone(output)
        print("\n".join(["no longer printed; measure again (cargo xtask bench):", *wrong] if wrong else []))
        return bool(wrong)
    if options.command == "stale":
        wrong = stale()
        print("\n".join(f"measured with other sources: cargo xtask bench --only {name}" for name in wrong))
        return bool(wrong)
    files = keep(output) if options.command == "keep" else []
    changed, wrong = write()
    print("\n".join([*(f"written: {file.relative_to(ROOT)}" for file in files + changed), *wrong]))
    # `keep` stores only some parts, so a page may name a part that has no measurement yet.
    return bool(wrong) and options.command == "write"


if __name__ == "__main__":
    sys.exit(main())
