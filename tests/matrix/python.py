"""Holds the Python host against the golden cases: `python tests/matrix/python.py`. Prints one line per group."""

from __future__ import annotations

import importlib.metadata
import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import samedeal
from samedeal._deal import Deal

VECTORS = Path(__file__).resolve().parents[1] / "vectors"
ENGINE = f"python (wasmtime-py {importlib.metadata.version('wasmtime')})"


def call(sampler: samedeal.Sampler, name: str, args: dict[str, Any]) -> Any:
    """The public call of that name. Windows and numbers of 32 bits have none and are asked of the layer below."""
    name = name.replace("-", "_")
    args = {argument.replace("-", "_"): value for argument, value in args.items()}
    if name in ("indices", "indices32", "batch32"):
        result = sampler._engine.use(getattr(Deal, name), *args.values())
        if name == "indices":
            assert np.array_equal(result, sampler.indices(args["start"], args["start"] + args["count"]))
        return result
    found = getattr(sampler, name)
    return found(**args) if callable(found) else found


def written(value: Any) -> Any:
    """A result as the golden cases write it."""
    if isinstance(value, samedeal.Config):
        return {
            name: str(item) if name in ("samples", "seed", "epoch") else item for name, item in value._asdict().items()
        }
    if isinstance(value, samedeal.Place):
        return {
            name: str(item) if name in ("position", "index", "batch") else item for name, item in asdict(value).items()
        }
    if isinstance(value, np.ndarray):
        return [str(item) for item in value.tolist()] if value.dtype == np.int64 else value.tolist()
    return str(value) if isinstance(value, int) else value


def outcome(run: Callable[..., Any], *arguments: Any, **named: Any) -> dict[str, Any]:
    """What a call returns, or how it fails."""
    try:
        return {"returns": written(run(*arguments, **named))}
    except samedeal.SamedealError as error:
        return {"fails": {name: getattr(error, name) for name in ("kind", "field", "value", "allowed")}}


def parsed(values: dict[str, Any]) -> dict[str, Any]:
    """Arguments, with 64-bit numbers as numbers."""
    texts = ("order", "remainder", "layout")
    return {
        name: int(value) if isinstance(value, str) and name not in texts else value for name, value in values.items()
    }


def mismatch(case: dict[str, Any]) -> str | None:
    """The first call of a case that gives something else, if any."""
    made: list[samedeal.Sampler] = []
    steps = [{"call": "constructor", "args": case["config"], "returns": None}, *case.get("calls", [])]
    if "fails" in case:
        steps[0] = {"call": "constructor", "args": case["config"], "fails": case["fails"]}
    for i, step in enumerate(steps):
        args = parsed(step.get("args", {}))
        if step["call"] == "constructor":
            got = outcome(lambda **config: made.append(samedeal.Sampler(config.pop("samples"), **config)), **args)
        else:
            got = outcome(call, made[0], step["call"], args)
        if got != {name: step[name] for name in ("returns", "fails") if name in step}:
            return f"call {i}: {step} gave {got}"
    return None


def main() -> int:
    """Runs every case of every group."""
    files = [path for path in sorted(VECTORS.glob("*.json")) if path.name != "schema.json"]
    all_failed = 0
    for path in files:
        group = json.loads(path.read_text(encoding="utf-8"))
        failed = 0
        for case in group["cases"]:
            wrong = mismatch(case)
            if wrong is not None:
                failed += 1
                print(f"{group['group']}: {case['name']}: {wrong[:1000]}", file=sys.stderr)
        print("matrix", ENGINE, group["group"], len(group["cases"]) - failed, failed, sep="\t", flush=True)
        all_failed += failed
    return 0 if files and not all_failed else 1


if __name__ == "__main__":
    sys.exit(main())
