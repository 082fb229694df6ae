"""
Remember and plan with an embedder in a process that may reach nothing but the address it is given.

Started by `test_no_network.py`, with the folder of the memory, the provider, and for `http` the endpoint's port; prints
what came of it.
"""

import json
import os
import sys
from pathlib import Path

if sys.argv[2] == "http":
    HOST, PORT = "127.0.0.1", int(sys.argv[3])

    def _refuse(event: str, arguments: tuple) -> None:
        if event in {"socket.getaddrinfo", "socket.gethostbyname"} and arguments[0] in {HOST, HOST.encode()}:
            return
        if event == "socket.connect" and arguments[1] == (HOST, PORT):
            return
        if event in {"socket.getaddrinfo", "socket.gethostbyname", "socket.connect", "socket.sendto"}:
            os.write(2, f"{event} {arguments[1:]} beyond the endpoint\n".encode())
            os._exit(3)

    sys.addaudithook(_refuse)
else:
    import cut_network  # noqa: F401 importing it is what cuts

from planner_parts import parts_in, texts_of
from telha_planner.config import EmbeddingSettings
from telha_planner.models.embedders.opening import opened

told = {"provider": sys.argv[2]}
if sys.argv[2] == "http":
    told |= {"url": f"http://{HOST}:{PORT}/v1/embeddings", "model": "words/1", "dimensions": 64}
parts = parts_in(Path(sys.argv[1]), embedder=opened(EmbeddingSettings.model_validate(told)))
parts.remember("ferry.md", "# Ferry\n\nThe last boat to the island leaves at eleven.\n\nIt carries sheep.\n")
parts.remember("soup.md", "# Soup\n\nOnions are fried in butter.\n")
plan = parts.plan("A que horas parte o barco para a ilha? The last boat to the island leaves at eleven.").plan
answer = {
    "plan": texts_of(plan.spans),
    "vector": plan.stats.recall.legs.vector,
    "skipped": plan.stats.recall.vector_leg_skipped,
}
print(json.dumps(answer))  # noqa: T201 the answer to the process that started this one
