"""Replays the calls of transcripts on wasmtime-py: `wasmtime_py.py cranelift|winch|pulley FOLDER`.

`../README.md` describes transcripts. Prints a line for each group.
"""

from __future__ import annotations

import importlib.metadata
import sys
import zlib
from pathlib import Path
from typing import Any

import wasmtime
from wasmtime import _ffi as ffi

WINCH = 2
"""The number of the strategy Winch. wasmtime-py has no name for it."""
KINDS = {"i": 32, "I": 64}


def engine(compiler: str) -> wasmtime.Engine:
    """wasmtime with one of its compilers."""
    config = wasmtime.Config()
    if compiler == "winch":
        ffi.wasmtime_config_strategy_set(config.ptr(), WINCH)
    elif compiler == "pulley":
        config.target = "pulley64"
    else:
        config.strategy = "cranelift"
    return wasmtime.Engine(config)


def identity(handle: int) -> int:
    """The import that makes a handle."""
    return handle


def nothing(_: int) -> None:
    """The import that drops a handle."""


class Instance:
    """An instance of a core module in a store of its own."""

    def __init__(self, engine: wasmtime.Engine, module: wasmtime.Module) -> None:
        self.store = wasmtime.Store(engine)
        linker = wasmtime.Linker(engine)
        for item in module.imports:
            # A handle is the number from which it is made.
            linker.define_func(
                item.module or "", item.name or "", item.type, identity if item.type.results else nothing
            )
        self.exports = linker.instantiate(self.store, module).exports(self.store)
        self.memory = self.exports["memory"]
        self.functions: dict[str, Any] = {}

    def call(self, name: str, words: list[int]) -> Any:
        """Calls an exported function."""
        function = self.functions.get(name) or self.functions.setdefault(name, self.exports[name])
        return function(self.store, *words)


def signed(word: str, bits: int) -> int:
    """An unsigned decimal number of a transcript as a signed one, which wasmtime-py takes."""
    number = int(word)
    return number - 2**bits if number >= 2 ** (bits - 1) else number


class Replay:
    """A replay of the calls of a transcript, one after the other."""

    def __init__(self, engine: wasmtime.Engine, modules: dict[str, wasmtime.Module]) -> None:
        self.engine = engine
        self.modules = modules
        self.instances: dict[str, Instance] = {}
        self.functions: dict[str, tuple[str, str]] = {}
        self.here = ""
        self.cases: list[bool] = []
        self.answers = 0
        self.errors: list[str] = []

    def expect(self, got: Any, expected: Any, line: str) -> None:
        """Records whether the engine gave the expected answer."""
        if got != expected:
            self.cases[-1] = False
            self.errors.append(f"case {len(self.cases)}: {got} for {line[:200]}")

    def run(self, line: str) -> None:
        """Replays one line."""
        verb, *words = line.split(" ")
        instance = self.instances.get(self.here)
        if verb == "case":
            self.cases.append(True)
        elif verb in ("open", "use"):
            self.here = words[0]
            if verb == "open":
                self.instances[self.here] = Instance(self.engine, self.modules[self.here])
        elif verb == "function":
            self.functions[words[0]] = (words[1], words[2])
        elif instance is None:
            raise RuntimeError(f"no instance for {line[:200]}")
        elif verb == "call":
            kinds, name = self.functions[words[0]]
            given = [signed(word, KINDS[kind]) for word, kind in zip(words[2:], kinds[1:], strict=True)]
            result = instance.call(name, given)
            if kinds[0] != "-":
                word = result % 2 ** KINDS[kinds[0]]
                self.answers = zlib.crc32(word.to_bytes(8, "little"), self.answers)
                self.expect(str(word), words[1], line)
        elif verb == "write":
            instance.memory.write(instance.store, bytes.fromhex(words[1]), int(words[0]))
        elif verb == "read":
            start = int(words[0])
            got = instance.memory.read(instance.store, start, start + len(words[1]) // 2)
            self.answers = zlib.crc32(got, self.answers)
            self.expect(got.hex(), words[1], line)
        elif verb == "close":
            memory = instance.memory.get_buffer_ptr(instance.store)
            crc = zlib.crc32(memory)
            self.answers = zlib.crc32(crc.to_bytes(4, "little"), self.answers)
            self.expect([str(len(memory)), str(crc)], words, line)
            del self.instances[self.here]
        else:
            raise RuntimeError(f"no verb: {line[:200]}")


def main(compiler: str, folder: Path) -> int:
    """Replays every transcript."""
    with_compiler = engine(compiler)
    names = (folder / "components.txt").read_text().split()
    modules = {name: wasmtime.Module(with_compiler, (folder / f"{name}.core.wasm").read_bytes()) for name in names}
    label = f"wasmtime-py, {compiler} ({importlib.metadata.version('wasmtime')})"
    is_good = True
    for group in (folder / "groups.txt").read_text().split():
        replay = Replay(with_compiler, modules)
        lines = (folder / f"{group}.txt").read_text().splitlines()
        try:
            for line in lines[1:]:
                replay.run(line)
        except Exception as error:  # A trap ends the group, and every error is reported.
            replay.errors.append(f"{type(error).__name__}: {error}")
            rest = lines.count("case") - len(replay.cases)
            replay.cases[-1:] = [False] * (rest + 1)
        passed = sum(replay.cases)
        failed = len(replay.cases) - passed
        print("matrix", label, group, passed, failed, "", f"{replay.answers:08x}", sep="\t", flush=True)
        for error in replay.errors[:5]:
            print(f"{group}: {error}", file=sys.stderr)
        is_good = is_good and failed == 0 and passed > 0
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))
