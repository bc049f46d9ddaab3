"""Reading ahead, on a thread."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Generator, Iterator
from queue import SimpleQueue
from typing import Any, TypeVar

from .. import WrongTypeError
from ..engine.arguments import described

T = TypeVar("T")

_END = object()
_PATIENCE = 30
"""Seconds that the end of an iteration waits for the thread, which may be making an item."""
_running: dict[threading.Thread, SimpleQueue[bool]] = {}
"""The queue of each thread: True asks for another item, False asks the thread to end."""


def ahead(items: Iterator[T]) -> Generator[T, None, None]:
    """Gives the items, each made on a background thread while the item before it is in use.

    A forked child has no such thread: if it asks for another item, this raises a `RuntimeError`.
    """
    if not isinstance(items, Iterator):
        raise WrongTypeError("items", described(items), "an iterator")
    return _ahead(items)


def _ahead(items: Iterator[T]) -> Generator[T, None, None]:
    process = os.getpid()
    # `put` of a `SimpleQueue` is reentrant, so a finalizer may call it. Other queues and executors may deadlock.
    asked: SimpleQueue[bool] = SimpleQueue()
    made: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()
    thread = threading.Thread(target=_make, args=(items, asked, made), name="samedeal-read", daemon=True)
    _running[thread] = asked
    asked.put(True)
    thread.start()
    try:
        while True:
            item, error = made.get()
            if error is not None:
                raise error
            if item is _END:
                return
            asked.put(True)
            yield item
            if os.getpid() != process:
                raise RuntimeError("the reading is of the process that began it; begin another one after a fork")
    finally:
        _running.pop(thread, None)
        asked.put(False)
        if os.getpid() == process and thread is not threading.current_thread():
            # Waits, so that the files are closed when a caller that stops early goes on.
            thread.join(_PATIENCE)


def _make(items: Iterator[Any], asked: SimpleQueue[bool], made: SimpleQueue[tuple[Any, BaseException | None]]) -> None:
    try:
        while asked.get():
            try:
                made.put((next(items, _END), None))
            except BaseException as error:
                made.put((None, error))
    finally:
        # Closes the iterator on the thread that runs it.
        getattr(items, "close", lambda: None)()


def _end_all() -> None:
    """Ends all threads before the interpreter ends, because no thread may read then."""
    for thread, asked in list(_running.items()):
        asked.put(False)
        thread.join(_PATIENCE)


def _forget_all() -> None:
    _running.clear()


atexit.register(_end_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)
