"""Writes SHA256SUMS of all files in a folder, and prints their sizes: `checksums.py target/dist`."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

NAME = "SHA256SUMS"


def main() -> None:
    """Writes the file that `sha256sum --check` reads."""
    folder = Path(sys.argv[1])
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.name != NAME)
    sums = {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    temporary = folder / f"{NAME}.new"
    temporary.write_text("".join(f"{digest}  {path.name}\n" for path, digest in sums.items()), encoding="utf-8")
    temporary.replace(folder / NAME)
    for path, digest in sums.items():
        print(f"  {path.stat().st_size:>9,}  {digest[:16]}  {path.name}")


if __name__ == "__main__":
    main()
