"""
How far planners' spools are, as they report it: what tells a trace that is on its way from one that never was.

A trace id names its spool by 16 of its bits and the instant at which it was made. Rule 1: a trace is absent only if
every spool that it can be in has settled everything of that instant. Rule 2: a spool that never reported is given a
moment to do so. Rule 3: nothing here looks at tenants, so a foreign id is answered as an absent one is.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Final, NamedTuple
from uuid import UUID

import sqlalchemy as sa

from .store import Store
from .tables import trace_spool

GRACE_US: Final = 10_000_000
"""How long a spool that nobody knows is waited for, after the id was made."""

_FORGOTTEN_US: Final = 30 * 86_400_000_000
"""A spool that did not report for so long is forgotten: its planner and its disk are gone."""

_AHEAD_US: Final = 3_600_000_000
"""No planner's clock is so far ahead; an id from beyond was not made by one."""

_UUID7: Final = 7
_TIME_AT: Final = 80
_TAG_AT: Final = 112
_TAG: Final = 0xFFFF


class Report(NamedTuple):
    """How far a spool is: everything made before *before_us* is settled; *gone*: nothing will come of it."""

    spool: str
    before_us: int
    gone: bool = False


class Spools:
    """The reports, kept in *store* so that all writers of it know them; safe in several threads."""

    def __init__(self, store: Store, now_us: Callable[[], int]) -> None:
        self._store = store
        self._now_us = now_us

    def report(self, reports: Sequence[Report]) -> None:
        """
        Remember *reports*, the latest of each spool: a clock that stepped back counts.

        Raises:
            StoreFailed: They will be reported again.
        """
        now_us = self._now_us()
        spool = trace_spool.c
        with self._store.transaction(writes=True) as connection:
            connection.execute(sa.delete(trace_spool).where(spool.reported_us < now_us - _FORGOTTEN_US))
            # In one order, so that two writers cannot block one another.
            for report in sorted(reports):
                this = spool.spool == report.spool
                if report.gone:
                    connection.execute(sa.delete(trace_spool).where(this))
                    continue
                values = {"settled_before_us": report.before_us, "reported_us": now_us}
                self._store.add(connection, trace_spool, [values | {"spool": report.spool}])
                connection.execute(sa.update(trace_spool).where(this).values(**values))

    def may_hold(self, trace_id: str, passed_by: Collection[str] = ()) -> bool:
        """
        Whether a spool may hold *trace_id*, other than those *passed_by*, in which it was looked for.

        Raises:
            StoreFailed: It cannot be told now.
        """
        number = UUID(trace_id)
        if number.version != _UUID7:
            return False  # no planner made it
        made_us = (number.int >> _TIME_AT) * 1000
        now_us = self._now_us()
        if made_us > now_us + _AHEAD_US:
            return False
        tag = number.int & _TAG
        if any(UUID(name).int >> _TAG_AT == tag for name in passed_by):
            return False
        spool = trace_spool.c
        with self._store.transaction() as connection:
            known = connection.execute(sa.select(spool.spool, spool.settled_before_us)).fetchall()
        far = [before_us for name, before_us in known if UUID(name).int >> _TAG_AT == tag]
        return min(far) <= made_us if far else made_us > now_us - GRACE_US
