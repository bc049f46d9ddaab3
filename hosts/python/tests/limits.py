"""What ends a test that hangs, and what counts the memories that are in use."""

import gc

from samedeal.engine.capi import Store

HANG = 1800
"""Seconds. It tells a process that will never end from one on a machine that has much else to do, and nothing else: how
long the work takes is measured by the benchmarks."""


def stores() -> int:
    """How many stores of the engine there are, each with the memory of an instance."""
    gc.collect()
    return sum(isinstance(thing, Store) for thing in gc.get_objects())
