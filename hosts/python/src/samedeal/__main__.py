"""The command `python -m samedeal`: questions about a sampler, a checkpoint, this process and the installation."""

from __future__ import annotations

import argparse
import json
import pickle
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from . import OutOfRangeError, SamedealError, Sampler, WrongTypeError, __version__, detect_rank, inspect, plain_orders
from .engine import arguments as check

# The most samples that `verify` takes: it counts how often each is dealt, in one byte of memory.
MOST = 1 << 32
# The most samples that a message names.
SHOWN = 10


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command. Returns the exit code."""
    options = parser().parse_args(arguments)
    try:
        answer, text, code = options.answer(options)
    except (SamedealError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(json.dumps(answer) if options.json else text)
    return int(code)


def parser() -> argparse.ArgumentParser:
    """The parser of the command's arguments."""
    found = argparse.ArgumentParser(
        prog="python -m samedeal",
        description="Which rank this process is; when and where a sample is seen; which samples a step has; the state "
        "of an epoch, and what a checkpoint says; whether ranks together see every sample.",
        epilog="example: python -m samedeal locate --samples 50000 --world-size 8 --batch-size 32 --sample 1234   "
        "Exit code: 0 if all is well, 1 if `verify` found something wrong, 2 if the question cannot be answered.",
    )
    found.add_argument("--version", action="version", version=f"samedeal {__version__}")
    commands = found.add_subparsers(metavar="COMMAND", required=True)

    def command(name: str, answer: Any, text: str) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=text, description=text)
        made.add_argument("--json", action="store_true", help="print one JSON object")
        made.set_defaults(answer=answer)
        return made

    command("rank", _rank, "Print rank and number of ranks, as the variables of a launcher say.")
    locate = command("locate", _locate, "Print when and where a sample is seen in an epoch.")
    step = command("step", _step, "Print which samples every rank reads at a step.")
    state = command("state", _state, "Print the state of an epoch after so many samples of every rank.")
    verify = command("verify", _verify, "Check that all ranks together see every sample as often as they should.")
    explain = command("explain", _explain, "Print what the states in a checkpoint say. Nothing in it is executed.")
    command("cache", _cache, "Print where compiled code is kept for later processes, or why it is not.")
    for asked in (locate, step, state, verify):
        asked.add_argument(
            "--samples", type=_number, required=True, metavar="N", help="such as 50000, 50_000 or 50,000"
        )
        asked.add_argument("--seed", type=_number, default=0, help="seed of the order (default: 0)")
        asked.add_argument("--epoch", type=_number, default=0, help="number of the epoch (default: 0)")
        known = [name for name in plain_orders() if name != "sharded"]
        asked.add_argument("--order", default=known[0], help=f"one of {', '.join(known)} (default: {known[0]})")
        asked.add_argument("--world-size", type=_number, default=1, metavar="W", help="how many ranks (default: 1)")
        asked.add_argument("--remainder", choices=["pad", "drop", "uneven"], default="pad", help="(default: pad)")
        asked.add_argument(
            "--unit", type=_number, default=1, metavar="U", help="neighbours that go to the same rank (default: 1)"
        )
        asked.add_argument(
            "--resume", type=Path, metavar="FILE", help="go on where a state was taken: the file with it"
        )
    step.add_argument("--step", type=_number, required=True, metavar="S", help="which batch of every rank, from 0")
    step.add_argument("--batch-size", type=_number, required=True, metavar="B", help="samples in a batch")
    explain.add_argument("checkpoint", type=Path, metavar="FILE", help="JSON with states, or what torch.save wrote")
    locate.add_argument("--batch-size", type=_number, default=1, metavar="B", help="samples in a batch (default: 1)")
    verify.add_argument(
        "--batch-size",
        type=_number,
        metavar="B",
        help="samples in a batch; then all ranks must have as many batches",
    )
    locate.add_argument("--sample", type=_number, required=True, metavar="I", help="which sample, from 0")
    state.add_argument("--taken", type=_number, required=True, metavar="T", help="batches of a rank times their size")
    return found


def _number(text: str) -> int:
    """A whole number, which may have `_` or `,` between its digits."""
    return int(text.replace(",", ""))


