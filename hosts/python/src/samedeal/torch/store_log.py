"""The log of a ledger in PyTorch's own key-value store."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

from .. import OutOfRangeError, WrongTypeError
from ..engine import arguments as check

_AT_ONCE = 1024
"""How many entries are read at a time."""
_CHECKPOINT = '{"event":"checkpoint",'
"""The beginning of a checkpoint."""
_LONGEST_NAME = 1024
"""The most bytes of a name."""


class StoreLog:
    """A log in a `torch.distributed.Store` that all readers reach, such as a `TCPStore`.

    The log ends with the store. To keep it, use `samedeal.ledger.copy_log(log, FileLog(path))`; to continue it in a new
    store, copy it back. Each process makes its own client of the store, as usual.
    """

    def __init__(self, store: Any, name: str = "samedeal/ledger") -> None:
        """Makes no request.

        Args:
            store: A store that has `compare_set`: a `TCPStore`, a `FileStore`, a `HashStore`, or a `PrefixStore` of one
                of these.
            name: The prefix of the keys of this log. Use another name for each epoch.

        Raises:
            WrongTypeError: The store has no `compare_set`, or the name is no string.
            OutOfRangeError: The name is longer than 1,024 bytes, or is no valid UTF-8.
        """
        if not all(hasattr(store, method) for method in ("compare_set", "multi_get", "check", "add", "get", "set")):
            raise WrongTypeError("store", check.described(store), "a torch.distributed.Store, such as a TCPStore")
        self._store = store
        self._name = _checked(name)

    def read(self, start: int) -> Sequence[str]:
        """The entries from number `start` on, or the first ones of them."""
        # The log may have more entries than `count`: a process may have ended after it wrote one, before it counted it.
        count = self._store.add(f"{self._name}/count", 0)
        keys = [self._key(number) for number in range(start, min(count, start + _AT_ONCE))]
        if not keys and self._store.check([self._key(start)]):
            keys = [self._key(start)]
        return [_entry(value) for value in self._store.multi_get(keys)] if keys else []

    def append(self, number: int, entry: str) -> bool:
        """Appends the entry if it becomes entry number `number`. Returns whether it did."""
        if number > 0 and not self._store.check([self._key(number - 1)]):
            return False
        # Two readers may write the same entry: a random mark says which of them wrote it.
        value = f"{entry}\n{uuid.uuid4().hex}"
        if self._store.compare_set(self._key(number), "", value).decode() != value:
            return False
        self._store.add(f"{self._name}/count", 1)
        if entry.startswith(_CHECKPOINT):
            # A late process may set an earlier checkpoint here. Readers then start from it, which costs only time.
            self._store.set(f"{self._name}/checkpoint", str(number))
        return True

    def last_checkpoint(self) -> str | None:
        """The last checkpoint that is known, if there is one."""
        place = f"{self._name}/checkpoint"
        if not self._store.check([place]):
            return None
        return _entry(self._store.get(self._key(int(self._store.get(place)))))

    def _key(self, number: int) -> str:
        return f"{self._name}/{number}"


def _checked(name: Any) -> str:
    """The name, checked and not cut: two names that were cut to the same one would share a log."""
    if not isinstance(name, str):
        raise WrongTypeError("name", check.described(name), "a name")
    size = len(check.encoded("name", name))
    if size > _LONGEST_NAME:
        raise OutOfRangeError("name", f"of {size} bytes", f"up to {_LONGEST_NAME} bytes")
    return name


def _entry(value: bytes) -> str:
    text: str = value.decode(errors="replace")
    return text.rpartition("\n")[0]
