"""The viewer on the wire: its page and files, their headers, and that they are the same for everyone."""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import httpx
import pytest
from gateway_server import Script, running
from telha_cli import up
from telha_cli.folder import Connection
from telha_gateway.viewer import files

A_TRACE = "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e99"
PAGES = ("/traces", "/traces/", f"/traces/{A_TRACE}", f"/traces/{A_TRACE}/diff/{A_TRACE}")
LINK = re.compile(r'(?:src|href)="([^"#]+)"')


@pytest.fixture(scope="module")
def web():
    with running(Script(), timeout_ms=5000) as url, httpx.Client(base_url=url) as client:
        yield client


def linked(web, path):
    """Addresses of all that the page at *path* names, as a browser resolves them."""
    page = web.get(path)
    return {str(page.url.join(link)).removeprefix(str(web.base_url).rstrip("/")) for link in LINK.findall(page.text)}


def refers(web, address):
    """Addresses of the modules that a file imports."""
    names = re.findall(r'(?:from|import)\s*\(?"\./([a-z0-9]+\.js)"', web.get(address).text)
    return {address.rsplit("/", 1)[0] + "/" + name for name in names}


@pytest.mark.parametrize("path", PAGES)
def test_every_address_is_the_page_with_its_own_links(web, path):
    """X7: a permalink opens; each link that its page holds is answered, wherever it stands."""
    answer = web.get(path)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["cache-control"] == "no-cache"
    found = linked(web, path)
    assert "/traces" in found
    assert sum(address.endswith(".js") for address in found) == 2
    assert {web.get(address).status_code for address in found} == {200}


def test_every_file_is_used_and_every_import_is_there(web):
    """X7: from the page, all files can be reached, and nothing else is asked for."""
    waiting, seen = linked(web, "/traces") - {"/traces"}, set()
    while waiting:
        address = waiting.pop()
        seen.add(address)
        waiting |= refers(web, address) - seen
    assert {address.rsplit("/", 1)[1] for address in seen} == set(files.assets())
    assert {path.name for path in files.WEB.iterdir()} == {*files.assets(), files.PAGE}


def test_the_page_may_run_and_load_only_its_own_files(web):
    """X7: no inline script or style, no foreign host; every answer says so to the browser, as the policy does."""
    for path in (*PAGES, f"/traces/assets/{files.build()}/main.js"):
        headers = web.get(path).headers
        policy = dict(part.split(" ", 1) for part in headers["content-security-policy"].split("; "))
        assert policy["default-src"] == policy["form-action"] == policy["base-uri"] == "'none'"
        assert policy["frame-ancestors"] == "'none'"
        assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-opener-policy"] == "same-origin"
    page = web.get("/traces").text
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=|<script(?![^>]+src=)|<base|//", page.replace("<!doctype", ""))
    for name, file in files.assets().items():
        text = file.content.decode()
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function", text), (
            name
        )
        assert set(re.findall(r"https?://[^\s\"']+", text)) <= {"http://www.w3.org/2000/svg"}, name


def test_files_are_kept_for_good_and_pages_asked_for_again(web):
    """X7: what never changes under its address is never asked for twice; all else by its tag."""
    address = f"/traces/assets/{files.build()}/main.js"
    answer = web.get(address, headers={"accept-encoding": "identity"})
    assert "immutable" in answer.headers["cache-control"]
    assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
    assert answer.headers["etag"].startswith('"')
    other = web.get("/traces/assets/0000000000000000/main.js")
    assert other.headers["cache-control"] == "no-cache"
    assert other.content == answer.content
    for path in (address, "/traces"):
        tag = web.get(path).headers["etag"]
        for known in (tag, f'"x", {tag}', tag.removeprefix("W/"), "*"):
            again = web.get(path, headers={"if-none-match": known})
            assert (again.status_code, again.content) == (304, b"")
        assert web.get(path, headers={"if-none-match": '"x"'}).status_code == 200


