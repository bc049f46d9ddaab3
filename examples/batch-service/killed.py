"""Shows that no sample is lost or done twice: kills the service four times in an epoch, and one trainer for good."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import urlopen

from collect import collect
from trainer import feature

HERE = Path(__file__).resolve().parent
SAMPLES = 2000


def serve(log: Path, port: int) -> tuple[subprocess.Popen[str], str]:
    """Starts the service, and returns it with its address as soon as it answers."""
    options = [
        f"--samples={SAMPLES}",
        "--seed=42",
        "--block-size=10",
        "--lease-ms=2000",
        "--trainers=4",
        f"--port={port}",
    ]
    command = ["node", str(HERE / "service.mjs"), str(log), *options]
    service = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert service.stdout
    url = service.stdout.readline().strip()
    if not url:
        raise SystemExit(f"the service did not start: exit code {service.wait()}")
    return service, url


def committed(url: str) -> int:
    """How many samples are committed."""
    with urlopen(f"{url}/progress", timeout=10) as response:
        return int(json.load(response)["committed"])


def until(url: str, samples: int) -> None:
    """Waits until `samples` samples are committed."""
    end = time.monotonic() + 120
    while committed(url) < samples:
        if time.monotonic() > end:
            raise SystemExit(f"{samples} samples were not committed within 120 seconds")
        time.sleep(0.01)


def main() -> None:
    """Runs the epoch in the folder dist."""
    folder = HERE / "dist"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    log, results = folder / "epoch.log", folder / "results"
    service, url = serve(log, 0)
    port = int(url.rsplit(":", 1)[1])
    trainers: list[subprocess.Popen[str]] = []
    try:
        for number in range(4):
            speed = f"--seconds={0.005 * (number + 1)}"
            command = [
                sys.executable,
                str(HERE / "trainer.py"),
                url,
                f"--trainer={number}",
                f"--results={results}",
                speed,
            ]
            trainers.append(subprocess.Popen(command, text=True))
        for kill in range(1, 5):
            until(url, kill * SAMPLES // 5)
            service.kill()
            service.wait()
            service, url = serve(log, port)
            if kill == 2:
                trainers[3].kill()
        codes = [trainer.wait(timeout=120) for trainer in trainers]
        if codes[:3] != [0, 0, 0]:
            raise SystemExit(f"a trainer failed: {codes}")
    finally:
        for process in [service, *trainers]:
            process.kill()
            process.wait()
    collected = collect(log, results)
    if collected != {sample: feature(sample) for sample in range(SAMPLES)}:
        raise SystemExit(f"{len(collected)} samples have results, but {SAMPLES} should")
    print(f"{len(collected)} samples, each committed once; the service was killed 4 times, a trainer once")


if __name__ == "__main__":
    main()
