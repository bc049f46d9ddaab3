"""States: section 10."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from .base import MAX_SAMPLES, Failure, require

VERSION = 1
MAX_STATE = 2**14
FIELDS = ("samedeal", "kind", "order", "samples", "seed", "epoch")
OWN = {"sampler": ("consumed",), "ledger": ("consumed", "block", "lease")}


@dataclass(frozen=True)
class Identity:
    """What a state is of."""

    order: str
    samples: int
    seed: int
    fingerprint: str


def write_state(kind: str, identity: Identity, epoch: int, own: dict[str, Any]) -> str:
    numbers = (VERSION, kind, identity.order, identity.samples, identity.seed, epoch)
    fields = dict(zip(FIELDS, numbers, strict=True)) | own | {"fingerprint": identity.fingerprint}
    return json.dumps(fields, separators=(",", ":"))


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("a field twice")
    return fields


def refuse_number(text: str) -> int:
    raise ValueError(f"not whole: {text}")


def is_whole(value: Any, low: int, high: int) -> bool:
    return type(value) is int and low <= value < high


def is_state(fields: Any, kind: str) -> bool:
    """Whether these are the fields of a state, each of its type."""
    if not isinstance(fields, dict) or set(fields) != {*FIELDS, *OWN[kind], "fingerprint"}:
        return False
    if (fields["samedeal"], fields["kind"]) != (VERSION, kind) or type(fields["samedeal"]) is not int:
        return False
    texts = [fields[name] for name in ("order", "fingerprint") if name in fields]
    return (
        all(isinstance(text, str) for text in texts)
        and is_whole(fields["samples"], 0, MAX_SAMPLES + 1)
        and is_whole(fields["seed"], -(2**63), 2**63)
        and is_whole(fields["epoch"], 0, 2**64)
        and is_whole(fields.get("consumed", 0), 0, 2**64)
        and is_whole(fields.get("block", 0), 0, 2**64)
        and is_whole(fields.get("lease", 0), 0, 2**64)
    )


def read_json(text: str) -> Any:
    """What a text says, or nothing where it says nothing that states say."""
    if "\\" in text:
        return None
    try:
        return json.loads(text, object_pairs_hook=once, parse_float=refuse_number, parse_constant=refuse_number)
    except (ValueError, RecursionError):
        return None


def read_any_state(text: str, kind: str) -> dict[str, Any]:
    """The fields of a state, whatever it is of."""
    require(len(text.encode()) <= MAX_STATE, "state", f"of {len(text.encode())} bytes")
    fields: Any = read_json(text)
    if not is_state(fields, kind):
        raise Failure("wrong-type", "state", text)
    if "consumed" in fields:
        require(fields["consumed"] <= fields["samples"], "state", f"{fields['consumed']} consumed")
    return dict(fields)


def read_state(text: str, kind: str, here: Identity, rest: str) -> dict[str, Any]:
    """The fields of a state of what is here. `rest` is the field to blame where only the fingerprint differs."""
    fields = read_any_state(text, kind)
    for field, name in (("order", "order"), ("samples", "samples"), ("seed", "seed")):
        if field in fields:
            require(fields[name] == getattr(here, name), field, getattr(here, name), "contradiction")
    require(fields["fingerprint"] == here.fingerprint, rest, here.fingerprint, "contradiction")
    return fields
