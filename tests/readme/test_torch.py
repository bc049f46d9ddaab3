"""What the README shows of PyTorch, run in an environment that has it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from shown import LEDGER, PROOF, README, blocks, output

_FILES = """
import pyarrow as pa, pyarrow.parquet as pq
for i in range(3):
    pq.write_table(pa.table({'length': range(100 * i, 100 * i + 100)}), f'shards/{i}.parquet')
"""


def test_pytorch() -> None:
    """The rest of an epoch is what an uninterrupted one has left."""
    code = re.findall(r"```python\n(.*?)```", README, re.DOTALL)[1]
    # The loader's newest pass has ended: the epoch comes again as a whole.
    code += "\nfound = [rows.tolist() for rows in rest]\nloader.set_epoch(0)\nloader.set_epoch(1)\n"
    code += "assert found == [rows.tolist() for rows in loader][3:]\nprint(len(found))\n"
    done = output(sys.executable, "-c", code)
    assert done == "5\n"


def test_sharded_dataset(tmp_path: Path) -> None:
    """Every row of real files comes, in both epochs."""
    code = next(code for code in re.findall(r"```python\n(.*?)```", README, re.DOTALL) if "ShardedDataset(" in code)
    code = code.replace("        pass", "        seen.append(batch['length'])")
    end = "assert sorted(i for b in seen for i in b.tolist()) == sorted([*range(300)] * 2)"
    _run(f"{_FILES}\nseen = []\n{code}\n{end}\n", tmp_path)


def test_recipes_of_a_running_job(tmp_path: Path) -> None:
    """The recipes that the page on proofs takes from samplers and datasets make the same in plain Python."""
    code = "".join(blocks("py", PROOF))
    assert code.count("verify_ranks(loader)") == 1
    end = """
assert [*same] == [*sampler]
assert same.recipe == Sampler(1000, seed=42, order=sampler.order).recipe
assert reading.recipe == Reading([100, 100, 100], seed=42, workers=2, batch_size=32).recipe
first = next(iter(DataLoader(dataset, batch_size=None, num_workers=2)))
assert first["length"].to_pylist() == reading.indices(rank=0, worker=0)[:32].tolist()
"""
    _run(f"{_FILES}\n{code}\n{end}\n", tmp_path)


def test_ledger_under_a_loader(tmp_path: Path) -> None:
    """Each sample comes once, and is committed when the loop has got it."""
    code = blocks("py", LEDGER)[1].replace("    ...\n", "    seen.extend(batch.tolist())\n")
    assert code.count("seen") == 1
    begin = """
from samedeal import Sampler
from samedeal.ledger import FileLog, Ledger
from torch.utils.data import DataLoader

dataset, seen = range(1000), []
ledger = Ledger(Sampler(len(dataset), seed=42), FileLog("epoch-0.log"), reader=0, block=256)
"""
    end = "assert sorted(seen) == list(dataset) and ledger.progress().finished"
    _run(f"{begin}\n{code}\n{end}\n", tmp_path)


def _run(code: str, folder: Path) -> None:
    """Runs a program where there is a folder for files."""
    (folder / "shards").mkdir()
    script = folder / "run.py"
    script.write_text(code, encoding="utf-8")
    done = subprocess.run([sys.executable, script], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
