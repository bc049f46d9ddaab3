"""Runs the blocks of Python of one page one after the other, as a session: `python session.py BLOCKS.json`.

A block with `>>>` is compared line by line, as doctest does. The output of another block must be in the comments after
its calls of `print`."""

from __future__ import annotations

import contextlib
import doctest
import io
import json
import re
import sys
from pathlib import Path

_SHOWN = re.compile(r"^ *print\(.*\)  # (.*)$", re.MULTILINE)


def run(code: str, where: str, names: dict[str, object]) -> None:
    """Runs a block with the names of the blocks before it."""
    file, line = where.rsplit(":", 1)
    if code.startswith(">>>"):
        session = doctest.DocTestParser().get_doctest(code, {}, where, file, int(line) - 1)
        # The block sees the names of the blocks before it, and adds its own.
        session.globs = names
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
        failed = runner.run(session, clear_globs=False).failed
        assert failed == 0, where
        return
    printed = io.StringIO()
    # The line numbers of a traceback are those of the page.
    program = compile("\n" * (int(line) - 1) + code, file, "exec")
    with contextlib.redirect_stdout(printed):
        exec(program, names)
    shown = _SHOWN.findall(code)
    assert printed.getvalue().splitlines() == shown, f"{where} prints\n{printed.getvalue()}"


if __name__ == "__main__":
    found = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    names: dict[str, object] = {"__name__": "__main__"}
    for block in found:
        run(block["code"], block["where"], names)
