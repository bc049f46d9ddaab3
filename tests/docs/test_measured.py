"""Pages have the figures that the benchmarks printed last, and name the commands that print them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import measured
import pytest
from measured import FENCED, FOLDER, INLINE, MEASURED, TABLE, Figure, Kept, Misstated
from pages import ROOT, pages

STATING = [ROOT / "README.md", *sorted((ROOT / "docs/comparison").glob("*.md"))]
"""Pages in which every time, size, ratio and part must have an id."""

GIVEN = {
    "90 %": "the place of an epoch at which a resume is measured",
    "100 %": "all of a whole",
}
"""Texts that look like figures, and the reasons why they are none."""
TARGET = re.compile(r"[<>]= [\d.]+(?: \w+| %)?")
"""The form of a required value, such as `>= 2 times`. It is no measured figure."""
QUANTITY = re.compile(
    r"\d[\d.,]*(?:x\b|\s?(?:%|(?:ns|us|ms|s|h|min|B|kB|KB|KiB|MB|MiB|GB|GiB|seconds?|minutes?|hours?|times)\b)"
    r"|\s(?:nano|micro|milli)seconds?\b|\s(?:kilo|mega|giga)bytes?\b)"
)


def kept() -> Kept:
    return measured.read()


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_states_what_was_printed_last(page: Path) -> None:
    source = page.read_text(encoding="utf-8")
    assert measured.written(page, source, kept()) == source, "python tests/docs/measured.py write"


def unnamed(source: str) -> list[str]:
    """The quantities of a page without an id."""
    for form in (FENCED, MEASURED, TABLE, INLINE, TARGET):
        source = form.sub("", source)
    return [match[0] for match in QUANTITY.finditer(source) if " ".join(match[0].split()) not in GIVEN]


@pytest.mark.parametrize("page", STATING, ids=lambda page: page.name)
def test_every_quantity_has_an_id(page: Path) -> None:
    assert unnamed(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("page", STATING, ids=lambda page: page.name)
def test_a_page_names_the_commands_of_its_figures(page: Path) -> None:
    source = page.read_text(encoding="utf-8")
    ids = [name for match in INLINE.finditer(source) for name in match["of"].split(" / ")]
    ids += [match["prefix"] for match in TABLE.finditer(source)]
    used = {name.partition(".")[0] for name in ids}
    used &= kept().parts.keys()
    named = {name for names in re.findall(r"cargo xtask bench --only ([\w,-]+)", source) for name in names.split(",")}
    assert used <= named, f"{page.name} states figures of {', '.join(sorted(used - named))}, and not how to print them"


def test_files_are_as_the_command_writes_them() -> None:
    files = sorted(FOLDER.iterdir())
    assert files
    for file in files:
        text = file.read_text(encoding="utf-8")
        part = json.loads(text)
        assert measured.dump(part) == text, file.name
        assert part["command"] == f"cargo xtask bench --only {file.stem}"
        for name, figure in part["figures"].items():
            assert name.startswith(f"{file.stem}."), name
            own = measured.figure(figure)
            assert own.n >= 1, name
            assert own.min <= own.median <= own.max, name


EXAMPLE = Kept(
    {
        "start.python": Figure("s", 3, 0.0041, 0.00444, 0.0061),
        "start.torch": Figure("s", 3, 9.0, 10.4, 12.0),
        "start.memory": Figure("B", 3, 4.8e9, 4.81e9, 4.9e9),
        "plan.samedeal-pack.padding": Figure("share", 2, 0.01, 0.0123, 0.02),
        "plan.samedeal-pack.steps": Figure("count", 2, 27_329, 27_329, 27_329),
    },
    {"start": {"date": "2026-11-28", "machine": "a machine", "versions": "CPython 3.11.7"}},
)


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (0.00069, "s", "690 us"),
        (5.93e-3, "s", "5.9 ms"),
        (0.0009996, "s", "1.0 ms"),
        (75.2, "s", "75 s"),
        (15e-9, "s", "15 ns"),
        (0, "s", "0 ns"),
        (21.8e6, "B", "22 MB"),
        (15217, "x", "15,000x"),
        (0.0781, "x", "0.078x"),
        (0.996, "x", "1.0x"),
        (0.3911, "share", "39.11 %"),
        (1.00281, "ratio", "1.0028"),
        (-0.001, "correlation", "+0.00"),
        (27329, "count", "27,329"),
    ],
)
def test_the_rule_of_rounding(value: float, unit: str, shown: str) -> None:
    assert measured.text(value, unit) == shown


def example(source: str) -> str:
    return measured.written(ROOT / "docs/page.md", source, EXAMPLE)


def test_figures_in_sentences() -> None:
    page = "9\nms<!-- figure: start.python -->, 1 s<!-- figure: start.python max -->, 1<!-- figure: start.python n -->"
    assert example(page) == page.replace("9\nms", "4.4 ms").replace("1 s", "6.1 ms").replace("1<", "3<")
    assert example("5x<!-- figure: start.torch / start.python -->").startswith("2,300x<")
    assert example("5 s<!-- figure: start.torch / 1000 -->").startswith("10 ms<")


def test_figures_in_tables() -> None:
    head = "  <!-- figures: plan, all -->\n\n  | | padding | steps | must |\n  |---|---:|---:|---:|\n"
    page = f"{head}  | samedeal `pack` | 9 % | | <= 2 % |\n  | *none* | | | |\n"
    assert example(page) == f"{head}  | samedeal `pack` | 1.23 % | 27,329 | <= 2 % |\n  | *none* |  |  |  |\n"


def test_where_figures_are_from() -> None:
    shown = example("<!-- measured: start -->\n\nanything\nat all\n\nthe next paragraph\n")
    assert shown.startswith(
        "<!-- measured: start -->\n\n`cargo xtask bench --only start` printed these figures on 2026-11-28"
    )
    assert shown.endswith("([start.json](comparison/figures/start.json)).\n\nthe next paragraph\n")


@pytest.mark.parametrize(
    ("page", "why"),
    [
        ("5 ms<!-- figure: start.rust -->", "no figure is called start.rust"),
        ("soon<!-- figure: start.python -->", "no number before"),
        ("5 ms<!-- figure: start.python mean -->", "not mean"),
        ("5x<!-- figure: start.python / start.memory -->", "divides s by B"),
        (
            "<!-- figures: plan -->\n\n| | padding |\n|---|---|\n| samedeal pack | 1 % |\n| other | 2 % |\n",
            "plan.other.padding",
        ),
        (
            "<!-- figures: plan, all -->\n\n| | padding |\n|---|---|\n| samedeal pack | 1 % |\n",
            "does not show plan.samedeal-pack.steps",
        ),
        ("<!-- figures: plan -->\n\nno table\n", "before no table"),
        ("<!-- measured: end -->\n\nlines\n", "no part is called end"),
    ],
)
def test_wrong_ways_to_state_a_figure(page: str, why: str) -> None:
    with pytest.raises(Misstated, match=why):
        example(page)


def test_quantities_without_an_id_are_found() -> None:
    assert unnamed("in 5 ms, 3x, 22\nMB and 7 %; at 90 % (must: <= 50 ms) 5 ms<!-- figure: start.python -->") == [
        *("5 ms", "3x", "22\nMB", "7 %")
    ]


def test_what_is_kept_of_a_figure() -> None:
    for figure in EXAMPLE.figures.values():
        assert measured.figure(measured.record(figure)) == figure
    assert measured.record(EXAMPLE.figures["plan.samedeal-pack.steps"]) == {"unit": "count", "n": 2, "median": 27_329}


def test_what_a_benchmark_prints() -> None:
    output = "a table\nfigure: start.python s 0.003 0.001 0.0020000004\nversions: CPython 3.11.7, torch 2.15.0\n"
    assert measured.printed(output) == (
        {"start.python": Figure("s", 3, 0.001, 0.002, 0.003)},
        "CPython 3.11.7, torch 2.15.0",
    )
    for wrong in ("figure: start s 1", "figure: start.Python s 1", "figure: start.python minutes 1"):
        with pytest.raises(AssertionError):
            measured.printed(wrong)


def test_counts_of_golden_cases_and_cells() -> None:
    files = [file for file in (ROOT / "tests/vectors").glob("*.json") if file.name != "schema.json"]
    cases = sum(len(json.loads(file.read_text(encoding="utf-8"))["cases"]) for file in files)
    cells = len(re.findall(r"^\| \d+ \|", (ROOT / "docs/matrix.md").read_text(encoding="utf-8"), re.MULTILINE))
    source = "".join(page.read_text(encoding="utf-8") for page in pages())
    assert set(re.findall(r"[Aa]bout ([\d,]+) golden cases", source)) == {f"{cases // 100 * 100:,}"}
    assert set(re.findall(r"\[(\d+) engines", source)) == {str(cells)}


def test_a_column_of_the_matrix_belongs_to_its_cell() -> None:
    """Every cell of the matrix has a column, and the groups in the column have as many cases as the cell has passed."""
    page = (ROOT / "docs/matrix.md").read_text(encoding="utf-8")
    lines = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line.startswith("| ")
    ]
    cells = [line for line in lines if line[0].isdigit()]
    [header] = [line for line in lines if line[0] == "group"]
    assert header[1:] == [cell[0] for cell in cells]
    groups = lines[lines.index(header) + 1 :]
    for number, cell in enumerate(cells, 1):
        passed = sum(int(group[number]) for group in groups if group[number] != "-")
        assert passed == int(cell[3]), cell