def test_files_come_packed_to_who_can_unpack(web):
    """X7: gzip where it is accepted; the bytes inside are the same, the tag is not."""
    plain = web.get("/traces", headers={"accept-encoding": "identity"})
    packed = web.get("/traces", headers={"accept-encoding": "br, gzip;q=0.5"})
    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert plain.content == packed.content
    assert plain.headers["etag"] != packed.headers["etag"]
    refused = web.get("/traces", headers={"accept-encoding": "gzip;q=0, identity"})
    assert "content-encoding" not in refused.headers


def test_head_and_options_are_answered_and_the_rest_refused(web):
    """X7: HEAD is GET without its body; what the page does not take is refused with what it does."""
    head = web.head("/traces", headers={"accept-encoding": "identity"})
    got = web.get("/traces", headers={"accept-encoding": "identity"})
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == got.headers["content-length"]
    assert web.options("/traces").headers["allow"] == "GET, HEAD, OPTIONS"
    refused = web.post("/traces", content=b"{}")
    assert refused.status_code == 405
    assert refused.headers["allow"] == "GET, HEAD, OPTIONS"
    assert refused.json()["code"] == "METHOD_NOT_ALLOWED"


@pytest.mark.parametrize(
    "path",
    [
        "/traces/assets/x/page.html",
        "/traces/assets/x/nothing.js",
        "/traces/assets/x/..%2f..%2fconfig.py",
        "/traces/assets/x/%2e%2e",
        "/traces/assets/x/main.js/more",
        "/traces/assets",
        f"/traces/{A_TRACE}/difference/{A_TRACE}",
    ],
)
def test_nothing_else_is_there(web, path):
    """X7: a name is looked up, never joined to a path; no file of the gateway can be had."""
    answer = httpx.get(httpx.URL(f"{web.base_url}".rstrip("/") + path))
    assert answer.status_code == 404
    assert answer.json()["code"] == "NOT_FOUND"


def test_a_request_is_named_and_logged_like_any_other(web):
    """A8: the request id is taken over, or made."""
    assert web.get("/traces", headers={"x-request-id": "mine-1"}).headers["x-request-id"] == "mine-1"
    assert re.fullmatch("[0-9a-f]{32}", web.get("/traces").headers["x-request-id"])


def test_the_page_is_one_for_everyone(web):
    """A6: with a key, a wrong one or none, the same bytes: nothing of any tenant is in it."""
    answers = [
        web.get("/traces", headers=headers)
        for headers in ({}, {"authorization": "Bearer telha_key"}, {"authorization": "nonsense"}, {"cookie": "a=b"})
    ]
    assert len({answer.content for answer in answers}) == 1
    assert all("set-cookie" not in answer.headers for answer in answers)


def test_without_the_viewer_there_is_no_page():
    """X7, G1: `viewer = false` leaves 404."""
    with running(Script(), viewer=False) as url:
        for path in ("/traces", f"/traces/{A_TRACE}", f"/traces/assets/{files.build()}/main.js"):
            assert httpx.get(url + path).status_code == 404
        assert httpx.post(url + "/traces").status_code == 404


def test_the_wheel_holds_every_file(tmp_path):
    """X7: what is installed has the viewer whole; no file of it grows beyond what can be read."""
    root = Path(__file__).parents[3]
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    subprocess.run(build, cwd=root, check=True, capture_output=True, timeout=120)
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        held = {Path(name).name for name in wheel.namelist() if "/viewer/web/" in name}
    assert held == {*files.assets(), files.PAGE}
    assert all(len(file.content.splitlines()) < 400 for file in files.assets().values())


@pytest.mark.parametrize("served", [True, False])
def test_the_banner_names_it_where_it_is(served, tmp_path, capsys):
    """X7, A3: `telha up` says where the viewer is, unless there is none."""
    with running(Script(), viewer=served) as url:
        up._say(Connection("127.0.0.1:7340", url, "telha_key", 1), tmp_path, as_json=False)
    assert (f"\n  traces {url}/traces\n" in capsys.readouterr().out) is served