# argparse shows this name of the type in its errors.
_number.__name__ = "whole number"


def _sampler(options: argparse.Namespace, **others: Any) -> Sampler:
    names = ("seed", "epoch", "order", "world_size", "remainder", "unit")
    sampler = Sampler(options.samples, **{name: getattr(options, name) for name in names} | others)
    if options.resume is not None:
        try:
            text = options.resume.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            allowed = "a file with a state alone; the command `samedeal explain` finds it in a checkpoint"
            raise WrongTypeError("resume", str(options.resume), allowed) from None
        sampler.resume(text)
    return sampler


def _rank(options: argparse.Namespace) -> tuple[dict[str, Any], str, int]:
    found = detect_rank()
    for warning in found.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    answer = {"rank": found.rank, "world_size": found.world_size, "launcher": found.launcher, "used": list(found.used)}
    used = f", from {' '.join(found.used)}" if found.used else ""
    return answer, f"rank {found.rank} of {found.world_size} (launcher: {found.launcher}{used})", 0


def _cache(_: argparse.Namespace) -> tuple[dict[str, Any], str, int]:
    from .engine import component

    path, reason = component.process.kept_at()
    return {"path": path, "reason": reason or None}, path or f"nothing is kept: {reason}", 0


def _locate(options: argparse.Namespace) -> tuple[dict[str, Any], str, int]:
    sampler = _sampler(options)
    fate = sampler.fate(options.sample, options.batch_size)
    answer: dict[str, Any] = {"sample": options.sample, "epoch": sampler.epoch, "status": fate.status}
    places = [{"position": position, "status": "seen"} for position in fate.before.tolist()]
    lines = [f"seen: position {one['position']} of epoch {sampler.epoch}, before the state" for one in places]
    for number, place in enumerate(fate.places):
        status = "padding" if number >= len(fate.places) - fate.num_padding else "upcoming"
        shown = {"rank": place.rank, "batch": place.batch, "index_in_batch": place.index_in_batch}
        places.append({"position": place.position, "status": status, **shown})
        lines.append(
            f"{status}: rank {place.rank}, batch {place.batch}, index {place.index_in_batch} in the batch "
            f"(position {place.position} of epoch {sampler.epoch})"
        )
    if not fate.complete:
        lines.append(f"and more: the first {len(places):,} are shown")
    return answer | {"places": places}, "\n".join(lines or [f"{fate.status}: epoch {sampler.epoch} leaves it out"]), 0


def _step(options: argparse.Namespace) -> tuple[dict[str, Any], str, int]:
    sampler = _sampler(options)
    ranks = []
    for rank in range(sampler.world_size):
        sampler.set_rank(rank)
        ranks.append({"rank": rank, "samples": sampler.batch(options.step, options.batch_size).tolist()})
    text = "\n".join(f"rank {one['rank']}: {' '.join(map(str, one['samples']))}" for one in ranks)
    return {"epoch": sampler.epoch, "step": options.step, "ranks": ranks}, text, 0


def _explain(options: argparse.Namespace) -> tuple[dict[str, Any], str, int]:
    allowed = "a file that holds a state of samedeal"
    try:
        checkpoint = _checkpoint(options.checkpoint)
        found = [_said(place, *state) for place, state in _states("", checkpoint)]
    except RecursionError as error:
        raise WrongTypeError(
            "checkpoint", str(options.checkpoint), f"{allowed}, in fewer objects in objects"
        ) from error
    if not found:
        if isinstance(checkpoint, dict):
            # A recipe, a log or an index is no state.
            with suppress(SamedealError, TypeError, RecursionError):
                other = inspect(json.dumps(checkpoint))
                allowed += f"; this is the {other.form} of a {other.of}"
        raise WrongTypeError("checkpoint", str(options.checkpoint), allowed)
    text = "\n\n".join("\n".join(f"{name}: {value}" for name, value in one.items()) for one in found)
    return {"states": found}, text, 0


