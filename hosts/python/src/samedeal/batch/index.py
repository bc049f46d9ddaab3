"""The index of a plan: how many steps every window of an epoch has."""

from __future__ import annotations

import os
from collections.abc import Iterable

from ..engine import arguments as check
from ..engine.core import Core
from ..engine.errors import WrongTypeError
from ..generated import batches


def text_of(index: str | os.PathLike[str]) -> str:
    """The text of an index that is given as a text or as the path of a file."""
    if isinstance(index, str) and index.lstrip()[:1] in ("{", ""):
        return check.crossing("index", index)
    allowed = "the path of an index, or its text"
    if not isinstance(index, (str, os.PathLike)):
        raise WrongTypeError("index", check.described(index), allowed)
    try:
        with open(index, "rb") as file:
            return file.read().decode("utf-8", "backslashreplace")
    except ValueError as error:
        # The path has a null character, or one that cannot be encoded.
        raise WrongTypeError("index", check.described(index), allowed) from error


def join_indices(parts: Iterable[str | os.PathLike[str]]) -> str:
    """Joins the parts of an index (`Batcher.index`), which are paths or texts in any order. Windows may come twice.

    Raises:
        MissingError: There are no parts.
        WrongTypeError: A part is no index, or was changed.
        ContradictionError: A part is of other batches; or windows are missing between two parts.
        OutOfMemoryError: There is not enough memory.
        OSError: A file cannot be read.
    """
    texts = [text_of(part) for part in check.items("index", parts, "a list of paths or texts")]
    return batches.join_indices(Core(2**31, "index", f"{len(texts)} parts"), texts)
