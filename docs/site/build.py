"""Builds the site from the pages below docs/: `target/venv-docs/bin/python docs/site/build.py`.

The pages are Markdown that a forge shows, with links to files of the repository. They are copied to
target/docs-pages, with pages that are made here: the names of the Python package, the help of the command, the
interface, SPEC.md. Links to what is not on the site lead to the repository. Then Zensical makes target/docs, and fails
for a link that leads nowhere. Last, each page is checked: no request to another server, no link without a text."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from check import check
from names import Names

ROOT = Path(__file__).resolve().parents[2]
STAGE = ROOT / "target/docs-pages"
PAGES = STAGE / "pages"
SITE = ROOT / "target/docs"
REPOSITORY = "https://github.com/samedeal/samedeal/blob/main"
COMMAND = ROOT / "target/debug/samedeal"
MANUAL = ROOT / "target/debug/generator"
EXPLORER = ROOT / "docs/explorer/dist"

MOVED = {
    "DESIGN.md": "design.md",
    "SPEC.md": "reference/spec.md",
    "hosts/rust/src/guide.md": "reference/rust.md",
    "wit": "reference/wit.md",
}
"""Files outside docs/ that are pages of the site."""
MODULES = {
    "samedeal": "Everything but adapters.",
    "samedeal.torch": "Under PyTorch.",
    "samedeal.lightning": "Under PyTorch Lightning.",
    "samedeal.accelerate": "Under Accelerate.",
    "samedeal.transformers": "Under transformers.",
    "samedeal.files": "Rows of files, without PyTorch.",
    "samedeal.parquet": "The readers of `samedeal.files`, by their older name.",
    "samedeal.ledger": "Readers of unequal speed.",
    "samedeal.collate": "Arrays of sequences.",
}
"""The modules whose names are listed."""


def put(path: str, text: str) -> None:
    """Writes a page."""
    target = PAGES / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")


def relink(text: str, source: Path, page: str) -> str:
    """The text of a file as a page: links are relative to the page, or lead to the repository."""

    def link(match: re.Match[str]) -> str:
        target, hash_, anchor = match[1].partition("#")
        if not target or "://" in target:
            return match[0]
        found = os.path.relpath((source.parent / target).resolve(), ROOT)
        if found in MOVED:
            inside = MOVED[found]
        elif found.startswith("wit/"):
            inside, hash_, anchor = MOVED["wit"], "#", Path(found).stem
        elif found == "docs/explorer":
            inside = "explorer/index.html"
        elif found.startswith("docs/") and (ROOT / found).is_file() and not found.endswith(".py"):
            inside = found.removeprefix("docs/")
        else:
            return f"]({REPOSITORY}/{found}{hash_}{anchor})"
        return f"]({os.path.relpath(inside, os.path.dirname(page) or '.')}{hash_}{anchor})"

    return re.sub(r"\]\(([^)\s]+)\)", link, text)


def plain(text: str) -> str:
    """The text of a page whose brackets, as in `sigma[c][i]`, are no links by name."""
    parts = re.split(r"(^```.*?^```|`[^`\n]*`)", text, flags=re.DOTALL | re.MULTILINE)
    return "".join(part if part.startswith("`") else part.replace("][", "]\\[") for part in parts)


def copy_pages() -> None:
    """The pages below docs/, and those of other folders. Setup blocks, which only the tests need, are left out."""
    for source in sorted((ROOT / "docs").rglob("*")):
        inside = source.relative_to(ROOT / "docs")
        if source.is_dir() or inside.parts[0] in ("site", "explorer", "pictures"):
            continue
        if source.suffix == ".md":
            text = re.sub(
                r"^<!-- setup: .*?^-->\n", "", source.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE
            )
            # Zensical knows the language of a block and its title, not the words for the tests.
            text = re.sub(r"^```(\w+) (?:torch|install|peers)\b", r"```\1", text, flags=re.MULTILINE)
            if inside.parts[0] == "spec":
                text = plain(text)
            put(str(inside), relink(text, source, str(inside)))
        elif source.suffix in (".svg", ".json"):
            (PAGES / inside).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, PAGES / inside)
    for name in ("DESIGN.md", "SPEC.md"):
        source = ROOT / name
        put(MOVED[name], relink(source.read_text(encoding="utf-8"), source, MOVED[name]))
    guide = ROOT / "hosts/rust/src/guide.md"
    # Lines that rustdoc hides.
    text = re.sub(r"^# .*\(\(\)\)\n|^# std::.*\n", "", guide.read_text(encoding="utf-8"), flags=re.MULTILINE)
    api = "All names are in the [documentation of the crate](rust-names/samedeal/index.html).\n\n"
    put("reference/rust.md", relink(text.replace("\n\n", f"\n\n{api}", 1), guide, "reference/rust.md"))


def write_names() -> None:
    """The names of the Python package, from their docstrings, and the way to those of the npm package."""
    text = "# Python: all names\n\nFrom the docstrings of the package.\n"
    for module, what in MODULES.items():
        file = ROOT / "hosts/python/src" / module.replace(".", "/")
        file = file / "__init__.py" if file.is_dir() else file.with_suffix(".py")
        text += f"\n## {module}\n\n{what}\n"
        for name in public(file):
            text += f"\n::: {module}.{name}\n"
            if name.endswith("Error") and name != "SamedealError":
                # All of them are alike.
                text += "    options:\n      inherited_members: false\n"
    put("reference/python/names.md", text)
    put(
        "reference/javascript/names.md",
        "# JavaScript: all names\n\nThe types of the package have [a list of all names](typescript/index.html).\n",
    )


def public(module: Path) -> list[str]:
    """The names in `__all__` of a module."""
    for node in ast.parse(module.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", None) == "__all__":
            return [name for name in ast.literal_eval(node.value) if not name.startswith("_")]
    raise ValueError(f"{module} has no __all__")


def link_names() -> None:
    """Links from the tables of the JavaScript reference to the types of the package."""
    names = Names(ROOT / "target/docs-typescript", "typescript")
    for page in (PAGES / "reference/javascript").glob("*.md"):
        page.write_text(names.link(page.read_text(encoding="utf-8")), encoding="utf-8")


def write_help() -> None:
    """The help of each subcommand, after the page on the command."""

    def ask(*words: str) -> str:
        done = subprocess.run([COMMAND, *words], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    names = re.findall(r"^  ([a-z]+)  +\S", ask("--help").split("Commands:")[1].split("Options:")[0], re.MULTILINE)
    page = PAGES / "reference/command.md"
    text = page.read_text(encoding="utf-8")
    for name in names:
        if name != "help":
            text += f"\n### {name}\n\n```text\n{ask(name, '--help')}\n```\n"
    page.write_text(text, encoding="utf-8")


def write_interface() -> None:
    """The interface, whose comments are the manual: all interfaces, types and functions on one page."""
    subprocess.run([MANUAL, "manual", ROOT / "wit", STAGE / "manual"], check=True)
    put("reference/wit.md", plain((STAGE / "manual/wit.md").read_text(encoding="utf-8")))


def copy_made(folder: Path, inside: str) -> None:
    """A folder that another generator made, as it is."""
    shutil.copytree(folder, PAGES / inside, dirs_exist_ok=True)


def main() -> int:
    """Makes the pages and the site."""
    shutil.rmtree(STAGE, ignore_errors=True)
    PAGES.mkdir(parents=True)
    copy_pages()
    write_names()
    link_names()
    write_help()
    write_interface()
    copy_made(ROOT / "target/docs-typescript", "reference/javascript/typescript")
    copy_made(ROOT / "target/engine/doc", "reference/rust-names")
    copy_made(EXPLORER, "explorer")
    shutil.copy(ROOT / "docs/site/extra.css", PAGES / "extra.css")
    shutil.copy(ROOT / "docs/site/zensical.toml", STAGE / "zensical.toml")
    zensical = [Path(sys.executable).parent / "zensical", "build", "--strict", "--clean", "-f", STAGE / "zensical.toml"]
    done = subprocess.run(zensical, cwd=STAGE, env=os.environ | {"NO_COLOR": "1"}, check=False)
    if done.returncode:
        return done.returncode
    if found := list(check(STAGE / "site")):
        print(
            *found[:20], f"{len(found)} requests to other servers, and links without a text", sep="\n", file=sys.stderr
        )
        return 1
    shutil.rmtree(SITE, ignore_errors=True)
    (STAGE / "site").rename(SITE)
    print(f"{sum(1 for _ in SITE.rglob('*.html'))} pages in {SITE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
