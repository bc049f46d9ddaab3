"""An epoch whose readers take as they come: where some are slower than others, no reader idles.

Readers claim runs of an epoch's positions from a *log* that they share, and commit what they have read. Every position
is committed once although readers die; and from the log the very same schedule is replayed.
"""

from ..bindings.ledger import Event
from .binding import Progress
from .ledger import Claim, Ledger
from .log import FileLog, Log, MemoryLog, copy_log
from .schedule import Schedule

__all__ = ["Claim", "Event", "FileLog", "Ledger", "Log", "MemoryLog", "Progress", "Schedule", "copy_log"]
