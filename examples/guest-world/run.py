"""Runs a composed guest under wasmtime and prints the batches of one rank, one in a line."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from wasmtime import Config, Engine, Store, WasiConfig, WasmtimeError
from wasmtime.component import Component, Linker


def call(path: Path, *arguments: Any) -> Any:
    """The result of the export `batches`. A guest gets the interfaces of WASI, but no files and no variables."""
    config = Config()
    config.cache = True  # the engine of a language is compiled once: this takes seconds
    engine = Engine(config)
    store = Store(engine)
    store.set_wasi(WasiConfig())
    linker = Linker(engine)
    linker.add_wasip2()
    instance = linker.instantiate(store, Component.from_file(engine, str(path)))
    batches = instance.get_func(store, "batches")
    if batches is None:
        raise SystemExit(f"{path}: it has no export batches")
    return batches(store, *arguments)


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("component", type=Path)
    parser.add_argument("--samples", type=int, default=100)
    parser.add_argument("--world-size", type=int, default=4)
    parser.add_argument("--rank", type=int, default=1)
    parser.add_argument("--epoch", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=10)
    given = parser.parse_args()
    recipe = {"order": {"samples": given.samples, "seed": 42}, "deal": {"world_size": given.world_size}}
    try:
        result = call(given.component, json.dumps(recipe), given.epoch, given.rank, given.batch_size)
    except (OSError, WasmtimeError) as error:
        sys.exit(f"{given.component}: {error}")
    if isinstance(result, str):
        sys.exit(f"the guest says: {result}")
    for batch in result:
        print(*batch)


if __name__ == "__main__":
    main()
