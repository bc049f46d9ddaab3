"""Turns core modules into C, and builds a program of them that replays transcripts.

`wasm2c.py WASM2C FOLDER OUTPUT COMPILER [OPTION ...]`: WASM2C is the program of wabt, FOLDER has core modules, OUTPUT
is the program to build, with a C compiler and options of it.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

EXPORT = re.compile(r"/\* export: '(.*)' \*/\n(\w+) (\w+)\(w2c_\w+\*(.*)\);")
IMPORT = re.compile(r"/\* import: '.*' \*/\n((\w+) \w+)\((struct \w+\*), (\w+)\);")
INSTANTIATE = re.compile(r"void wasm2c_\w+_instantiate\(w2c_\w+\*(.*)\);")
ESCAPED = re.compile(r"\\([0-9A-F]{2})")

HEAD = """#include "wasm-rt.h"
typedef struct { const char *name; uint64_t (*call)(void *, const uint64_t *); } function_t;
typedef struct {
    const char *name;
    void *(*open)(void);
    void (*close)(void *);
    wasm_rt_memory_t *(*memory)(void *);
    const function_t *functions;
} module_t;
"""


def component(name: str, header: str) -> str:
    """The C code for a component."""
    found = INSTANTIATE.search(header)
    if found is None:
        raise SystemExit(f"the header of {name} has no function that makes an instance")
    imports = ", NULL" * found[1].count(",")
    text, rows = [], []
    for number, (exported, result, symbol, parameters) in enumerate(EXPORT.findall(header)):
        if exported == "memory":
            continue
        kinds = [kind.strip() for kind in parameters.split(",")[1:]]
        given = "".join(f", ({kind})given[{index}]" for index, kind in enumerate(kinds))
        call = f"{symbol}(instance{given})"
        body = f"{call}; return 0;" if result == "void" else f"return {call};"
        plain = ESCAPED.sub(lambda escape: chr(int(escape[1], 16)), exported)
        text.append(f"static uint64_t {name}_{number}(void *instance, const uint64_t *given) {{ (void)given; {body} }}")
        rows.append(f'    {{"{plain}", {name}_{number}}},')
    text += [
        f"static const function_t {name}_functions[] = {{",
        *rows,
        "    {0}};",
        f"static void *{name}_open(void) {{",
        f"    w2c_{name} *instance = malloc(sizeof(w2c_{name}));",
        f"    if (instance) wasm2c_{name}_instantiate(instance{imports});",
        "    return instance;",
        "}",
        f"static void {name}_close(void *instance) {{ wasm2c_{name}_free(instance); free(instance); }}",
        f"static wasm_rt_memory_t *{name}_memory(void *instance) {{ return w2c_{name}_memory(instance); }}",
    ]
    return "\n".join(text) + "\n"


def imported(headers: list[str]) -> str:
    """The C code of the imports: each returns its argument, because a handle is the number from which it is made."""
    found = {match[1]: match for header in headers for match in IMPORT.finditer(header)}
    functions = []
    for declared, kind, instance, parameter in (match.groups() for match in found.values()):
        body = "(void)handle;" if kind == "void" else "return handle;"
        functions.append(f"{declared}({instance} none, {parameter} handle) {{ (void)none; {body} }}")
    return "\n".join(functions) + "\n"


def main(wasm2c: str, folder: Path, output: Path, *compiler: str) -> None:
    """Writes the C code beside the program, and builds it."""
    made = output.with_suffix(".c.d")
    made.mkdir(parents=True, exist_ok=True)
    names = (folder / "components.txt").read_text().split()
    for name in names:
        subprocess.run([wasm2c, folder / f"{name}.core.wasm", "-n", name, "-o", made / f"{name}.c"], check=True)
    headers = [(made / f"{name}.h").read_text() for name in names]
    rows = [f'    {{"{name}", {name}_open, {name}_close, {name}_memory, {name}_functions}},' for name in names]
    includes = "".join(f'#include "{name}.h"\n' for name in names)
    text = HEAD + includes + imported(headers) + "".join(map(component, names, headers))
    text += f"enum {{ COUNT = {len(names)} }};\nstatic const module_t modules[] = {{\n" + "\n".join(rows) + "\n};\n"
    (made / "modules.h").write_text(text)
    package = Path(wasm2c).resolve()
    runtime = next(found for parent in package.parents for found in parent.glob("**/wasm-rt-impl.c")).parent
    here = Path(__file__).resolve().parent
    sources = [here / "wasm2c.c", *(made / f"{name}.c" for name in names)]
    sources += [runtime / "wasm-rt-impl.c", runtime / "wasm-rt-mem-impl.c"]
    includes = [f"-I{made}", f"-I{runtime}", f"-I{runtime.parent / 'include'}"]
    # wabt asks for these options, so that floats and aliases behave as in WebAssembly.
    options = ["-O2", "-std=gnu11", "-fno-strict-aliasing", "-frounding-math", "-fsignaling-nans", "-w"]
    subprocess.run([*compiler, *options, *includes, *sources, "-lm", "-o", output], check=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), *sys.argv[4:])
