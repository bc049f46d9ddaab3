"""What ends a test that hangs."""

HANG = 1800
"""Seconds. It tells a process that will never end from one on a machine that has much else to do, and nothing else: how
long the work takes is measured by the benchmarks."""
