"""A trainer: asks the service for batches, computes something of every sample, and saves the results."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import time
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen


def post(url: str, body: dict[str, int], patience: float) -> dict[str, Any]:
    """The answer to a request. While the service is down, the request is repeated, which is safe for all requests."""
    request = Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
    end, pause = time.monotonic() + patience, 0.01
    while True:
        try:
            with urlopen(request, timeout=10) as response:
                answer: dict[str, Any] = json.load(response)
                return answer
        except HTTPError as error:
            if error.code < 500 or time.monotonic() > end:
                raise SystemExit(f"{url}: {error.read().decode()}") from error
        except (URLError, HTTPException, ConnectionError, TimeoutError):
            if time.monotonic() > end:
                raise
        time.sleep(pause)
        pause = min(2 * pause, 1)


def feature(sample: int) -> str:
    """The result for a sample: here a hash of its number, in place of a model."""
    return hashlib.sha256(str(sample).encode()).hexdigest()[:16]


def save(path: Path, results: dict[int, str]) -> None:
    """Writes the results of a batch under another name first, so a file of this name is always complete."""
    new = path.with_suffix(".new")
    with new.open("w", encoding="utf-8") as file:
        json.dump(results, file)
        file.flush()
        os.fsync(file.fileno())
    new.rename(path)


def train(url: str, trainer: int, folder: Path, seconds: float, patience: float) -> None:
    """Works until the epoch is finished. Results are saved before the commit, so each committed batch has results."""
    while True:
        batch = post(f"{url}/claim", {"trainer": trainer}, patience)
        if batch.get("finished"):
            return
        if "wait" in batch:
            time.sleep(min(batch["wait"], 1000) / 1000)
            continue
        results = {sample: feature(sample) for sample in batch["samples"]}
        time.sleep(seconds)
        path = folder / f"{batch['claim']}.json"
        save(path, results)
        if not post(f"{url}/commit", {"trainer": trainer, "claim": batch["claim"]}, patience)["committed"]:
            path.unlink()


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("--trainer", type=int, required=True, help="number of this trainer, which no other one has")
    parser.add_argument("--results", type=Path, required=True, help="folder for the results, one file for each claim")
    parser.add_argument("--seconds", type=float, default=0, help="how long a batch takes, in place of a model")
    parser.add_argument("--patience", type=float, default=60, help="for how many seconds the service may be away")
    given = parser.parse_args()
    given.results.mkdir(parents=True, exist_ok=True)
    train(given.url, given.trainer, given.results, given.seconds, given.patience)


if __name__ == "__main__":
    main()
