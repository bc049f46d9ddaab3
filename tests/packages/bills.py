"""Writes the bills of materials (CycloneDX 1.5) of all packages: `python tests/packages/bills.py target/dist`.

The bill of a package lists its dependencies in its registry, and the crates from which its WebAssembly was compiled.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

ROOT = Path(__file__).resolve().parents[2]
SPECIFICATION = "1.5"
REQUIRED = ("numpy", "wasmtime")
"""The dependencies of the wheel. The bill has the versions with which it is tested."""

Bill = dict[str, Any]


def output(*command: str | Path, folder: Path = ROOT) -> str:
    """The output of a command."""
    return subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True, check=True).stdout


def of_crates(folder: Path) -> dict[str, Bill]:
    """The bills of the workspace's crates. The tool writes beside their manifests, so it runs in a copy of the
    sources."""
    for name in output("git", "ls-files", "*.toml", "*.lock", "*.rs").splitlines():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, folder / name)
    bills = {}
    wasm = {"crates/component": "wasm32-wasip2"}
    manifests = {**wasm, "crates/web": "wasm32-unknown-unknown", "hosts/rust": "all", "hosts/cli": "all"}
    for crate, target in manifests.items():
        manifest = folder / crate / "Cargo.toml"
        options = ("--quiet", "--format", "json", "--spec-version", SPECIFICATION, "--no-build-deps")
        tool = (os.environ["CARGO_CYCLONEDX"], "cyclonedx", "--override-filename", "bill")
        output(*tool, *options, "--target", target, "--manifest-path", manifest, folder=folder)
        text = manifest.with_name("bill.json").read_text(encoding="utf-8")
        # The ids of crates in the tree begin with a folder of this machine, which is removed.
        text = text.replace(f"path+file://{folder.resolve().as_posix()}/", "samedeal:")
        bills[crate] = json.loads(re.sub(r"\?download_url=file://[^\"#]*", "", text))
    return bills


def of_wheel(folder: Path) -> Bill:
    """The bill of the Python package, with the versions of its test environment; not those for the oldest Python."""
    lines = (ROOT / "hosts/python/requirements-dev.txt").read_text(encoding="utf-8").splitlines()
    pinned = [line.split(";")[0] for line in lines if "python_version <" not in line]
    required = [line for line in pinned if line.split("==")[0] in REQUIRED]
    assert len(required) == len(REQUIRED), required
    (folder / "requirements.txt").write_text("\n".join(required), encoding="utf-8")
    options = (
        "--pyproject",
        str(ROOT / "hosts/python/pyproject.toml"),
        "--mc-type",
        "library",
        "--output-reproducible",
    )
    tool = (sys.executable, "-W", "ignore", "-m", "cyclonedx_py", "requirements", "--sv", SPECIFICATION)
    bill: Bill = json.loads(output(*tool, *options, str(folder / "requirements.txt")))
    bill["metadata"]["component"] |= {"version": version(), "purl": f"pkg:pypi/samedeal@{version()}"}
    root = bill["metadata"]["component"]["bom-ref"]
    _of(bill, root)["dependsOn"] = sorted(part["bom-ref"] for part in bill["components"])
    return bill


def of_npm() -> Bill:
    """The bill of the npm package, which has no dependencies."""
    options = ("--sbom-format", "cyclonedx", "--package-lock-only", "--omit", "dev", "--omit", "peer")
    bill: Bill = json.loads(output("npm", "sbom", *options, folder=ROOT / "hosts/js"))
    bill["metadata"]["component"]["name"] = "samedeal"
    # The version of npm is removed: it is the only part of the bill that differs between two builds of a commit.
    del bill["metadata"]["tools"]
    return bill


def of_components() -> Bill:
    """A bill of the components alone. It has no dependencies yet; `joined` adds the crates."""
    root = {"type": "library", "bom-ref": "components", "name": "samedeal-components", "version": version()}
    root["licenses"] = [{"expression": "MIT OR Apache-2.0"}]  # type: ignore[assignment]
    return {"metadata": {"component": root}, "components": [], "dependencies": [{"ref": "components"}]}


def version() -> str:
    """The version of all packages."""
    package: Bill = json.loads((ROOT / "hosts/js/package.json").read_text(encoding="utf-8"))
    return str(package["version"])


def joined(bill: Bill, parts: list[Bill]) -> Bill:
    """A bill with the contents of some parts of the package added. It is equal in every run."""
    root = bill["metadata"]["component"]
    components = {part["bom-ref"]: part for part in bill["components"]}
    needs = {entry["ref"]: set(entry.get("dependsOn", [])) for entry in bill["dependencies"]}
    for part in parts:
        own = part["metadata"]["component"]
        for component in (own, *part["components"]):
            components.setdefault(component["bom-ref"], component)
        for entry in part["dependencies"]:
            needs.setdefault(entry["ref"], set()).update(entry.get("dependsOn", []))
        needs.setdefault(root["bom-ref"], set()).add(own["bom-ref"])
    moment = datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), timezone.utc)
    tools = bill["metadata"].get("tools", [])
    metadata = {"timestamp": moment.strftime("%Y-%m-%dT%H:%M:%SZ"), "tools": tools, "component": root}
    return {
        "$schema": f"http://cyclonedx.org/schema/bom-{SPECIFICATION}.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": SPECIFICATION,
        "version": 1,
        "metadata": metadata,
        "components": [components[ref] for ref in sorted(components)],
        "dependencies": [{"ref": ref, "dependsOn": sorted(needs[ref])} for ref in sorted(needs)],
    }


def _of(bill: Bill, ref: str) -> Bill:
    entries: list[Bill] = bill["dependencies"]
    return next(entry for entry in entries if entry["ref"] == ref)


def write(folder: Path, name: str, bill: Bill) -> None:
    """Writes a bill, after checking it against the schema of CycloneDX."""
    text = json.dumps(bill, indent=1, ensure_ascii=False) + "\n"
    wrong = JsonStrictValidator(SchemaVersion.V1_5).validate_str(text)
    if wrong is not None:
        sys.exit(f"{name} is no bill of materials: {wrong}")
    temporary = folder / f"{name}.new"
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(folder / name)


def main() -> None:
    """Writes one bill for each package."""
    folder = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as temporary:
        crates = of_crates(Path(temporary).resolve())
        wheel = of_wheel(Path(temporary))
    components = [crates["crates/component"]]
    bills = {
        "components": joined(of_components(), components),
        "python": joined(wheel, components),
        "npm": joined(of_npm(), [*components, crates["crates/web"]]),
        "crate": joined(crates["hosts/rust"], components),
        "command": joined(crates["hosts/cli"], components),
    }
    for name, bill in bills.items():
        write(folder, f"samedeal-{name}-{version()}.cdx.json", bill)


if __name__ == "__main__":
    main()
