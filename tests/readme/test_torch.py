"""What the README shows of PyTorch, run in an environment that has it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from shown import README, output


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
    rows = "import pyarrow as pa, pyarrow.parquet as pq\nfor i in range(3):\n"
    rows += "    pq.write_table(pa.table({'length': range(100 * i, 100 * i + 100)}), f'shards/{i}.parquet')\n"
    code = code.replace("        pass", "        seen.append(batch['length'])")
    (tmp_path / "shards").mkdir()
    script = tmp_path / "run.py"
    end = "assert sorted(i for b in seen for i in b.tolist()) == sorted([*range(300)] * 2)"
    script.write_text(f"{rows}\nseen = []\n{code}\n{end}\n", encoding="utf-8")
    done = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
