"""Makes a dataset from the functions of Python's standard library, which every machine with Python has.

`python make_dataset.py DIR` writes one Parquet file per package, of naturally uneven size: `asyncio.parquet`,
`email.parquet`, ..., and `modules.parquet` for the modules that are a single file. A row is a function or method
(nested ones too): package, module, name (`Class.method`), text (its source) and length (of the text, in UTF-8 bytes).
The rows are in the order of files and lines, so equal versions of Python make equal files. Tests are left out.
"""

import ast
import shutil
import sys
import sysconfig
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

Row = dict[str, str | int]

SCHEMA = pa.schema(
    [
        ("package", pa.string()),
        ("module", pa.string()),
        ("name", pa.string()),
        ("text", pa.string()),
        ("length", pa.int64()),
    ]
)
LEFT_OUT = {"site-packages", "dist-packages", "test", "tests", "idle_test", "__pycache__"}
SINGLE = "modules"


def functions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Every function below a node with its qualified name. An outer function comes before its inner ones."""
    for node in ast.iter_child_nodes(tree):
        inner = prefix
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inner = f"{prefix}{node.name}."
            if not isinstance(node, ast.ClassDef):
                yield prefix + node.name, node
        yield from functions(node, inner)


def rows(library: Path, file: Path) -> Iterator[Row]:
    """The functions of one module; none if the file is not valid Python, as some files of tests are on purpose."""
    try:
        with tokenize.open(file) as source:
            text = source.read()
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return
    lines = text.split("\n")
    parts = file.relative_to(library).with_suffix("").parts
    module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    for name, node in functions(tree):
        body = "\n".join(lines[node.lineno - 1 : node.end_lineno])
        length = len(body.encode())
        yield {"package": parts[0], "module": module, "name": name, "text": body, "length": length}


def main(folder: Path) -> None:
    """Writes all files into a new folder beside `folder`, and then replaces `folder` by it."""
    library = Path(sysconfig.get_path("stdlib"))
    files = [file for file in library.rglob("*.py") if not LEFT_OUT.intersection(file.relative_to(library).parts)]
    shards: dict[str, list[Row]] = {}
    for file in sorted(files, key=lambda file: file.relative_to(library).parts):
        # The name of a shard must not begin with an underscore: readers would take the file for a temporary one and
        # skip it.
        shard = SINGLE if file.parent == library else file.relative_to(library).parts[0].strip("_")
        shards.setdefault(shard, []).extend(rows(library, file))

    new = folder.with_name(folder.name + ".new")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    filled = {name: shard for name, shard in shards.items() if shard}
    for name, shard in filled.items():
        pq.write_table(pa.Table.from_pylist(shard, SCHEMA), new / f"{name}.parquet")
    shutil.rmtree(folder, ignore_errors=True)
    new.rename(folder)
    print(f"{sum(map(len, filled.values())):,} functions in {len(filled)} files below {folder}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
