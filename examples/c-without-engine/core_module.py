"""Takes the core module out of a component: python core_module.py COMPONENT OUTPUT.

A component is a preamble of 8 bytes, and sections: a number, a length, the content. The first section with the number 1
is the core module that the interface is compiled into.
"""

from __future__ import annotations

import sys
from pathlib import Path


def core_module(component: bytes) -> bytes:
    """The first core module of a component."""
    at = 8
    while at < len(component):
        number, length, shift = component[at], 0, 0
        while True:
            at += 1
            length |= (component[at] & 0x7F) << shift
            shift += 7
            if component[at] < 0x80:
                break
        at += 1
        if number == 1:
            return component[at : at + length]
        at += length
    raise ValueError("there is no core module in it")


def main(component: Path, output: Path) -> None:
    """Writes the module."""
    output.parent.mkdir(exist_ok=True)
    new = output.with_suffix(".new")
    new.write_bytes(core_module(component.read_bytes()))
    new.rename(output)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    try:
        main(Path(sys.argv[1]), Path(sys.argv[2]))
    except (OSError, ValueError, IndexError) as error:
        sys.exit(f"{sys.argv[1]}: {error}")
