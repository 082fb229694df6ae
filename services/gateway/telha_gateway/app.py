"""
The ASGI application: every operation behind one door that answers, refuses and logs in one way.

Rule 1: whatever happens, the caller gets JSON of a known shape and the request id; the viewer alone is a page.
Rule 2: questions, texts and credentials are not logged.
Rule 3: paths are matched as they were sent, so that a name in a path may hold any character, percent-encoded.
"""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from typing import Any, cast
from uuid import uuid4

import msgspec
import structlog
from litestar import Litestar, Request, Response
from litestar.datastructures import State
from litestar.enums import ScopeType
from litestar.exceptions import HTTPException, MethodNotAllowedException
from litestar.handlers import HTTPRouteHandler
from litestar.types import HTTPScope, LifeSpanReceive, LifeSpanScope, LifeSpanSend, Receive, Scope, Send

from telha_gateway import openapi, parameters, problems
from telha_gateway.config import GatewaySettings
from telha_gateway.drain import Drain
from telha_gateway.exchange import Exchange
from telha_gateway.faults import RequestFault
from telha_gateway.operations import Operation
from telha_gateway.problems import Failure, Refused
from telha_gateway.room import Room
from telha_gateway.routes import administration, memory, planning, system, traces
from telha_gateway.upstream import ClientGone, Upstream
from telha_gateway.viewer import site

_LOG = structlog.get_logger(__name__)
_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_HEADERS = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
_PATH_PARAMETER = re.compile(r"\{([a-z]+)\}")
_CLIENT_CLOSED = 499
"""Status in the log for a caller that left; nobody receives it."""

_STOPPING = Failure(503, "UNAVAILABLE", "the gateway is stopping; try again", retry_after_ms=1000)

AnyRequest = Request[Any, Any, Any]
Handler = Callable[[AnyRequest], Awaitable[Response[bytes]]]


async def _contract(_: Exchange) -> bytes:
    return _DOCUMENT


OPERATIONS: tuple[Operation, ...] = (
    *planning.OPERATIONS,
    *memory.OPERATIONS,
    *traces.OPERATIONS,
    *administration.OPERATIONS,
    *system.OPERATIONS,
    Operation(
        method="GET",
        path="/openapi.json",
        id="openapi",
        tag="System",
        summary="This document",
        run=_contract,
        secured=False,
    ),
)
_DOCUMENT = openapi.document(OPERATIONS)


class _Gateway(Litestar):
    """Litestar, routing by the path as it was sent."""

    async def __call__(
        self, scope: Scope | LifeSpanScope, receive: Receive | LifeSpanReceive, send: Send | LifeSpanSend
    ) -> None:
        if scope["type"] == ScopeType.HTTP:
            request = cast("HTTPScope", scope)
            request["path"] = request["raw_path"].decode("latin-1")
        await super().__call__(scope, receive, send)


def create(
    settings: GatewaySettings,
    connect: Callable[[GatewaySettings], Upstream] = Upstream,
    drain: Drain | None = None,
) -> Litestar:
    """
    The application.

    Args:
        settings: Of the gateway.
        connect: Makes the way to the planner, inside the running loop.
        drain: Says when the end is near; None is never.
    """
    ending = drain or Drain()

    async def start(app: Litestar) -> None:
        app.state.upstream = connect(settings)

    async def stop(app: Litestar) -> None:
        await cast("Upstream", app.state.upstream).close()

    room = Room(settings.max_held_bytes)
    paths = dict.fromkeys(operation.path for operation in OPERATIONS)
    return _Gateway(
        route_handlers=[
            *(_route(path, settings, room, ending) for path in paths),
            *(site.routes(_request_id, ending) if settings.viewer else ()),
        ],
        on_startup=[start],
        on_shutdown=[stop],
        exception_handlers={HTTPException: _unrouted, Exception: _unrouted},
        openapi_config=None,
        logging_config=None,
        request_max_body_size=None,  # `Exchange` reads the body itself
        debug=False,
        pdb_on_exception=False,
        state=State(),
    )


