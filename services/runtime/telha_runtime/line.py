"""
A waiting line that is fair: between tenants first, and between the keys of a tenant then.

Rule 1: a line that is full makes room for who holds least of it: the newest of whoever holds most is pushed out, or the
newcomer itself is refused if it is that one. So a lone caller may have the whole line, and nobody can keep others out.
Rule 2: next is who has been served least, in seconds of service: tenants that ask for much or for what takes long get
the same time as the others, not the same number of turns. Who comes after a pause has no credit from it.

The order is start-time fair queueing (each turn begins at the virtual time of its holder), the pushing out that of
longest-queue drop. Used by one thread at a time; it knows no clock and no lock.
"""

from collections import deque
from collections.abc import Hashable, Iterable
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")

_IDLE_KEPT = 256
"""Holders that do not wait whose time is looked through at the earliest when there are more."""


class Holder(NamedTuple):
    """Who waits: *key* is one of the keys of *tenant*."""

    tenant: Hashable
    key: Hashable


class _Turns:
    """Who of several is next, by the time that each was served."""

    def __init__(self) -> None:
        self._served: dict[Hashable, float] = {}
        self._now = 0.0

    def arrive(self, name: Hashable) -> None:
        self._served[name] = max(self._served.get(name, 0.0), self._now)

    def next(self, waiting: Iterable[Hashable]) -> Hashable:
        name = min(waiting, key=lambda name: self._served.get(name, 0.0))
        self._now = max(self._now, self._served.get(name, 0.0))
        return name

    def spend(self, name: Hashable, seconds: float) -> None:
        self._served[name] = self._served.get(name, self._now) + seconds

    def forget_idle(self, waiting: Iterable[Hashable]) -> None:
        if len(self._served) > _IDLE_KEPT:
            kept = set(waiting)
            self._served = {name: at for name, at in self._served.items() if at > self._now or name in kept}


class _Waiting(Generic[T]):
    """What waits of one tenant, by key."""

    def __init__(self) -> None:
        self.by_key: dict[Hashable, deque[tuple[T, bool]]] = {}
        self.turns = _Turns()
        self.bounded = 0


class FairLine(Generic[T]):
    """Items of holders, waiting to be served."""

    def __init__(self) -> None:
        self._bounded = 0
        self._tenants: dict[Hashable, _Waiting[T]] = {}
        self._turns = _Turns()

    def __len__(self) -> int:
        return sum(len(items) for waiting in self._tenants.values() for items in waiting.by_key.values())

    @property
    def bounded(self) -> int:
        """Items that wait and count."""
        return self._bounded

    def admits(self, holder: Holder, most: int) -> bool:
        """Whether an item of *holder* would be let in, at whoever's cost."""
        return self._bounded < most or self._loser(holder) is not None

    def push(self, holder: Holder, item: T, most: int | None) -> T | None:
        """
        Let *item* wait.

        Args:
            most: Items that may wait, this one included; with None it does not count and is never pushed out.

        Returns:
            The item that had to go for it, perhaps *item* itself; None if there was room.
        """
        gone: T | None = None
        bounded = most is not None
        if most is not None and self._bounded >= most:
            loser = self._loser(holder)
            if loser is None:
                return item
            gone = self._push_out(loser)
        waiting = self._tenants.get(holder.tenant)
        if waiting is None:
            waiting = self._tenants[holder.tenant] = _Waiting()
            self._turns.arrive(holder.tenant)
        items = waiting.by_key.get(holder.key)
        if items is None:
            items = waiting.by_key[holder.key] = deque()
            waiting.turns.arrive(holder.key)
        items.append((item, bounded))
        self._count(waiting, bounded)
        return gone

    def pop(self) -> tuple[Holder, T] | None:
        """Who is next, and with what; None if nobody waits."""
        if not self._tenants:
            return None
        tenant = self._turns.next(self._tenants)
        waiting = self._tenants[tenant]
        key = waiting.turns.next(waiting.by_key)
        item, bounded = waiting.by_key[key].popleft()
        holder = Holder(tenant, key)
        self._count(waiting, -bounded)
        self._tidy(holder)
        self._turns.forget_idle(self._tenants)
        return holder, item

    def served(self, holder: Holder, seconds: float) -> None:
        """*holder* was served for *seconds*."""
        self._turns.spend(holder.tenant, seconds)
        waiting = self._tenants.get(holder.tenant)
        if waiting is not None:
            waiting.turns.spend(holder.key, seconds)
            waiting.turns.forget_idle(waiting.by_key)

    def remove(self, holder: Holder, item: T) -> bool:
        """Take *item* of *holder* out, if it still waits."""
        waiting = self._tenants.get(holder.tenant)
        items = None if waiting is None else waiting.by_key.get(holder.key)
        if waiting is None or items is None:
            return False
        for place, (found, bounded) in enumerate(items):
            if found is item:
                del items[place]
                self._count(waiting, -bounded)
                self._tidy(holder)
                return True
        return False

    def _loser(self, holder: Holder) -> Holder | None:
        """Who has to make room for *holder*; None if that is *holder* itself."""
        own = self._tenants.get(holder.tenant)
        tenant = max(self._tenants, key=lambda name: self._tenants[name].bounded, default=None)
        if tenant is not None and self._tenants[tenant].bounded > (0 if own is None else own.bounded) + 1:
            return Holder(tenant, _largest(self._tenants[tenant]))
        if own is None:
            return None
        key = _largest(own)
        held = _bounded(own.by_key.get(holder.key, ()))
        return Holder(holder.tenant, key) if _bounded(own.by_key[key]) > held + 1 else None

    def _push_out(self, loser: Holder) -> T:
        waiting = self._tenants[loser.tenant]
        items = waiting.by_key[loser.key]
        place = max(index for index, (_, bounded) in enumerate(items) if bounded)
        item, _ = items[place]
        del items[place]
        self._count(waiting, -1)
        self._tidy(loser)
        return item

    def _count(self, waiting: _Waiting[T], change: int) -> None:
        waiting.bounded += change
        self._bounded += change

    def _tidy(self, holder: Holder) -> None:
        waiting = self._tenants[holder.tenant]
        if not waiting.by_key[holder.key]:
            del waiting.by_key[holder.key]
            if not waiting.by_key:
                del self._tenants[holder.tenant]


def _bounded(items: Iterable[tuple[T, bool]]) -> int:
    return sum(bounded for _, bounded in items)


def _largest(waiting: _Waiting[T]) -> Hashable:
    return max(waiting.by_key, key=lambda key: _bounded(waiting.by_key[key]))
