"""A planner that was away is found again as soon as it is back, by both clients."""

import asyncio
import time

from planner_server import PlannerServer
from ports import free_port
from telha.planner.v1 import plan_pb2, planner_pb2
from telha_client import AsyncClient, Client, TelhaError, Unavailable
from telha_planner.server.call import Service

KEY = "telha_abcdefghijkl_" + "s" * 43
AWAY_S = 6.0
FOUND_S = 2.5


class Planner(PlannerServer):
    """Answers every plan with an empty one, on a port that was chosen before."""

    def __init__(self, port):
        super().__init__(self._surface)
        self.settings = self.settings.model_copy(update={"port": port})

    def _surface(self):
        return [Service("telha.planner.v1.Planner", {"Plan": self._plan})]

    async def _plan(self, _raw, _call):
        return planner_pb2.PlanResponse(
            plan=plan_pb2.EvidencePlan(plan_model="v1"), window=plan_pb2.Window(valid_time_us=1, tx_time_us=2)
        )


def test_a_planner_that_was_away_is_found_at_once():
    """A5, A9: callers who kept asking while the planner was restarted need not wait for gRPC's own patience."""
    port = free_port()

    async def scenario(address):
        async with AsyncClient(address, KEY) as one:
            with Client(address, KEY) as other:

                async def both():
                    told = [one.plan("q", timeout=1), asyncio.to_thread(other.plan, "q", timeout=1)]
                    return await asyncio.gather(*told, return_exceptions=True)

                until = time.monotonic() + AWAY_S
                while time.monotonic() < until:
                    assert [type(told) for told in await both()] == [Unavailable, Unavailable]
                    await asyncio.sleep(0.1)
                with Planner(port):
                    until = time.monotonic() + FOUND_S
                    while [told for told in await both() if isinstance(told, TelhaError)]:
                        assert time.monotonic() < until
                        await asyncio.sleep(0.05)
                    assert [told.plan_model for told in await both()] == ["v1", "v1"]

    asyncio.run(scenario(f"127.0.0.1:{port}"))
