"""The client for threads and the one for event loops have the same methods, and together they reach every rpc."""

import inspect
import re

import pytest
from telha.administration.v1 import administration_pb2
from telha.context.v1 import context_pb2
from telha.memory.v1 import memory_pb2
from telha.planner.v1 import planner_pb2
from telha.trace.v1 import traces_pb2
from telha_client import administration, administration_calls, aio, requests, sync, trace_calls, uploads
from telha_gateway.routes import administration as keys_and_tenants
from telha_gateway.routes import memory, planning, traces

CLIENTS = [
    (sync.Client, aio.AsyncClient),
    (sync.Memory, aio.AsyncMemory),
    (administration.Administration, administration.AsyncAdministration),
]
FILES = (planner_pb2, context_pb2, memory_pb2, traces_pb2, administration_pb2)


def _methods(file):
    return [method for service in file.DESCRIPTOR.services_by_name.values() for method in service.methods]


def _public(kind: type) -> dict[str, list[tuple[str, object]]]:
    return {
        name: [(each.name, each.default) for each in inspect.signature(method).parameters.values()]
        for name, method in inspect.getmembers(kind, inspect.isfunction)
        if not name.startswith("_")
    }


@pytest.mark.parametrize(("one", "other"), CLIENTS, ids=lambda kind: kind.__name__)
def test_the_same_methods_with_the_same_arguments(one: type, other: type) -> None:
    """A5: what a program learns of one client holds for the other."""
    assert _public(one) == _public(other)
    assert _public(one)


@pytest.mark.parametrize("rpc", [method.name for file in FILES for method in _methods(file)])
def test_every_rpc_is_reached_from_every_surface(rpc: str) -> None:
    """A2, A5: a method that is added to the contract has a REST route and a method of the client."""
    client = "".join(map(inspect.getsource, (requests, trace_calls, administration_calls, uploads)))
    rest = "".join(map(inspect.getsource, (keys_and_tenants, memory, planning, traces)))
    assert re.search(rf"/{rpc}\"|\"{rpc}\"", client)
    assert re.search(rf"upstream\.\w+\.{rpc}\b", rest)
