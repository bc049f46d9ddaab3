"""What the README shows is what happens: the same numbers in three languages, and from the command."""

from __future__ import annotations

import doctest
import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

from shown import LEDGER, PAGES, PROOF, README, ROOT, block, blocks, output


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


def test_blend() -> None:
    code = next(code for code in re.findall(r"```python\n(.*?)```", README, re.DOTALL) if ".blend(" in code)
    assert output(sys.executable, "-c", code).splitlines() == re.findall(r"\)  # (\[.*\])$", code, re.MULTILINE)
    line = next(line for line in README.splitlines() if line.startswith("$ samedeal blend"))
    printed = output(ROOT / "target/debug/samedeal", *line.removeprefix("$ samedeal ").split())
    assert "web" in printed
    assert "7000000" in printed.replace(",", "")


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


def test_proof() -> None:
    """Python prints what the page on proofs shows; JavaScript and the command give the same fingerprints."""
    examples = "\n".join(blocks("python", PROOF))
    session = doctest.DocTestParser().get_doctest(examples, {}, "proof.md", "proof.md", 0)
    assert len(session.examples) > 10
    assert doctest.DocTestRunner().run(session, clear_globs=False).failed == 0
    sampler = session.globs["sampler"]
    wanted = [sampler.recipe_fingerprint(), sampler.config_fingerprint(), sampler.fingerprint()]

    script = ROOT / "hosts/js/dist/proof.mjs"
    script.write_text(block("js", PROOF), encoding="utf-8")
    try:
        assert output("node", script).split() == wanted
    finally:
        script.unlink()

    lines = "".join(blocks("console", PROOF)).splitlines()
    assert all(line.startswith("$ samedeal ") for line in lines)
    fingerprints, recipe, *checks = [
        output(ROOT / "target/debug/samedeal", *line.removeprefix("$ samedeal ").split()) for line in lines
    ]
    assert re.findall(r"[0-9a-f]{64}", fingerprints) == [wanted[2], wanted[1]]
    assert recipe.strip() == wanted[0]
    assert [check.count(" ok ") for check in checks] == [5, 5]


def by_two_readers(folder: Path) -> list[list[int]]:
    """Runs the first example of the page on ledgers in two processes at the same time; what each of them reads."""
    code = block("py", LEDGER).replace("        ...\n", "        print(*samples, flush=True)\n")
    assert code.count("print(") == 1
    program = "import sys\nrank, dataset = int(sys.argv[1]), range(1000)\n" + code
    readers = [
        subprocess.Popen([sys.executable, "-c", program, str(rank)], cwd=folder, stdout=subprocess.PIPE, text=True)
        for rank in range(2)
    ]
    texts = [reader.communicate()[0] for reader in readers]
    assert [reader.returncode for reader in readers] == [0, 0]
    return [[int(number) for number in text.split()] for text in texts]


def test_ledger(tmp_path: Path) -> None:
    """Two readers share the epoch; both languages replay the schedule from the log, and the command sums it up."""
    read = by_two_readers(tmp_path)
    assert sorted(read[0] + read[1]) == list(range(1000))

    code = blocks("py", LEDGER)[2].replace("    ...\n", "    print(*samples)\n")
    assert code.count("print(") == 2
    prelude = "import sys\nfrom samedeal import Sampler\nrank, dataset = int(sys.argv[1]), range(1000)\n"
    # Four readers for two: the others have nothing.
    shares = []
    for rank in range(4):
        progress, *lines = output(sys.executable, "-c", prelude + code, str(rank), folder=tmp_path).splitlines()
        assert "committed=1000" in progress
        shares.append([int(number) for line in lines for number in line.split()])
    assert shares == [*read, [], []]

    script = ROOT / "hosts/js/dist/ledger.mjs"
    script.write_text(block("js", LEDGER), encoding="utf-8")
    try:
        *progress, samples = output("node", script, folder=tmp_path).partition("}\n")
    finally:
        script.unlink()
    assert "committed: 1000" in progress[0]
    assert [int(number) for number in samples.split()] == read[0]

    [line] = re.findall(r"`samedeal (ledger [^`]+)`", LEDGER)
    printed = output(ROOT / "target/debug/samedeal", *line.split(), folder=tmp_path)
    assert "1000" in printed.replace(",", "")


def test_lines_of_a_ledger() -> None:
    """The lines that the page shows are the beginning of a log."""
    from samedeal import Sampler
    from samedeal.ledger import Ledger, MemoryLog, Schedule

    log = MemoryLog()
    lines = block("json", LEDGER).splitlines()
    assert all(log.append(number, line) for number, line in enumerate(lines))
    assert Schedule(log).progress()[:3] == (1000, 32, 96)
    own = MemoryLog()
    Ledger(Sampler(1000, seed=3), own, reader=0, block=64)
    assert own.read(0)[0] == lines[0]
    # Reader 1 opens it, so its claim in the log is free again, and comes first.
    ledger = Ledger(Sampler(1000, seed=3), log, reader=1, block=64)
    claim = ledger.claim()
    assert claim is not None
    assert (claim.start, claim.count) == (64, 64)


def test_every_example_is_known() -> None:
    """The tests here and in test_torch.py run all blocks of code of the pages, but for those that are named."""
    languages = {name: re.findall(r"^```(\w+)$", text, re.MULTILINE) for name, text in PAGES.items()}
    assert {name: found for name, found in languages.items() if found} == {
        # Not run: it needs the release build, and an environment with the other samplers.
        "batching.md": ["console"],
        "ledger.md": ["py", "py", "py", "js", "json"],
        "proof.md": ["python", "python", "python", "console", "js", "python", "py", "console", "py", "py"],
    }
    for word in block("console", PAGES["batching.md"]).split():
        if word.startswith("tests/"):
            assert (ROOT / word).is_file(), word


def test_links() -> None:
    for text, folder in ((README, ROOT), *((page, ROOT / "docs") for page in PAGES.values())):
        for target in re.findall(r"\]\(([^)#]+)\)", text):
            assert target.startswith("https://") or (folder / target).exists(), target
