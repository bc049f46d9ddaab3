"""The hand-lifted calls against the same calls through wasmtime-py's component API, export by export."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import wasmtime
from samedeal import Config, Place, SamedealError, _component, _deal
from samedeal._component import INTERFACE
from wasmtime import component as wc

CONFIGS = [
    Config(0, 0, 0, "feistel", 0, 1, "pad", "strided"),
    Config(10, -3, 2**64 - 1, "torch", 1, 3, "drop", "contiguous"),
    Config(10, 2**63 - 1, 0, "python", 2, 3, "uneven", "strided"),
    Config(3, -(2**63), 5, "fisher-yates", 7, 8, "pad", "contiguous"),
    Config(1000, 2**31 - 1, 1, "dotnet", 0, 7, "uneven", "contiguous"),
    Config(2**53 - 1, 1, 1, "feistel", 0, 1, "drop", "strided"),
    Config(2**32, 1, 1, "sequential", 4, 9, "uneven", "strided"),
    Config(2**32 + 1, 1, 1, "sequential", 4, 9, "uneven", "strided"),
]
BAD_CONFIGS = [
    Config(2**53, 0, 0, "feistel", 0, 1, "pad", "strided"),
    Config(10, 0, 0, "x" * 65, 0, 1, "pad", "strided"),
    Config(10, 0, 0, "naïve ✓", 0, 1, "pad", "strided"),
    Config(10, 0, 0, "", 0, 1, "pad", "strided"),
    Config(10, 0, 0, "feistel", 3, 3, "pad", "strided"),
    Config(10, 0, 0, "feistel", 0, 0, "pad", "strided"),
    Config(10, 2**31, 0, "dotnet", 0, 1, "pad", "strided"),
]

# Every method with arguments that it takes and arguments that it does not; samplers carry on from call to call.
CALLS: list[tuple[Any, ...]] = [
    ("config",),
    *(("set-epoch", epoch) for epoch in (0, 2**63, 2**64 - 1, 1)),
    ("config",),
    *(("set-rank", rank) for rank in (0, 2**32 - 1, 8)),
    ("config",),
    ("num-samples",),
    ("num-padding",),
    ("num-positions",),
    ("num-dropped",),
    *((name, *at) for name in ("indices", "indices32") for at in ((0, 0), (0, 2), (2**64 - 1, 0), (0, 2**32 - 1))),
    *(("num-batches", size, last) for size in (0, 1, 2**32 - 1) for last in (False, True)),
    *(
        (name, *at)
        for name in ("batch", "batch32")
        for at in ((0, 1, False), (0, 4, False), (0, 3, True), (1, 0, True), (2**64 - 1, 1, False))
    ),
    *(("sample-at", position) for position in (0, 7, 2**64 - 1)),
    *((name, at, size) for name in ("locate", "place-of") for at in (0, 7, 2**64 - 1) for size in (0, 1, 2**32 - 1)),
    ("fingerprint",),
    ("config-fingerprint",),
]


class Oracle:
    """The component in wasmtime-py's own hands."""

    def __init__(self) -> None:
        engine = wasmtime.Engine()
        self.store = wasmtime.Store(engine)
        component = wc.Component(engine, _component.PATH.read_bytes())
        self.instance = wc.Linker(engine).instantiate(self.store, component)
        self.interface = self.instance.get_export_index(self.store, INTERFACE)

    def call(self, name: str, *arguments: Any) -> Any:
        index = self.instance.get_export_index(self.store, name, self.interface)
        assert index is not None, name
        function = self.instance.get_func(self.store, index)
        assert function is not None, name
        result = function(self.store, *arguments)
        function.post_return(self.store)
        return result

    def sampler(self, config: Config) -> Any:
        record: Any = wc.Record()
        for name, value in config._asdict().items():
            setattr(record, name, value)
        return self.call("[constructor]sampler", record)


def plain(value: Any) -> Any:
    """A result of either side in one form."""
    if isinstance(value, wc.Variant):
        return plain(value.payload)
    if isinstance(value, wc.Record):
        return {name.replace("-", "_"): plain(item) for name, item in vars(value).items()}
    if isinstance(value, Config):
        return value._asdict()
    if isinstance(value, Place):
        return {name: getattr(value, name) for name in Place.__slots__}
    if isinstance(value, SamedealError):
        return {name: getattr(value, name) for name in ("kind", "field", "value", "allowed")}
    return value.tolist() if isinstance(value, np.ndarray) else value


def ours(deal: _deal.Deal, name: str, *arguments: Any) -> Any:
    try:
        return plain(getattr(deal, name.replace("-", "_"))(*arguments))
    except SamedealError as error:
        return plain(error)


@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_methods(config: Config) -> None:
    oracle = Oracle()
    theirs = oracle.sampler(config)
    deal = _deal.Deal(config, 2**31)
    for name, *arguments in CALLS:
        if name == "fingerprint" and config.samples > 2**30:
            continue
        wanted = plain(oracle.call(f"[method]sampler.{name}", theirs, *arguments))
        assert ours(deal, name, *arguments) == wanted, (name, arguments)


def test_indices_into_is_indices() -> None:
    deal = _deal.Deal(CONFIGS[4], 2**31)
    out = np.zeros(50, dtype=np.int64)
    deal.indices_into(out, 7)
    assert out.tolist() == deal.indices(7, 50).tolist()


@pytest.mark.parametrize("config", BAD_CONFIGS, ids=str)
def test_constructor_failures(config: Config) -> None:
    with pytest.raises(SamedealError) as caught:
        _deal.Deal(config, 2**31)
    assert plain(caught.value) == plain(Oracle().sampler(config))


def test_functions() -> None:
    oracle = Oracle()
    assert list(_deal.orders()) == oracle.call("orders")
    assert _deal.max_window() == oracle.call("max-window")


def test_nothing_is_left_out() -> None:
    core = _component.core_module(_component.PATH.read_bytes())
    exports = {export.name for export in wasmtime.Module(wasmtime.Engine(), core).exports}
    methods = {
        name.removeprefix(f"{INTERFACE}#[method]sampler.") for name in exports if name.startswith(f"{INTERFACE}#[m")
    }
    assert methods == {call[0] for call in CALLS}
    others = {name for name in exports if name.startswith(INTERFACE)} - {
        f"{INTERFACE}#[method]sampler.{n}" for n in methods
    }
    assert others == {
        f"{INTERFACE}#{name}" for name in ("orders", "max-window", "[constructor]sampler", "[dtor]sampler")
    }


def test_memory_may_grow_between_calls() -> None:
    # Each round needs more memory than there was, so that the views of the round before end too early.
    deal = _deal.Deal(Config(2**23, 0, 0, "sequential", 0, 1, "pad", "strided"), 2**31)
    for count in (1, 2**10, 2**15, 2**18, 2**20):
        assert deal.indices(5, count).tolist() == list(range(5, 5 + count))
        assert deal.indices32(5, count).tolist() == list(range(5, 5 + count))
