"""
The viewer on the wire: a page for each address of the viewer, and the files that it is made of.

Rule 1: everything here is public and the same for everyone. What a trace says comes from the REST surface, with the
key that a person gives to the page.
Rule 2: the page runs nothing and loads nothing but these files, and talks to nobody but this gateway; the headers say
so to the browser.
"""

import re
import time
from collections.abc import Callable
from typing import Any, cast

import structlog
from litestar import Request, Response
from litestar.exceptions import NotFoundException
from litestar.handlers import HTTPRouteHandler

from telha_gateway.drain import Drain
from telha_gateway.viewer import files
from telha_gateway.viewer.files import File

_LOG = structlog.get_logger(__name__)

PAGES = ("/traces", "/traces/{id}", "/traces/{id}/diff/{other}")
"""Addresses that a person may keep; each is answered with the page, which reads its own address."""
ASSET = "/traces/assets/{build}/{name}"
PATHS = (*PAGES, ASSET)
METHODS = ("GET", "HEAD", "OPTIONS")

_MAY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "connect-src": "'self'",
    "img-src": "'self'",
    "form-action": "'none'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
    "require-trusted-types-for": "'script'",
    "trusted-types": "'none'",
}
POLICY = "; ".join(f"{what} {where}" for what, where in _MAY.items())
"""Content security policy; trusted types forbid the page to make markup out of text."""

HEADERS = {
    "content-security-policy": POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
_TAKES_GZIP = re.compile(r"(?:^|,)\s*gzip\s*(?:,|$|;(?!\s*q=0(?:\.0*)?\s*(?:,|$)))")
_FOR_GOOD = "public, max-age=31536000, immutable"
_ASK_AGAIN = "no-cache"

AnyRequest = Request[Any, Any, Any]
Found = tuple[File, str]
"""A file, and how long a browser may keep it."""


def routes(request_id: Callable[[AnyRequest], str], drain: Drain) -> list[HTTPRouteHandler]:
    """
    The viewer's routes.

    Args:
        request_id: Names a request, as everywhere in the gateway.
        drain: Says when the end is near.
    """

    def route(path: str, operation: str, find: Callable[[AnyRequest], Found]) -> HTTPRouteHandler:
        async def handle(request: AnyRequest) -> Response[bytes]:
            started = time.perf_counter()
            response = _answer(request, find)
            response.set_header("x-request-id", request_id(request))
            if drain.announced:
                response.set_header("connection", "close")
            _LOG.info(
                "request",
                operation=operation,
                status=response.status_code,
                ms=round((time.perf_counter() - started) * 1000, 1),
                request_id=response.headers["x-request-id"],
            )
            return response

        template = path.replace("}", ":str}")
        return HTTPRouteHandler(template, http_method=cast("Any", list(METHODS)), status_code=200)(handle)

    return [*(route(path, "viewer", _page) for path in PAGES), route(ASSET, "viewerFile", _asset)]


def _page(request: AnyRequest) -> Found:
    sent = request.scope["raw_path"]  # the router drops a slash at the end, which links go by
    return files.page(sent.count(b"/") - 1), _ASK_AGAIN


def _asset(request: AnyRequest) -> Found:
    file = files.assets().get(request.path_params["name"])
    if file is None:
        raise NotFoundException
    # The page of another version, as there may be while gateways are replaced, gets what there is and keeps it not.
    return file, _FOR_GOOD if request.path_params["build"] == files.build() else _ASK_AGAIN


def _answer(request: AnyRequest, find: Callable[[AnyRequest], Found]) -> Response[bytes]:
    if request.method == "OPTIONS":
        return Response(b"", status_code=204, headers={**HEADERS, "allow": ", ".join(sorted(METHODS))})
    file, keep = find(request)
    tag = f'"{file.tag}"'
    headers = {**HEADERS, "cache-control": keep, "etag": tag, "vary": "accept-encoding"}
    known = request.headers.get("if-none-match", "")
    if known == "*" or tag in (each.strip().removeprefix("W/") for each in known.split(",")):
        return Response(b"", status_code=304, headers=headers, media_type=file.media_type)
    packed = _TAKES_GZIP.search(request.headers.get("accept-encoding", "")) is not None
    if packed:
        headers |= {"content-encoding": "gzip", "etag": f'W/"{file.tag}"'}
    content = file.packed if packed else file.content
    return Response(content, status_code=200, headers=headers, media_type=file.media_type)
