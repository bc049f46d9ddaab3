"""Hosts have no rules of their own: names of values and limits of members are in the tables of the core.

A host that writes `'renormalize'` or `4096` by hand repeats a rule of the core, which becomes wrong when the table
changes. The generator writes these names and numbers into `generated/`, or the core has them in its failures.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = ROOT / "docs/recipe.schema.json"

WORDS = {
    *("budget", "bucket", "bytes", "copies", "drop", "duplicate", "error", "exclude", "fail", "fast", "keep", "pack"),
    *("pad", "padded", "python", "repeat", "samples", "shared", "single", "skip", "split", "stop", "subset", "torch"),
    *("truncate", "weighted", "windows", "balance", "blend", "grown", "joined", "optimal", "sharded", "sequential"),
}
"""Names that hosts also use for another purpose: for an option, a field, a function or a module."""
KNOWN: dict[str, dict[str, int]] = {
    "cli": {"blend-exact": 1, "feistel": 1, "pad-to-max": 4, "renormalize": 1, "strided": 1, "unpadded": 1},
    "js": {"blend-exact": 2, "feistel": 1, "pad-to-max": 1, "renormalize": 1},
    "python": {
        **{"blend-exact": 1, "feistel": 3, "pad-to-max": 2, "round-robin": 1, "size-aware": 1, "strided": 1},
        **{"renormalize": 1, "torch-2.5": 1, "uneven": 8},
    },
    "rust": {"blend-exact": 1, "feistel": 1},
}
"""For each host: how often its code has a name. Lower a number when an occurrence is removed; a new one needs a
reason."""


def values(schema: Any) -> Iterator[str]:
    """The names of all enumerations of the schema of recipes."""
    if isinstance(schema, dict):
        yield from (value for value in (*schema.get("enum", ()), schema.get("const")) if isinstance(value, str))
        for inner in schema.values():
            yield from values(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from values(inner)


def sources(host: str) -> Iterator[tuple[str, str]]:
    """The path and the code of each source file of a host, without comments and docstrings."""
    listed = subprocess.run(["git", "ls-files", "-z", f"hosts/{host}"], cwd=ROOT, check=True, capture_output=True)
    for name in listed.stdout.decode().split("\0"):
        path = ROOT / name
        if "/src/" not in name or path.suffix not in {".rs", ".py", ".ts"} or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8").split("#[cfg(test)]")[0]
        text = re.sub(r'""".*?"""|/\*.*?\*/', "", text, flags=re.DOTALL)
        yield name, re.sub(r"^\s*(//|#).*$", "", text, flags=re.MULTILINE)


def defaults(schema: Any) -> Iterator[tuple[str, int]]:
    """The members with a default above 1, and this default."""
    if isinstance(schema, dict):
        for name, member in schema.get("properties", {}).items():
            default = member.get("default") if isinstance(member, dict) else None
            if isinstance(default, int) and default > 1:
                yield name, default
        for inner in schema.values():
            yield from defaults(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from defaults(inner)


@pytest.mark.parametrize("host", KNOWN)
def test_a_host_names_no_value_of_a_table(host: str) -> None:
    names = set(values(json.loads(SCHEMA.read_text(encoding="utf-8")))) - WORDS
    assert {"renormalize", "rotated", "size-aware"} <= names
    found: dict[str, list[str]] = {}
    for path, code in sources(host):
        for name in re.findall(r"""["'`]([a-z][a-z0-9.-]*)["'`]""", code):
            if name in names:
                found.setdefault(name, []).append(path)
    counts = {name: len(paths) for name, paths in sorted(found.items())}
    assert counts == KNOWN[host], {name: found.get(name) for name in {**counts, **KNOWN[host]}}


@pytest.mark.parametrize("host", KNOWN)
def test_a_host_has_no_default_of_a_table(host: str) -> None:
    known = set(defaults(json.loads(SCHEMA.read_text(encoding="utf-8"))))
    assert {"lanes", "shuffle_window", "tolerance"} <= {name for name, _ in known}
    found = []
    for path, code in sources(host):
        for name, default in sorted(known):
            camel = re.sub("_(.)", lambda letter: letter[1].upper(), name)
            found += [
                f"{path}: {at[0]}" for at in re.finditer(rf"\b({name}|{camel})\b[^\n\w]{{1,12}}{default}\b", code)
            ]
    assert not found


@pytest.mark.parametrize("host", KNOWN)
def test_a_host_has_no_limit_of_the_core(host: str) -> None:
    limits = re.findall(r'name: "MAX_(\w+)"', (ROOT / "crates/core/src/texts/limits.rs").read_text(encoding="utf-8"))
    assert {"AXES", "COUNT", "TEXT"} <= set(limits)
    own = re.compile(rf"\b_?(?:MAX|MOST)_(?:{'|'.join(limits)})(?:: \w+)? = [0-9]")
    assert own.search("MAX_AXES = 64")
    assert own.search("const MOST_TEXT: u64 = 1 << 24")
    assert not [f"{path}: {found[0]}" for path, code in sources(host) for found in own.finditer(code)]


def test_orders_have_the_same_methods_in_each_host() -> None:
    def text(path: str) -> str:
        return (ROOT / "hosts" / path).read_text(encoding="utf-8")

    classes = ast.parse(text("python/src/samedeal/compose/order.py")).body
    members = next(node.body for node in classes if isinstance(node, ast.ClassDef) and node.name == "Order")
    made = [
        node for node in members if isinstance(node, ast.FunctionDef) and ast.unparse(node.returns or node) == "Order"
    ]
    python = {node.name for node in made if not node.name.startswith("_")}
    javascript = set(re.findall(r"^  ([a-z]\w*)\([^{]*?\): Order \{", text("js/src/order/order.ts"), re.MULTILINE))
    rust = set(
        re.findall(
            r"^    pub fn ([a-z]\w*)\((?:mut )?self\b[^{]*?\) -> Self \{", text("rust/src/order.rs"), re.MULTILINE
        )
    )
    assert {"exclude", "grow", "stage"} <= python
    assert python == javascript
    # Rust has these setters in place of parameters of `blend`.
    assert rust - {"exact", "source"} == python
