"""The check of the built site finds each request to another server, and each link without a text."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from pages import ROOT

sys.path.append(str(ROOT / "docs/site"))

from check import check, faults
from names import Names


@pytest.mark.parametrize(
    "text",
    [
        '<link rel="stylesheet" href="https://fonts.googleapis.com/css?family=Inter">',
        '<link rel="preconnect" href="https://fonts.gstatic.com" crossorigin>',
        '<script src="//unpkg.com/mermaid"></script>',
        '<img src="HTTPS://img.shields.io/x.svg" alt="">',
        '<img src="x.png" srcset="x.png 1x, https://example.com/x.png 2x" alt="">',
        '<style>@import "https://example.com/x.css";</style>',
        '<p style="background: url(https://example.com/x.png)">x</p>',
        '<a href="https://github.com/samedeal/samedeal" class="md-source" data-md-component="source">Repository</a>',
        '<pre class="mermaid">graph</pre>',
        '<a id="__codelineno-0-1" href="#__codelineno-0-1"></a>',
    ],
)
def test_faults_are_found(text: str) -> None:
    assert len(faults(f"<!doctype html><html><body>{text}</body></html>")) == 1


@pytest.mark.parametrize(
    "text",
    [
        '<a href="https://pytorch.org">PyTorch</a>',
        '<a href="https://github.com/samedeal/samedeal" title="The repository"><svg></svg></a>',
        '<a href="index.html"><img src="x.svg" alt="Start"></a>',
        '<a id="__skip" tabindex="-1"></a>',
        '<link rel="canonical" href="https://samedeal.dev/x.html">',
        '<pre>&lt;script src="https://unpkg.com"&gt;</pre>',
    ],
)
def test_ordinary_links_are_none(text: str) -> None:
    assert faults(f"<!doctype html><html><body>{text}</body></html>") == []


def test_all_files_are_checked(tmp_path: Path) -> None:
    """Links of pages that other programs make are their matter, and their requests are ours."""
    made = tmp_path / "reference/rust-names"
    made.mkdir(parents=True)
    (made / "index.html").write_text('<a href="#x"></a><script src="https://example.com/x.js"></script>')
    (tmp_path / "x.css").write_text("@font-face { src: url('https://fonts.gstatic.com/x.woff2') }")
    assert list(check(tmp_path)) == [
        "reference/rust-names/index.html: script https://example.com/x.js",
        "x.css: https://fonts.gstatic.com/x.woff2",
    ]


def test_names_in_tables_are_linked(tmp_path: Path) -> None:
    made = {
        "classes/index.Sampler.html": ["batch", "sources", "fromstate"],
        "interfaces/index.Order.html": ["name", "skip"],
        "variables/index.inspect.html": [],
    }
    for file, anchors in made.items():
        (tmp_path / file).parent.mkdir()
        (tmp_path / file).write_text("".join(f'<a id="{anchor}"></a>' for anchor in anchors))
    names = Names(tmp_path, "ts")
    table = """| | |
|---|---|
| `new Sampler(n)` | a sampler |
| `batch(i)`, `Sampler.fromState(s)`, iteration | batches |
| `inspect(text)`, `.skip(ranges)` | others |
| `name` | of an order: its name |
"""
    assert names.link(table).splitlines()[2:] == [
        "| [`new Sampler(n)`](ts/classes/index.Sampler.html) | a sampler |",
        "| [`batch(i)`](ts/classes/index.Sampler.html#batch), "
        "[`Sampler.fromState(s)`](ts/classes/index.Sampler.html#fromstate), iteration | batches |",
        "| [`inspect(text)`](ts/variables/index.inspect.html), "
        "[`.skip(ranges)`](ts/interfaces/index.Order.html#skip) | others |",
        "| [`name`](ts/interfaces/index.Order.html#name) | of an order: its name |",
    ]
    with pytest.raises(ValueError, match="other"):
        names.link(table.replace("batch(i)", "other(i)"))
