"""What a text is: section 14."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from .base import Failure, require

STATES = {
    "sampler": ("state", "sampler"),
    "batcher": ("state", "batches"),
    "reading": ("state", "reading"),
    "steps": ("state", "schedule"),
    "ledger": ("log", "sampler"),
}
SECTIONS = ("order", "shards", "deal", "batch", "steps", "split")
MOST_BYTES = 2**24
MOST_DEPTH = 64


@dataclass
class TextKind:
    form: str
    of: str


def depth(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(depth, value.values()), default=0)
    return 1 + max(map(depth, value), default=0) if isinstance(value, list) else 0


def members(field: str, text: str) -> dict[str, Any]:
    size = len(text.encode())
    require(size <= MOST_BYTES, field, f"of {size} bytes")
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict) or max(map(depth, found.values()), default=0) > MOST_DEPTH:
        raise Failure("wrong-type", field, text)
    for member, kind in (("samedeal", int), ("kind", str)):
        if type(found.get(member, kind())) is not kind:
            raise Failure("wrong-type", member, json.dumps(found[member]))
    return found


def inspect(text: str) -> TextKind:
    found = members("text", text)
    version = found.get("samedeal", 1)
    require(version == 1, "samedeal", version)
    if "kind" in found:
        require(found["kind"] in STATES, "kind", found["kind"], "unknown-name")
        return TextKind(*STATES[found["kind"]])
    has = {name: found[name] for name in SECTIONS if isinstance(found.get(name), dict)}
    order, deal, batch = (has.get(name, {}) for name in ("order", "deal", "batch"))
    for of, is_it in (
        ("split", "split" in has),
        ("schedule", "steps" in has),
        ("chunk-stream", "readers" in deal or "chunks" in order),
        ("reading", "batch_size" in batch or "drop_last" in batch),
        ("plan", "shards" in has),
        ("batches", "batch" in has),
        ("reading", "workers" in deal),
        ("sampler", "order" in has or "deal" in has),
    ):
        if is_it:
            return TextKind("recipe", of)
    raise Failure("wrong-type", "text", text)


def recipe_after(state: str, sections: str) -> str:
    found = members("state", state)
    if "kind" not in found or not isinstance(found.get("recipe"), dict):
        raise Failure("wrong-type", "state", state)
    members("sections", sections)
    # As it stands in the text.
    start = re.search(r'"recipe"\s*:\s*', state).end()  # type: ignore[union-attr]
    _, end = json.JSONDecoder().raw_decode(state, start)
    own, others = state[start + 1 : end - 1].strip(), sections.strip()[1:-1].strip()
    return "{" + ",".join(part for part in (own, others) if part) + "}"
