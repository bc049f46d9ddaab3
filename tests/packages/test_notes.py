"""The notes of a release say where each of its files goes."""

from __future__ import annotations

import pytest
from notes import notes
from packages import VERSION

FILES = [
    f"samedeal-{VERSION}-py3-none-any.whl",
    f"samedeal-{VERSION}.tar.gz",
    f"samedeal-{VERSION}.tgz",
    *(f"samedeal{name}-{VERSION}.crate" for name in ("", "-bulk", "-cli", "-core", "-interface")),
    "samedeal.wasm",
    f"samedeal-wit-{VERSION}.wasm",
    f"samedeal-npm-{VERSION}.cdx.json",
]
"""The files of a release, but for further bills of materials."""


def test_every_file_has_a_place() -> None:
    text = notes(FILES)
    for name in FILES[:-1]:
        [line] = [line for line in text.splitlines() if line.startswith("| `") and f"`{name}`" in line.split(" | ")[0]]
        assert any(where in line for where in ("PyPI", "npm", "crates.io", "OCI", "the same")), line
    assert "twine upload" in text
    assert "## Unreleased" in text or f"## {VERSION}" in text
    assert "](docs/" not in text


@pytest.mark.parametrize(
    ("names", "why"), [([*FILES, "samedeal.exe"], "samedeal.exe"), (FILES[1:], "py3-none-any.whl")]
)
def test_the_table_has_the_files_of_a_release(names: list[str], why: str) -> None:
    with pytest.raises(SystemExit, match=why):
        notes(names)
