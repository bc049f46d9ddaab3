"""Deals an epoch while it is read, so that fast readers do not wait for slow ones.

Readers claim runs of positions from a *log* that they share, and commit the runs that they have read. Every position is
committed once, even if readers die. `Replay` gives the same samples again, from the log.
"""

from ..generated.ledger import CommittedRun, Event
from .binding import Progress
from .folder import FolderLog
from .ledger import Claim, Ledger
from .log import FileLog, Log, MemoryLog, copy_log
from .replay import Replay

__all__ = [
    "Claim",
    "CommittedRun",
    "Event",
    "FileLog",
    "FolderLog",
    "Ledger",
    "Log",
    "MemoryLog",
    "Progress",
    "Replay",
    "copy_log",
]
