"""The page of the documentation about crossing."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from cases import ALL_HOSTS, HOLES, NAMES, hole
from found import Round

PAGE = "docs/crossing.md"

INTRODUCTION = """\
# What one host saves, another continues

A run can begin in one language and continue in another one. `cargo xtask crossing` checks this for all ordered pairs
of hosts, and wrote this page. Each host begins every case of the table: it reads step by step, saves its recipe and its
state now and then, and is killed with `SIGKILL`. (Of a page, the browser is killed.) Then every host continues what was
left on disk, with as many ranks as before and with another number of them. Chains of three hosts follow, in which the
second host is killed too.

The following must hold, or the command fails:

- Each state and each recipe has the same bytes as those that the Rust host writes after the same number of steps.
- The steps and the fingerprints are those that the Rust host has after the same state. With as many ranks as before,
  they are those of a run that was never interrupted.
- All hosts together read everything once. Only steps that a host had read and not saved when it died are read again.
- Ledger: readers die with claims. Readers of the next host take over and finish. One of them has the number of a dead
  reader, the other one waits until the lease of the dead readers ends. In the end, each position is committed once.
  Only positions that were read and not committed are read again. Every host replays the same samples from the log.
  (Node and pages have no log in a file. The test gives them one, which one process at a time uses.)

"""


def write(path: Path, rounds: list[Round]) -> None:
    """Writes the page for some rounds."""
    temporary = path.with_suffix(".new")
    temporary.write_text(text(rounds), encoding="utf-8")
    temporary.replace(path)


def text(rounds: list[Round]) -> str:
    agreed: Counter[tuple[str, str, str]] = sum((found.agreed for found in rounds), Counter())
    engines = {host: engine for found in rounds for host, engine in found.engines.items()}
    first, last = rounds[0], rounds[-1]
    kills, twice = (sum(getattr(found, name) for found in rounds) for name in ("kills", "twice"))
    lines = [
        "## Continuations",
        "",
        "A number counts continuations that agree. A letter says why a host cannot begin the case.",
        f"Rounds: {len(rounds)}, with the seeds from {first.seed} to {last.seed}. {kills} programs were killed.",
        f"{twice} steps and positions were read again, because they were not saved before the kill.",
        "",
        f"| begun by | continued by | {' | '.join(NAMES)} |",
        f"|---|---|{'---|' * len(NAMES)}",
    ]
    for began in ALL_HOSTS:
        for host in ALL_HOSTS:
            # In a chain, a host can continue a case that it cannot begin.
            cells = [str(agreed[began, host, name] or hole(began, name) or 0) for name in NAMES]
            lines.append(f"| {began} | {host} | {' | '.join(cells)} |")
    lines += ["", *(f"- ({letter}) {why}" for letter, why in HOLES.items()), ""]
    lines += ["## Engines", "", "| host | engine |", "|---|---|"]
    lines += [f"| {host} | {engines[host]} |" for host in ALL_HOSTS]
    lines += [
        "",
        "## What was read",
        "",
        f"The cases of the seed {first.seed}, which `cargo xtask crossing --rounds 1 --seed {first.seed}` reads again:",
        "the beginning of the fingerprint of each recipe, and that of the SHA-256 of all steps of the whole case.",
        "",
        "| case | recipe | steps |",
        "|---|---|---|",
    ]
    lines += [f"| {name} | `{recipe[:16]}` | `{steps[:16]}` |" for name, (recipe, steps) in first.prints.items()]
    return INTRODUCTION + "\n".join(lines) + "\n"


def shape(page: str) -> list[list[str]]:
    """The heading and the rows of the table of continuations. Letters stay, every number becomes +."""
    table = page.partition("## Continuations\n")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if line[:1] == "|"]
    return [["+" if cell.isdigit() and cell != "0" else cell for cell in row] for row in rows]
