"""One round of all pairs of hosts, without Firefox, and a check that the page of the documentation is up to date."""

from __future__ import annotations

import page
import pytest
from cases import ALL_HOSTS, HOLES, HOSTS, NAMES, hole
from crossing import Crossing
from found import Round
from programs import ROOT

CELLS = [(began, host, name) for began in HOSTS for host in HOSTS for name in NAMES if not hole(began, name)]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Round:
    return Crossing(0, tmp_path_factory.mktemp("crossing") / "0").run()


@pytest.mark.parametrize("cell", CELLS, ids=" ".join)
def test_what_one_host_saves_another_continues(found: Round, cell: tuple[str, str, str]) -> None:
    assert not found.errors.get(cell)
    assert found.agreed[cell] > 0


def test_nothing_else_went_wrong(found: Round) -> None:
    """`found.errors` may also have keys that are no cells: in a chain, a host continues a case that it cannot begin."""
    assert not {key: errors for key, errors in found.errors.items() if key not in CELLS}


def test_programs_died_in_the_middle(found: Round) -> None:
    # Each host is killed once at its beginning, and once in a chain.
    assert found.kills == 2 * len(HOSTS)
    assert found.twice > 0


def test_the_page_has_the_cells_of_the_code() -> None:
    text = (ROOT / page.PAGE).read_text(encoding="utf-8")
    remedy = "run `cargo xtask crossing`"
    heading, _, *rows = page.shape(text)
    assert heading[2:] == [*NAMES], remedy
    cells = {(began, host): found for began, host, *found in rows}
    assert [*cells] == [(began, host) for began in ALL_HOSTS for host in ALL_HOSTS], remedy
    for (began, _), found in cells.items():
        # In a chain, a host can continue a case that it cannot begin.
        assert all(cell == "+" or cell == hole(began, name) for cell, name in zip(found, NAMES, strict=True)), remedy
    assert all(f"- ({letter}) {why}" in text for letter, why in HOLES.items()), remedy
