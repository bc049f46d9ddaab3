"""A service that is killed again and again: by its log, no batch was lost, and none counts twice."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from samedeal import Sampler
from samedeal.ledger import FileLog, Replay
from shown import EXAMPLES, environment, run, scripts

SERVICE = EXAMPLES / "batch-service/service.mjs"


def test_exactly_once() -> None:
    run("batch-service")
    folder = EXAMPLES / "batch-service/dist"
    entries = [json.loads(line) for line in (folder / "epoch.log").read_text(encoding="utf-8").splitlines()]
    kinds = [entry.get("event", "header") for entry in entries]
    # The service is started five times, and trainers join each time. Claims of the start before are claimed again.
    assert kinds.count("join") >= 5
    assert kinds.count("claim") > kinds.count("commit")
    # The Python host reads the npm package's log.
    replay = Replay(FileLog(folder / "epoch.log"))
    replayed = [sample for batch in replay.samples(Sampler(2000, seed=42)) for sample in batch.tolist()]
    assert sorted(replayed) == list(range(2000))
    # Results that do not count were deleted. Only the killed trainer may have left some.
    results = {int(path.stem) for path in (folder / "results").glob("*.json")}
    committed = {run.claim for run in replay.commits}
    assert committed <= results
    assert len(results - committed) <= 1


def test_the_commands_to_copy(tmp_path: Path) -> None:
    """The block runs unchanged in a folder without `dist`; the packages are installed, and the port is changed to a
    free one."""
    [script] = scripts("batch-service")
    folder = tmp_path / "batch-service"
    shutil.copytree(SERVICE.parent, folder, ignore=shutil.ignore_patterns("dist", "node_modules", "__pycache__"))
    (folder / "node_modules").symlink_to(SERVICE.parent / "node_modules")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    script = script.replace("npm install --no-save\n", "").replace("2000 --seed 42", f"2000 --seed 42 --port {port}")
    script = script.replace("127.0.0.1:8080", f"127.0.0.1:{port}")
    command = ["bash", "-euo", "pipefail", "-c", script]
    done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f"http://127.0.0.1:{port}", "2000 samples, each committed once"], done.stderr


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    log = tmp_path / "epoch.log"
    log.write_text("half an entry of a killed process")
    command = ["node", str(SERVICE), str(log), "--samples=10", "--block-size=4", "--port=0"]
    service = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert service.stdout
    try:
        yield service.stdout.readline().strip()
    finally:
        service.kill()
        service.wait()


def post(url: str, body: bytes) -> tuple[int, dict[str, object]]:
    try:
        with urlopen(Request(url, body), timeout=30) as response:
            return response.status, json.load(response)
    except HTTPError as error:
        return error.code, json.load(error)


def test_requests_can_be_repeated(url: str) -> None:
    first = post(f"{url}/claim", b'{"trainer": 3}')
    assert first == post(f"{url}/claim", b'{"trainer": 3}')
    assert len(first[1]["samples"]) == 4  # type: ignore[arg-type]
    commit = json.dumps({"trainer": 3, "claim": first[1]["claim"]}).encode()
    assert post(f"{url}/commit", commit) == post(f"{url}/commit", commit) == (200, {"committed": True})
    assert post(f"{url}/claim", b'{"trainer": 3}')[1]["claim"] != first[1]["claim"]
    assert post(f"{url}/commit", b'{"trainer": 3, "claim": 999}') == (200, {"committed": False})


def test_bad_requests(url: str) -> None:
    assert post(f"{url}/claim", b'{"trainer": 16}') == (400, {"error": "trainer is 16; allowed: 0 to 15"})
    assert post(f"{url}/claim", b'{"trainer": "0"}')[0] == 400
    assert post(f"{url}/claim", b"null")[0] == 400
    assert post(f"{url}/claim", b"{")[0] == 400
    assert post(f"{url}/claim", b" " * 2000)[0] == 400
    assert post(f"{url}/steal", b"{}")[0] == 404


def test_bad_options(tmp_path: Path) -> None:
    for options, message in [
        (["--samples=-1"], "samples is -1; allowed: 0 to "),
        (["--samples=1", "--lanes=4"], "Unknown option '--lanes'"),
        ([], "Usage"),
    ]:
        done = subprocess.run(["node", SERVICE, tmp_path / "log", *options], capture_output=True, text=True, timeout=60)
        assert done.returncode == 2
        assert message in done.stderr