def _said(place: str, text: str, taken_by: Any) -> dict[str, Any]:
    """The facts of a state that `explain` prints, by the names of its members."""
    state = json.loads(text)
    # `inspect` does not check the members of a state, so any of them may have another type.
    recipe = state.get("recipe")
    order = recipe.get("order") if isinstance(recipe, dict) else None
    order = order if isinstance(order, dict) else {}
    found = {"place": place or "the whole file", "kind": state["kind"], "order": order.get("name")}
    found |= {name: order.get(name) for name in ("samples", "seed")}
    found |= {name: state.get(name) for name in ("epoch", "step", "consumed", "history")}
    if isinstance(taken_by, dict):
        found |= {name: taken_by.get(name) for name in ("world_size", "batch_size")}
    return {name: value for name, value in found.items() if value not in (None, [])}


def _states(place: str, value: Any) -> Iterator[tuple[str, tuple[str, Any]]]:
    """The states in a checkpoint: the place of each, its text, and the facts beside it about the ranks that took it."""
    text, taken_by = value, None
    if isinstance(value, dict):
        text, taken_by = value.get(check.STATE_KEY), value.get(check.TAKEN_BY)
        if text == 1:
            # The value is a state as an object: its member `samedeal` is the version.
            text = json.dumps(value)
    if isinstance(text, str):
        with suppress(SamedealError):
            if inspect(text).form == "state":
                yield place, (text, taken_by)
                return
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, (list, tuple)) else ()
    for name, part in inner:
        yield from _states(f"{place}.{name}" if place else str(name), part)


def _checkpoint(path: Path) -> Any:
    """The contents of a file: JSON, or a file of `torch.save`."""
    try:
        return json.loads(path.read_bytes())
    except ValueError:
        pass
    try:
        import torch
    except ImportError as error:
        raise WrongTypeError("checkpoint", str(path), "JSON; files of torch.save need PyTorch") from error
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError) as error:
        allowed = "JSON, or a file that torch.load reads with weights_only; the command `samedeal explain` reads others"
        raise WrongTypeError("checkpoint", str(path), allowed) from error


def _state(options: argparse.Namespace) -> tuple[dict[str, Any], str, int]:
    text = _sampler(options).state(options.taken)
    return json.loads(text), text, 0


def _verify(options: argparse.Namespace) -> tuple[dict[str, Any], str, int]:
    import numpy as np

    sampler = _sampler(options)
    if sampler.dataset_size > MOST:
        raise OutOfRangeError("samples", str(sampler.dataset_size), f"up to {MOST:,}, which take a byte of memory each")
    times = np.zeros(sampler.dataset_size, dtype=np.uint8)
    steps, padding = set(), 0
    for rank in range(sampler.world_size):
        sampler.set_rank(rank)
        steps.add(sampler.num_batches(1 if options.batch_size is None else options.batch_size))
        padding += sampler.num_padding
        real = len(sampler) - sampler.num_padding
        for start in range(0, real, 1 << 20):
            np.add.at(times, sampler.indices(start, min(start + (1 << 20), real)), 1)
    again, missing = np.flatnonzero(times > 1), np.flatnonzero(times == 0)
    expected = sampler.consumed + sampler.num_dropped
    hangs = options.batch_size is not None and len(steps) > 1
    wrong = len(again) > 0 or len(missing) != expected or hangs
    answer = {
        "dataset_size": sampler.dataset_size,
        "consumed": sampler.consumed,
        "dropped": sampler.num_dropped,
        "num_padding": padding,
        "dealt_twice": again.tolist(),
        "not_dealt": len(missing),
        "steps": sorted(steps),
        "ok": not wrong,
    }
    text = (
        f"{'WRONG' if wrong else 'ok'}: {sampler.world_size} ranks, "
        f"{sampler.dataset_size - len(missing):,} samples dealt once, {sampler.consumed:,} consumed before, "
        f"{sampler.num_dropped:,} dropped, {padding:,} repeated as padding, "
        f"{' or '.join(f'{number:,}' for number in sorted(steps))} steps"
    )
    if len(again):
        text += f"\ndealt twice: {', '.join(map(str, again[:SHOWN]))}{', ...' if len(again) > SHOWN else ''}"
    if hangs:
        text += "\nranks end at different steps: those that wait hang; --remainder drop or pad makes steps equal"
    return answer, text, int(wrong)


if __name__ == "__main__":
    sys.exit(main())
