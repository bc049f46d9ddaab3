"""Programs that stand still are ended, and others are not."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest
import watch

STILL = """
import multiprocessing, os, sys, threading

def waits(name):
    print(name, "waits", file=sys.stderr, flush=True)
    lock.acquire()

lock = threading.Lock()
lock.acquire()
if __name__ == "__main__":
    print(os.getpid(), flush=True)
    child = multiprocessing.get_context("fork").Process(target=waits, args=("the child",))
    child.start()
    print(child.pid, flush=True)
    child.join()
"""
"""A program whose child waits for a lock that nobody gives back. It prints the numbers of both processes."""
WORKS = "import sys, time; end = time.process_time() + {}\nwhile time.process_time() < end: pass\nprint('done')"


def test_the_rule() -> None:
    """A look is the processor time of a program, and whether it could have used more."""
    looks = {
        "stands still": [(5.0, False)] * 20,
        "polls": [(5.0 + i / 100, i % 3 == 0) for i in range(20)],
        "works": [(5.0 + i / 10, False) for i in range(20)],
        "gets no processor": [(5.0, True)] * 20,
        "gets one now and then": [(5.0 + i // 10, i % 3 != 0) for i in range(20)],
        "has not stood still for long": [(5.0, False)] * 10,
        "goes on": [(5.0, False)] * 10 + [(6.0, False)] * 10,
        "lost a child": [(5.0, False)] * 10 + [(1.0, False)] * 10,
    }
    stood = set()
    for name, every in looks.items():
        progress = watch.Progress(10)
        if any([progress.stands(*look) for look in every]):
            stood.add(name)
    assert stood == {"stands still", "polls"}


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the times of processes are read from /proc")
def test_a_program_that_stands_still_is_ended_and_tells_where(tmp_path: Path) -> None:
    script = tmp_path / "still.py"
    script.write_text(STILL)
    with pytest.raises(watch.StandsStillError, match="in 5 looks, so they are ended") as caught:
        watch.run([sys.executable, script], env=os.environ | {"RANK": "3"}, still=5)
    told = str(caught.value)
    parent, child = told.partition("-- out\n")[2].split()[:2]
    assert f"-- process {child}, started by {parent}, rank 3: " in told
    assert f"-- process {parent}, started by {os.getpid()}, rank 3: {sys.executable} {script}" in told
    # Both processes print their stacks, and the error has what was printed before.
    assert 'still.py", line 6 in waits' in told
    assert "in join" in told
    assert "the child waits\n" in told.partition("-- err\n")[2]
    while any(watch.lives(int(pid)) for pid in (parent, child)):
        time.sleep(0.01)


def test_a_program_that_works_comes_to_its_end() -> None:
    done = watch.run([sys.executable, "-c", WORKS.format(4)], still=2)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


def test_the_output_and_the_code_of_a_program_that_fails(tmp_path: Path) -> None:
    done = watch.run([sys.executable, "-c", "print(open('here').read()); raise SystemExit(3)"], cwd=tmp_path)
    assert done.returncode == 1
    assert "FileNotFoundError" in done.stderr
    (tmp_path / "here").write_text("text")
    done = watch.run([sys.executable, "-c", "print(open('here').read()); raise SystemExit(3)"], cwd=tmp_path)
    assert (done.returncode, done.stdout) == (3, "text\n")