def _route(path: str, settings: GatewaySettings, room: Room, drain: Drain) -> HTTPRouteHandler:
    operations = {operation.method: operation for operation in OPERATIONS if operation.path == path}
    if "GET" in operations:
        operations["HEAD"] = operations["GET"]  # uvicorn sends the head alone

    async def handle(request: AnyRequest) -> Response[bytes]:
        if request.method == "OPTIONS":
            headers = {**_HEADERS, "allow": ", ".join(_methods(path)), "x-request-id": _request_id(request)}
            return Response(b"", status_code=204, headers=headers)
        operation = operations[request.method]
        started = time.perf_counter()
        exchange = Exchange(
            request.scope,
            request.receive,
            settings,
            cast("Upstream", request.app.state.upstream),
            room,
            drain,
            _request_id(request),
            timeout_ms=settings.upload_timeout_ms if operation.raw_types else settings.timeout_ms,
        )
        try:
            response = await _answer(operation, exchange)
        finally:
            exchange.close()
        if drain.announced:
            response.set_header("connection", "close")
        _LOG.info(
            "request",
            operation=operation.id,
            status=response.status_code,
            ms=round((time.perf_counter() - started) * 1000, 1),
            request_id=exchange.request_id,
            trace_id=exchange.trace_id or None,
        )
        return response

    methods = [*operations, "OPTIONS"]
    return HTTPRouteHandler(_PATH_PARAMETER.sub(r"{\1:str}", path), http_method=cast("Any", methods), status_code=200)(
        handle
    )


async def _answer(operation: Operation, exchange: Exchange) -> Response[bytes]:
    try:
        if operation.media_type == "application/json":
            exchange.need_taste_for_json()
        if operation.secured:
            exchange.need_credential()
            if operation.parameters is None:
                exchange.parameters(parameters.Nothing)
        answer = await operation.run(exchange)
    except RequestFault as fault:
        return _refusal(problems.of_fault(fault, operation.code), exchange.request_id)
    except Refused as refused:
        exchange.trace_id = refused.failure.trace_id
        return _refusal(refused.failure, exchange.request_id)
    except asyncio.CancelledError:
        # Only the end of a drain cancels a request; its caller can still be told.
        return _refusal(_STOPPING, exchange.request_id)
    except ClientGone:
        return Response(b"", status_code=_CLIENT_CLOSED, media_type="text/plain")
    except Exception:  # noqa: BLE001  # the outermost door: whatever is wrong with us ends here, logged
        _LOG.exception("failed", operation=operation.id, request_id=exchange.request_id)
        return _refusal(problems.internal(), exchange.request_id)
    content = answer if isinstance(answer, bytes) else msgspec.json.encode(answer)
    headers = {**_HEADERS, "x-request-id": exchange.request_id}
    return Response(content, status_code=200, media_type=operation.media_type, headers=headers)


def _unrouted(request: AnyRequest, error: Exception) -> Response[bytes]:
    """Answer for what never reached an operation: no such path, no such method, or a fault of the framework."""
    request_id = _request_id(request)
    if isinstance(error, MethodNotAllowedException):
        allowed = ", ".join(_methods(request.scope["path"]))
        detail = f"the path takes {allowed}"
        failure = Failure(405, "METHOD_NOT_ALLOWED", detail, headers={"allow": allowed})
    elif isinstance(error, HTTPException) and error.status_code == 404:
        failure = Failure(404, "NOT_FOUND", "no such path; /openapi.json lists them")
    else:
        _LOG.error("failed", request_id=request_id, exc_info=error)
        failure = problems.internal()
    _LOG.info("request", operation=None, status=failure.status, request_id=request_id)
    return _refusal(failure, request_id)


def _methods(path: str) -> list[str]:
    """What *path* takes; the framework refuses a method without saying which ones it knows."""
    known = {operation.method for operation in OPERATIONS if _matches(operation.path, path)}
    known |= {method for template in site.PATHS for method in site.METHODS if _matches(template, path)}
    return sorted(known | {"OPTIONS"} | ({"HEAD"} if "GET" in known else set()))


def _matches(template: str, path: str) -> bool:
    return re.fullmatch(_PATH_PARAMETER.sub("[^/]+", template) + "/?", path) is not None


def _refusal(failure: Failure, request_id: str) -> Response[bytes]:
    return Response(
        failure.document(request_id),
        status_code=failure.status,
        media_type=problems.MEDIA_TYPE,
        headers={**_HEADERS, **failure.all_headers(), "x-request-id": request_id},
    )


def _request_id(request: AnyRequest) -> str:
    given = request.headers.get("x-request-id", "")
    return given if _REQUEST_ID.fullmatch(given) else uuid4().hex
