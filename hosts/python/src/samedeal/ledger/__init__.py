"""Deals an epoch while it is read, so that fast readers do not wait for slow ones.

Readers claim runs of positions from a *log* that they share, and commit the runs that they have read. Every position is
committed once, even if readers die. The same schedule can be replayed from the log.
"""

from .._ledgering import Progress
from ..bindings.ledger import Event
from ._ledger import Claim, Ledger
from ._log import FileLog, Log, MemoryLog, copy_log
from ._schedule import Schedule

__all__ = ["Claim", "Event", "FileLog", "Ledger", "Log", "MemoryLog", "Progress", "Schedule", "copy_log"]
