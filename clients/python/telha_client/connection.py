"""How both clients reach the planner: address, key, TLS, channel options, and when a call may be repeated."""

import hashlib
import os
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import grpc

from .errors import TelhaError

DEFAULT_ADDRESS = "127.0.0.1:7340"
DEFAULT_TIMEOUT_S = 30.0
MAX_MESSAGE_BYTES = 64 * 1024 * 1024
"""Largest answer that is read; the server's own limit is what decides."""
ATTEMPTS = 4
UNTOUCHED = frozenset({"OVERLOADED", "RATE_LIMITED", "DRAINING"})
"""Reasons with which the server refuses before any work: after them even a write may be repeated."""

BY_TURNS = '{"loadBalancingConfig": [{"round_robin": {}}], "healthCheckConfig": {"serviceName": ""}}'
"""For several addresses: they are asked by turns, and one that says that it drains is asked no more."""

OPTIONS: tuple[tuple[str, str | int], ...] = (
    ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
    # No policy: gRPC repeats by itself only what no server has seen, such as a call on a connection that just ended.
    ("grpc.enable_retries", 1),
    # Of itself gRPC waits for up to two minutes before it looks for a server again that was away for a while.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1000),
)

_LOOPBACK = re.compile(r"(127\.\d+\.\d+\.\d+|localhost|\[::1\])(:\d+)?|unix:.*")
_SEVERAL = (
    ("ipv4", re.compile(r"(?:\d+\.\d+\.\d+\.\d+|localhost):\d+")),
    ("ipv6", re.compile(r"\[[0-9a-fA-F:.]+\]:\d+")),
)
_KEY = re.compile(r"[!-~]+")
_KEY_ID = re.compile(r"telha_([a-z2-7]{12})_")

AFFINITY = "x-telha-affinity"
"""What a balancer before several planners hashes on: calls with one value go to one planner, which grants nothing."""
_AFFINITY = re.compile(r"[!-~]{1,255}")
_AFFINITY_DIGITS = 16


@dataclass(frozen=True, slots=True)
class Tls:
    """
    TLS to the planner.

    Attributes:
        root: PEM file of the authority that signed the server; None is gRPC's own list.
        certificate, key: PEM files of this client, for mutual TLS.
    """

    root: Path | None = None
    certificate: Path | None = None
    key: Path | None = None

    def credentials(self) -> grpc.ChannelCredentials:
        """What gRPC needs; raises `OSError` for a file that cannot be read."""
        return grpc.ssl_channel_credentials(
            root_certificates=self.root.read_bytes() if self.root else None,
            private_key=self.key.read_bytes() if self.key else None,
            certificate_chain=self.certificate.read_bytes() if self.certificate else None,
        )


@dataclass(frozen=True, slots=True)
class Target:
    """
    Where to call, as whom, and for how long.

    Attributes:
        metadata: The credential and the affinity, as gRPC metadata.
        timeout: Seconds for one call, repetitions included.
    """

    address: str
    metadata: tuple[tuple[str, str], ...]
    tls: Tls | None
    timeout: float

    def __repr__(self) -> str:
        return f"<Target {self.address}{' with TLS' if self.tls else ''}>"


def target(
    address: str | None,
    key: str | None,
    tls: Tls | None,
    timeout: float,
    environ: Mapping[str, str] = os.environ,
    *,
    affinity: str | None = None,
) -> Target:
    """
    Settle where to call; arguments win over `TELHA_ADDRESS` and `TELHA_KEY`.

    Without an *affinity* it is a hash of the key's id, so that one key stays with one planner.

    Raises:
        ValueError: There is no key, it cannot be a key, *affinity* or several addresses cannot be used, or the timeout
            is not above 0.
    """
    key = key or environ.get("TELHA_KEY")
    if not key:
        raise ValueError("an API key is required: give key, or set TELHA_KEY")
    if not _KEY.fullmatch(key):
        raise ValueError("the API key holds characters that no key has")
    if not timeout > 0:
        raise ValueError("timeout must be above 0 seconds")
    if affinity is not None and not _AFFINITY.fullmatch(affinity):
        raise ValueError("affinity must be 1 to 255 visible ASCII characters")
    address = address or environ.get("TELHA_ADDRESS") or DEFAULT_ADDRESS
    channel_target(address)
    metadata = [("authorization", f"Bearer {key}")]
    affinity = affinity or _affinity_of(key)
    if affinity:
        metadata.append((AFFINITY, affinity))
    return Target(address, tuple(metadata), tls, timeout)


def _affinity_of(key: str) -> str:
    """A hash of the key's id; empty for a key whose id cannot be told from its secret."""
    found = _KEY_ID.match(key)
    return hashlib.sha256(found[1].encode()).hexdigest()[:_AFFINITY_DIGITS] if found else ""


def channel_options(address: str) -> tuple[tuple[str, str | int], ...]:
    """Options of a channel to *address*; a proxy of the environment has no say on the way to this very machine."""
    each = address.split(",")
    options = (*OPTIONS, ("grpc.service_config", BY_TURNS)) if len(each) > 1 else OPTIONS
    return (*options, ("grpc.enable_http_proxy", 0)) if all(map(_LOOPBACK.fullmatch, each)) else options


def channel_target(address: str) -> str:
    """
    *address* as gRPC takes it: several of one kind, with commas between, are one target.

    Raises:
        ValueError: Several addresses that are not all IP addresses with ports.
    """
    each = address.split(",")
    if len(each) == 1:
        return address
    for scheme, pattern in _SEVERAL:
        if all(map(pattern.fullmatch, each)):
            return f"{scheme}:{address.replace('localhost', '127.0.0.1')}"
    raise ValueError("of several addresses each must be an IP address with a port, all of one kind; else give one name")


def opened_channel(target: Target) -> grpc.Channel:
    """A channel for synchronous calls; raises `OSError` for a TLS file that cannot be read."""
    options = channel_options(target.address)
    if target.tls is None:
        return grpc.insecure_channel(channel_target(target.address), options=options)
    return grpc.secure_channel(channel_target(target.address), target.tls.credentials(), options=options)


def pause_before_repeating(error: TelhaError, *, repeatable: bool, attempt: int, left: float) -> float | None:
    """
    Seconds to wait before the call is repeated, or None if it must not be.

    Args:
        error: Why it failed.
        repeatable: It writes nothing.
        attempt: Attempts made, from 1.
        left: Seconds until the call's deadline.
    """
    if error.retry_after is None or attempt >= ATTEMPTS:
        return None
    if not repeatable and error.reason not in UNTOUCHED:
        return None
    # Waiting callers must not come back all at once, and each time a little later.
    pause = error.retry_after * attempt * random.uniform(1.0, 1.5)  # noqa: S311 not a secret
    return pause if pause < left else None
