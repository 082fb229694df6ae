"""
The gRPC listener: one port or unix socket, with health, reflection, limits, TLS and a graceful end.

Rule 1: a port that is taken is an error, never shared silently. Rule 2: at the end health says NOT_SERVING first, while
calls are still answered for `drain_notice_ms`, so that balancers and clients can go elsewhere; then new calls are
refused as `Draining`, and calls in flight have `drain_ms` to finish. Rule 3: connections end at a certain age, each at
an instant of its own and without harm to its calls, so that a balancer can spread them anew.
"""

import asyncio
import contextlib
import errno
import socket
import ssl
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from telha_planner.config import ServerSettings

from .admission import Admission
from .call import Endpoint, InFlight, Service
from .holders import Holders
from .meters import Meters

MAX_STREAMS_PER_CONNECTION = 256
MAX_METADATA_BYTES = 16_384
MIN_PING_INTERVAL_MS = 5_000
"""grpc-go pings every 10 s at its fastest, give or take; a stricter server would end its connections."""
UNREAD_BYTES = 65_535
"""What a client may send of a message that nobody reads yet: the window of HTTP/2, which is not to grow by itself."""
CONNECTION_GRACE_MS = 3_600_000
"""What calls under way on a connection that has come of age have to end: as long as the longest deadline by default."""
KEEPALIVE_MS = 60_000
KEEPALIVE_TIMEOUT_MS = 20_000
MAX_UNIX_PATH_BYTES = 107
STOP_S = 0.1
"""What is left to streams (health watches) once every call of ours is answered."""


class ListenFailed(Exception):
    """The listener cannot start; the message is one sentence for the operator."""


class PortBusy(ListenFailed):
    """Another process listens on the address."""


class Listener:
    """
    Serves *services* until it is drained.

    Args:
        admission: Decides which calls may bring their message; of its own if None.

    Attributes:
        address: Where clients reach it, with the real port, once started.
    """

    def __init__(
        self, settings: ServerSettings, services: Sequence[Service], meters: Meters, admission: Admission | None = None
    ) -> None:
        self._settings = settings
        self._admission = admission or Admission(settings, Holders(), None)
        self._meters = meters
        self._in_flight = InFlight()
        self._health = health.aio.HealthServicer()  # type: ignore[attr-defined]  # the stubs lack aio
        self._server = grpc.aio.server(options=_options(settings))
        self.address = ""
        names = [service.name for service in services]
        self._names = [*names, health.SERVICE_NAME]
        for service in services:
            self._register(service)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        reflection.enable_server_reflection([*self._names, reflection.SERVICE_NAME], self._server)

    @property
    def in_flight(self) -> int:
        """Calls that are being answered."""
        return self._in_flight.count

    async def start(self) -> str:
        """
        Bind and serve.

        Returns:
            The address, such as `127.0.0.1:7340` or `unix:/run/telha.sock`.

        Raises:
            PortBusy: Another process has the address.
            ListenFailed: The address or the TLS files cannot be used.
        """
        asked = address_of(self._settings)
        credentials = _credentials(self._settings)
        _refuse_taken_socket(asked)
        try:
            if credentials is None:
                port = self._server.add_insecure_port(asked)
            else:
                port = self._server.add_secure_port(asked, credentials)
        except RuntimeError as fault:
            raise _bind_failure(asked, fault) from None
        host, separator, _ = asked.rpartition(":")
        self.address = asked if asked.startswith("unix:") else f"{host}{separator}{port}"
        for name in self._names:
            await self._health.set(name, health_pb2.HealthCheckResponse.SERVING)
        await self._server.start()
        return self.address

    async def drain(self) -> None:
        """Give notice, refuse new calls, let calls in flight finish within `drain_ms`, then stop."""
        await self._health.enter_graceful_shutdown()
        await asyncio.sleep(self._settings.drain_notice_ms / 1000)
        self._in_flight.draining = True
        grace = self._settings.drain_ms / 1000
        # The transport cancels calls that it has not handed over when it stops; so it stops when there are none left.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(grace):
                await self._in_flight.until_idle()
        await self._server.stop(min(STOP_S, grace))

    def _register(self, service: Service) -> None:
        # A method of one message is served as a stream of one: else gRPC would buffer it before asking anybody.
        names = (*service.methods, *service.streams)
        handlers = {name: grpc.stream_unary_rpc_method_handler(self._endpoint(service, name)) for name in names}
        self._server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service.name, handlers),))

    def _endpoint(self, service: Service, method: str) -> Any:  # noqa: ANN401 (the stubs know no generic handlers)
        endpoint = Endpoint(
            service,
            method,
            default_deadline_s=self._settings.default_deadline_ms / 1000,
            max_message_bytes=self._settings.max_message_bytes,
            in_flight=self._in_flight,
            meters=self._meters,
            admission=self._admission,
        )
        return endpoint.__call__  # gRPC looks whether it is a coroutine function, which an object is not


