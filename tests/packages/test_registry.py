"""The component and the WIT package are pushed to a local registry and pulled again; then wasmtime-py runs the
component."""

from __future__ import annotations

import json
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from packages import CARGO_TOOLS, COMPONENTS, DIST, VERSION, output, python_in, wanted, without_rust

FILES = {name: f"{name}.wasm" for name in COMPONENTS} | {"wit": f"samedeal-wit-{VERSION}.wasm"}

_RUN = """
import sys
from wasmtime import Engine, Store
from wasmtime.component import Component, Linker

engine = Engine()
store = Store(engine)
component = Component.from_file(engine, sys.argv[1])
instance = Linker(engine).instantiate(store, component)  # it imports nothing
sampling = instance.get_export_index(store, "samedeal:deal/sampling@0.1.0")
def function(name):
    return instance.get_func(store, instance.get_export_index(store, name, sampling))
def call(name, *arguments):
    made = function(name)
    result = made(store, *arguments)
    made.post_return(store)
    return result
recipe = '{"order":{"samples":10000000,"seed":42},"deal":{"world_size":8}}'
sampler = call("[constructor]sampler", recipe, [], 1, 3)
print(*call("[method]sampler.batch32", sampler, 31_000, 32, False))
"""


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an empty registry."""
    folder = tmp_path_factory.mktemp("registry")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    settings = {
        "version": 0.1,
        "storage": {"filesystem": {"rootdirectory": str(folder / "data")}},
        "http": {"addr": address},
    }
    (folder / "settings.yml").write_text(json.dumps(settings), encoding="utf-8")
    with (folder / "log").open("w") as log:
        command = ["docker-registry", "serve", str(folder / "settings.yml")]
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        while True:
            assert process.poll() is None, (folder / "log").read_text()
            try:
                urllib.request.urlopen(f"http://{address}/v2/")
                break
            except OSError:
                time.sleep(0.05)
        yield address
    finally:
        process.terminate()
        process.wait()


@pytest.mark.parametrize("name", FILES)
def test_there_and_back(registry: str, name: str, tmp_path: Path) -> None:
    reference = f"{registry}/samedeal/{name}:{VERSION}"
    wkg = (CARGO_TOOLS / "wkg", "oci")
    insecure = ("--insecure", registry)
    said = output(*wkg, "push", *insecure, reference, DIST / FILES[name])
    # The manifest has the time of the upload. The layer is the file itself, so its digest is the one in SHA256SUMS.
    request = urllib.request.Request(f"http://{registry}/v2/samedeal/{name}/manifests/{VERSION}")
    request.add_header("Accept", "application/vnd.oci.image.manifest.v1+json")
    with urllib.request.urlopen(request) as answer:
        manifest = json.load(answer)
        assert answer.headers["Docker-Content-Digest"] in said
    [layer] = manifest["layers"]
    sums = dict(reversed(line.split()) for line in (DIST / "SHA256SUMS").read_text().splitlines())
    assert layer["digest"] == f"sha256:{sums[FILES[name]]}"
    assert layer["mediaType"] == "application/wasm"
    output(*wkg, "pull", *insecure, reference, "--output", tmp_path / "pulled.wasm")
    assert (tmp_path / "pulled.wasm").read_bytes() == (DIST / FILES[name]).read_bytes()


def test_what_comes_back_runs(registry: str, tmp_path: Path) -> None:
    python = python_in(tmp_path / "environment", "wasmtime")
    reference = f"{registry}/samedeal/run:{VERSION}"
    output(CARGO_TOOLS / "wkg", "oci", "push", "--insecure", registry, reference, DIST / "samedeal.wasm")
    output(CARGO_TOOLS / "wkg", "oci", "pull", "--insecure", registry, reference, "--output", tmp_path / "pulled.wasm")
    printed = output(python, "-I", "-c", _RUN, tmp_path / "pulled.wasm", environment=without_rust())
    assert [int(number) for number in printed.split()] == wanted()
