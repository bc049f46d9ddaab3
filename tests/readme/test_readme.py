"""What the README shows is what happens: the same numbers in three languages, and from the command."""

from __future__ import annotations

import hashlib
import json
import re
import sys

from shown import README, ROOT, block, output


def numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"(?<![\w.])\d+(?![\w.])", text)]


def batch_by_the_command() -> list[int]:
    """Batch 31,000 of epoch 1, as the command that the README shows prints it, in one line."""
    line = next(line for line in README.splitlines() if line.startswith("$ samedeal batches"))
    words = line.removeprefix("$ samedeal ").split()
    return numbers(output(ROOT / "target/debug/samedeal", *words, "--format", "text"))


def test_python() -> None:
    *batch, rank, number, index_in_batch = numbers(output(sys.executable, "-c", block("python")))
    assert batch == batch_by_the_command()
    question = "locate --samples 10000000 --seed 42 --epoch 1 --world-size 8 --batch-size 32 --sample 1234 --json"
    [where] = json.loads(output(ROOT / "target/debug/samedeal", *question.split()))["samples"]
    [found] = where["places"]
    assert (rank, number, index_in_batch) == (found["rank"], found["batch"], found["index_in_batch"])


def test_javascript() -> None:
    script = ROOT / "hosts/js/dist/readme.mjs"  # within the package, whose own name resolves there
    script.write_text(block("js"), encoding="utf-8")
    try:
        text = output("node", script)
    finally:
        script.unlink()
    assert numbers(text.split("[", 1)[1].split("]", 1)[0]) == batch_by_the_command()


def test_rust() -> None:
    assert (ROOT / "hosts/rust/examples/readme.rs").read_text(encoding="utf-8") == block("rust")
    text = output(ROOT / "target/debug/examples/readme")
    assert numbers(text.splitlines()[-1].split("]", 1)[0]) == batch_by_the_command()


def test_batcher() -> None:
    code = next(code for code in re.findall(r"```python\n(.*?)```", README, re.DOTALL) if "Batcher(" in code)
    steps, padding = output(sys.executable, "-c", code).split()
    assert int(steps) > 30
    assert float(padding) < 0.1


def test_resume() -> None:
    code = next(code for code in re.findall(r"```python\n(.*?)```", README, re.DOTALL) if ".resume(" in code)
    assert output(sys.executable, "-c", code).strip() == code.rsplit("# ", 1)[1].strip()


def test_recipe() -> None:
    code = next(code for code in re.findall(r"```python\n(.*?)```", README, re.DOTALL) if ".from_recipe(" in code)
    recipe, fingerprint = output(sys.executable, "-c", code).splitlines()
    order = '{"name":"feistel","samples":10000000,"seed":42}'
    deal = '{"world_size":8,"remainder":"pad","layout":"strided"}'
    assert recipe == f'{{"samedeal":1,"order":{order},"deal":{deal}}}'
    assert fingerprint == hashlib.sha256(recipe.encode()).hexdigest()


def test_comparison() -> None:
    """The table is what the command prints, but for the columns that are left out."""
    line = next(line for line in README.splitlines() if line.startswith("$ samedeal batches") and "--compare" in line)
    printed = output(ROOT / "target/debug/samedeal", *line.removeprefix("$ samedeal ").split())
    shown = [line for line in README.split(line)[1].split("```")[0].splitlines() if line.startswith("│")]
    assert len(shown) == 7
    cells = [[cell.strip() for cell in line.strip("│").split("┆")] for line in printed.splitlines()]
    for row in shown:
        first = [cell.strip() for cell in row.strip("│").split("┆")][:8]
        assert any(found[:8] == first for found in cells), row


def test_links() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert target.startswith("https://") or (ROOT / target).exists(), target
