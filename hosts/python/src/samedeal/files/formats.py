"""The formats by their names, and the format of a file by the name of the file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import MissingError, UnknownNameError, WrongTypeError
from ..engine import arguments as check
from .arrow import Arrow
from .format import Format
from .jsonl import JsonLines
from .lance import Lance
from .mds import Mds
from .parquet import Parquet
from .tar import Tar

PARQUET = Parquet()

FORMATS: dict[str, Format] = {
    "parquet": PARQUET,
    "arrow": Arrow(),
    "jsonl": JsonLines(),
    "tar": Tar(),
    "mds": Mds(),
    "lance": Lance(),
}
"""The formats by the names that `format` takes. The packages for "mds" and "lance" are imported at first use."""


def chosen(format: Any) -> Format | None:
    """The format that a caller names, or gives; None if the names of the files decide.

    Raises:
        UnknownNameError: There is no format of this name.
        WrongTypeError: The value is no format.
    """
    if format is None:
        return None
    if isinstance(format, str):
        if format not in FORMATS:
            names = ", ".join(FORMATS)
            raise UnknownNameError("format", check.shown(format), names, {"known": tuple(FORMATS)})
        return FORMATS[format]
    suffixes: Any = getattr(format, "suffixes", None)
    if (
        isinstance(format, type)
        or not callable(getattr(format, "open", None))
        or not callable(getattr(format, "choose", None))
        or not isinstance(getattr(format, "name", None), str)
        or not isinstance(suffixes, tuple)
        or not suffixes
        or not all(isinstance(each, str) for each in suffixes)
    ):
        raise WrongTypeError("format", check.described(format), "the name of a format, or a samedeal.files.Format")
    own: Format = format
    return own


def of_file(path: str) -> Format:
    """The format of a file that was named. Files with other suffixes are taken for Parquet."""
    return next((each for each in FORMATS.values() if path.endswith(each.suffixes)), PARQUET)


def of_files(names: Sequence[str], folder: str) -> Format:
    """The format of the files below a directory: Parquet if there are such files, since other files may be beside them.

    Raises:
        MissingError: There are files of several formats, and none of Parquet.
    """
    found = {name: each for name, each in FORMATS.items() if any(file.endswith(each.suffixes) for file in names)}
    if len(found) < 2 or "parquet" in found:
        return found.get("parquet") or next(iter(found.values()), PARQUET)
    raise MissingError("format", "", f"one of {', '.join(found)}, since {folder} has files of these formats")