def address_of(settings: ServerSettings) -> str:
    """The address to bind: `host` alone if it is `unix:…`, else host and port."""
    if settings.host.startswith("unix:"):
        return settings.host
    host = f"[{settings.host}]" if ":" in settings.host and not settings.host.startswith("[") else settings.host
    return f"{host}:{settings.port}"


def _options(settings: ServerSettings) -> list[tuple[str, Any]]:
    age: list[tuple[str, Any]] = []
    if settings.max_connection_age_ms:
        age.append(("grpc.max_connection_age_ms", settings.max_connection_age_ms))
        age.append(("grpc.max_connection_age_grace_ms", CONNECTION_GRACE_MS))
    return [
        *age,
        ("grpc.http2.bdp_probe", 0),
        ("grpc.http2.lookahead_bytes", UNREAD_BYTES),
        ("grpc.max_receive_message_length", settings.max_read_bytes),
        ("grpc.max_send_message_length", settings.max_message_bytes),
        ("grpc.max_metadata_size", MAX_METADATA_BYTES),
        ("grpc.max_concurrent_streams", MAX_STREAMS_PER_CONNECTION),
        ("grpc.so_reuseport", 0),
        ("grpc.keepalive_time_ms", KEEPALIVE_MS),
        ("grpc.keepalive_timeout_ms", KEEPALIVE_TIMEOUT_MS),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.min_ping_interval_without_data_ms", MIN_PING_INTERVAL_MS),
        ("grpc.http2.min_recv_ping_interval_without_data_ms", MIN_PING_INTERVAL_MS),
    ]


def _credentials(settings: ServerSettings) -> grpc.ServerCredentials | None:
    certificate, key, authority = settings.tls_certificate, settings.tls_key, settings.tls_client_authority
    if certificate is None or key is None:
        return None
    _check_tls_files(certificate, key, authority)
    return grpc.ssl_server_credentials(
        [(key.read_bytes(), certificate.read_bytes())],
        root_certificates=authority.read_bytes() if authority else None,
        require_client_auth=authority is not None,
    )


def _check_tls_files(certificate: Path, key: Path, authority: Path | None) -> None:
    # gRPC reports a bad file as "failed to bind"; the standard library says which one and why.
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key)
        if authority is not None:
            ssl.create_default_context(cafile=str(authority))
    except (OSError, ssl.SSLError) as fault:
        files = ", ".join(str(path) for path in (certificate, key, authority) if path)
        raise ListenFailed(f"the TLS files ({files}) cannot be used: {fault}.") from None


def _refuse_taken_socket(address: str) -> None:
    # gRPC removes an existing socket file before it binds, even under a living server.
    if not address.startswith("unix:"):
        return
    path = address.removeprefix("unix:").removeprefix("//")
    if len(path.encode()) > MAX_UNIX_PATH_BYTES:
        raise ListenFailed(f"the socket path {path} is longer than the {MAX_UNIX_PATH_BYTES} bytes a socket may have.")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe, contextlib.suppress(OSError):
        probe.connect(path)
        raise PortBusy(f"another process listens on {address}.")


def _bind_failure(address: str, fault: RuntimeError) -> ListenFailed:
    if not address.startswith("unix:"):
        host, _, port = address.rpartition(":")
        family = socket.AF_INET6 if host.startswith("[") else socket.AF_INET
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host.strip("[]"), int(port)))
            except OSError as cause:
                if cause.errno == errno.EADDRINUSE:
                    return PortBusy(f"port {port} on {host} is in use; choose another with server.port.")
                return ListenFailed(f"cannot listen on {address}: {cause.strerror}.")
    return ListenFailed(f"cannot listen on {address}: {fault}.")
