"""A time limit for tests that hang, and a counter of memories in use."""

import gc

from samedeal.engine.capi import Store

HANG = 1800
"""Seconds after which a process counts as hung. The limit is generous, because the machine may be busy; benchmarks
measure the time of the work."""


def stores() -> int:
    """Number of stores of the engine, each of which has the memory of an instance."""
    gc.collect()
    return sum(isinstance(thing, Store) for thing in gc.get_objects())
