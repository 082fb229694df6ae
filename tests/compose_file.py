"""docker-compose.yml and what it refers to, read as Compose reads them."""

import re
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel
from telha_gateway.config import GatewayConfig
from telha_planner.config import PlannerConfig
from telha_trace_writer.config import StoreConfig, WriterConfig

ROOT = Path(__file__).parents[1]
MODELS: dict[tuple[str, ...], tuple[type[BaseModel], ...]] = {
    ("telha-planner", "serve"): (PlannerConfig,),
    ("telha-trace-writer", "serve"): (WriterConfig,),
    ("telha-gateway", "serve"): (GatewayConfig,),
    ("telha", "migrate"): (PlannerConfig, StoreConfig),
}
"""Which settings each command of ours reads."""

_VARIABLE = re.compile(r"\$(?:(\$)|\{(\w+)(?:(:[-?])([^}]*))?\})")


def example() -> dict[str, str]:
    """The variables of .env.example."""
    lines = (ROOT / ".env.example").read_text(encoding="utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def raw() -> dict[str, Any]:
    """The file as it is written, anchors resolved."""
    return yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))


def envoy() -> dict[str, Any]:
    """The balancer's configuration."""
    return yaml.safe_load((ROOT / "deploy" / "envoy.yaml").read_text(encoding="utf-8"))


def composed(variables: dict[str, str]) -> dict[str, Any]:
    """
    The file with *variables* put in.

    Raises:
        KeyError: A variable without default is absent or empty.
    """
    return _put_in(raw(), variables)


def environment(service: dict[str, Any]) -> dict[str, str]:
    """What a container is given."""
    return {name: str(value) for name, value in service.get("environment", {}).items()}


def _put_in(value: Any, variables: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _put_in(inner, variables) for key, inner in value.items()}
    if isinstance(value, list):
        return [_put_in(inner, variables) for inner in value]
    return _VARIABLE.sub(lambda found: _value(found, variables), value) if isinstance(value, str) else value


def _value(found: re.Match[str], variables: dict[str, str]) -> str:
    dollar, name, how, words = found.groups()
    if dollar:
        return "$"
    if variables.get(name):
        return variables[name]
    if how == ":-":
        return str(words)
    raise KeyError(name)
