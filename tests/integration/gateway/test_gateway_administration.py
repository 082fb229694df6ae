"""Keys, tenants and removal over REST: every field there and back, every refusal in its place."""

import grpc
import httpx
import pytest
from gateway_server import Script, running
from planner_server import RealPlanner
from rest_contract import check
from telha.administration.v1 import administration_pb2 as pb
from telha.memory.v1 import memory_pb2

ID = "0197a3f2-7c1e-7d7b-9a53-2f0c3b7f9e10"
KEY = pb.ApiKey(
    key_id="abcdefghijkl",
    tenant="acme",
    name="agent",
    rights=[pb.RIGHT_READ, pb.RIGHT_ADMIN],
    spaces=["a"],
    created_us=1,
    expires_us=2,
    revoked_us=3,
)
KEY_JSON = {
    "keyId": "abcdefghijkl",
    "tenant": "acme",
    "name": "agent",
    "rights": ["read", "admin"],
    "spaces": ["a"],
    "created": 1,
    "expires": 2,
    "revoked": 3,
}
REMOVED = pb.Removed(sources=1, versions=2, spans=3, nodes=4, edges=5, clarifications=6, vectors=7)
REMOVED_JSON = {
    "sources": 1,
    "versions": 2,
    "spans": 3,
    "nodes": 4,
    "edges": 5,
    "clarifications": 6,
    "vectors": 7,
}
DELETION = pb.Deletion(deletion_id=ID, tenant="acme", deleted_us=9, removed=REMOVED, keys=8, rows=36)
DELETION_JSON = {
    "deletionId": ID,
    "tenant": "acme",
    "deleted": 9,
    "removed": REMOVED_JSON,
    "keys": 8,
    "rows": 36,
}


def test_a_key_is_made_and_shown_once(rest, script):
    """A6: what is asked for, and what may be shown of it."""
    script.answers["CreateKey"] = pb.CreateKeyResponse(key="telha_k", api_key=KEY)
    body = {
        "tenant": "acme",
        "name": "agent",
        "rights": ["read", "admin"],
        "spaces": ["a"],
        "expires": "2026-06-01T00:00:00Z",
    }
    assert rest.post("/v1/keys", json=body).json() == {"key": "telha_k", "apiKey": KEY_JSON}
    assert script.asked["CreateKey"] == pb.CreateKeyRequest(
        tenant="acme",
        name="agent",
        rights=[pb.RIGHT_READ, pb.RIGHT_ADMIN],
        spaces=["a"],
        expires_us=1780272000000000,
    )


def test_what_is_absent_is_left_out(rest, script):
    """A2: an unlimited key that never ends has no field for either."""
    plain = pb.ApiKey(key_id="abcdefghijkl", tenant="acme", name="agent", rights=[99], created_us=1)
    script.answers["RevokeKey"] = pb.RevokeKeyResponse(api_key=plain)
    answer = rest.delete("/v1/keys/abcdefghijkl").json()
    assert answer == {"keyId": "abcdefghijkl", "tenant": "acme", "name": "agent", "rights": ["unknown"], "created": 1}
    assert script.asked["RevokeKey"].key_id == "abcdefghijkl"


def test_lists_go_page_by_page(rest, script):
    """X4, A2: keys, tenants and receipts by opaque token."""
    script.answers["ListKeys"] = pb.ListKeysResponse(keys=[KEY], next_page_token="t2")
    answer = rest.get("/v1/keys", params={"tenant": "acme", "pageSize": 1, "pageToken": "t1"})
    assert answer.json() == {"keys": [KEY_JSON], "nextPageToken": "t2"}
    assert script.asked["ListKeys"] == pb.ListKeysRequest(tenant="acme", page_size=1, page_token="t1")
    script.answers["ListTenants"] = pb.ListTenantsResponse(
        tenants=[pb.Tenant(name="a"), pb.Tenant(name="b", last_tx_us=5)]
    )
    assert rest.get("/v1/tenants").json() == {"tenants": [{"name": "a"}, {"name": "b", "lastTx": 5}]}
    script.answers["ListDeletions"] = pb.ListDeletionsResponse(deletions=[DELETION], next_page_token="t")
    answer = rest.get("/v1/deletions?pageSize=1").json()
    assert answer == {"deletions": [DELETION_JSON], "nextPageToken": "t"}


def test_a_tenant_is_made_and_goes_with_a_receipt(rest, script):
    """M5: names in the path are the caller's own; the receipt can be read again."""
    script.answers["CreateTenant"] = pb.CreateTenantResponse(tenant=pb.Tenant(name="a/b c"), created=True)
    answer = rest.post("/v1/tenants", json={"name": "a/b c"}).json()
    assert answer == {"tenant": {"name": "a/b c"}, "created": True}
    script.answers["DeleteTenant"] = pb.DeleteTenantResponse(deletion=DELETION)
    assert rest.delete("/v1/tenants/a%2Fb%20c").json() == DELETION_JSON
    assert script.asked["DeleteTenant"].tenant == "a/b c"
    script.answers["GetDeletion"] = pb.GetDeletionResponse(
        deletion=pb.Deletion(deletion_id=ID, tenant="acme", deleted_us=9, removed=REMOVED, keys=8, rows=36, traces=0)
    )
    assert rest.get(f"/v1/deletions/{ID}").json() == {**DELETION_JSON, "traces": 0}


def test_a_space_goes_with_a_receipt(rest, script):
    """M5: by its name, whatever characters it has."""
    script.answers["EraseSpace"] = pb.EraseSpaceResponse(space="事", tx_us=5, removed=REMOVED)
    answer = rest.delete("/v1/spaces/%E4%BA%8B").json()
    assert answer == {"space": "事", "txTime": 5, "removed": REMOVED_JSON}
    assert script.asked["EraseSpace"].space == "事"


@pytest.mark.parametrize(
    ("method", "path", "body", "field", "pointer"),
    [
        ("POST", "/v1/keys", {"name": "x", "rights": ["read"]}, "rights[0]", "/rights/0"),
        ("POST", "/v1/keys", {"name": "x", "rights": ["read"]}, "expires_us", "/expires"),
        ("DELETE", "/v1/keys/x", None, "key_id", "/id"),
        ("DELETE", "/v1/tenants/x", None, "tenant", "/name"),
        ("GET", "/v1/deletions/x", None, "deletion_id", "/id"),
        ("DELETE", "/v1/spaces/x", None, "space", "/space"),
        (
            "POST",
            "/v1/memory/artifacts",
            {"artifacts": []},
            "artifacts[1].derived_from[0]",
            "/artifacts/1/derivedFrom/0",
        ),
        ("POST", "/v1/memory/reembed", {}, "cursor", "/cursor"),
        ("POST", "/v1/memory/nodes", {"nodes": []}, "idempotency_key", "/Idempotency-Key"),
    ],
)
def test_refusals_are_in_rest_words(rest, script, method, path, body, field, pointer):
    """A2, C7: the planner's field is a place in the REST request."""
    script.fail(grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST", field=field, rule="must be better")
    answer = rest.request(method, path, json=body)
    assert (answer.status_code, answer.json()["pointer"]) == (400, pointer)


@pytest.mark.parametrize(
    ("method", "path", "body", "rpc", "answer"),
    [
        ("POST", "sources", {"documents": []}, "Ingest", memory_pb2.IngestResponse(replayed=True)),
        ("POST", "nodes", {"nodes": []}, "PutNodes", memory_pb2.PutNodesResponse(replayed=True)),
        ("POST", "edges", {"edges": []}, "PutEdges", memory_pb2.PutEdgesResponse(replayed=True)),
        (
            "POST",
            "clarifications",
            {"clarifications": []},
            "PutClarifications",
            memory_pb2.PutClarificationsResponse(replayed=True),
        ),
        ("POST", "artifacts", {"artifacts": []}, "PutArtifacts", memory_pb2.PutArtifactsResponse(replayed=True)),
        ("DELETE", f"sources/{ID}", None, "EraseSource", memory_pb2.EraseSourceResponse(source_id=ID, replayed=True)),
    ],
)
def test_every_write_can_be_sent_again(rest, script, method, path, body, rpc, answer):
    """M8: the header reaches the planner, and a stored answer says that it is one."""
    script.answers[rpc] = answer
    headers = {"idempotency-key": "2026-06-01/17"}
    assert rest.request(method, f"/v1/memory/{path}", json=body, headers=headers).json()["replayed"] is True
    assert script.asked[rpc].idempotency_key == "2026-06-01/17"
    assert rest.request(method, f"/v1/memory/{path}", json=body, headers={"idempotency-key": ""}).status_code == 400


def test_an_artifact_goes_all_the_way(rest, script):
    """M3: each field, there and back."""
    script.answers["PutArtifacts"] = memory_pb2.PutArtifactsResponse(
        artifacts=[
            memory_pb2.WrittenArtifact(artifact_id=ID, source_version_tx=7, outcome=memory_pb2.INGEST_OUTCOME_UPDATED)
        ],
        tx_us=7,
    )
    artifact = {"artifactId": ID, "space": "s", "name": "n", "text": "短い", "derivedFrom": [ID], "validFrom": 5}
    assert rest.post("/v1/memory/artifacts", json={"artifacts": [artifact]}).json() == {
        "artifacts": [{"artifactId": ID, "sourceVersionTx": 7, "outcome": "updated"}],
        "txTime": 7,
    }
    assert script.asked["PutArtifacts"].artifacts[0] == memory_pb2.Artifact(
        artifact_id=ID, space="s", name="n", text="短い", derived_from=[ID], valid_from_us=5
    )


def test_a_move_to_another_model_is_told_step_by_step(rest, script):
    """M8: repeat with the cursor until it is finished."""
    script.answers["Reembed"] = memory_pb2.ReembedResponse(model="m", embedded=2, left=5, next_cursor="c")
    answer = rest.post("/v1/memory/reembed", json={}).json()
    assert answer == {"model": "m", "embedded": 2, "left": 5, "nextCursor": "c", "finished": False}
    script.answers["Reembed"] = memory_pb2.ReembedResponse(model="m", finished=True, tx_us=9)
    answer = rest.post("/v1/memory/reembed", json={"cursor": "c"}).json()
    assert answer == {"model": "m", "embedded": 0, "finished": True, "txTime": 9}
    assert script.asked["Reembed"].cursor == "c"


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """A real planner behind a real gateway: its base URL and the planner."""
    with (
        RealPlanner(tmp_path_factory.mktemp("administration")) as planner,
        running(Script(), planner=planner.address) as url,
    ):
        yield url, planner


def as_key(url, key):
    headers = {"authorization": f"Bearer {key}"}
    return httpx.Client(base_url=url, headers=headers, timeout=60, event_hooks={"response": [check]})


def test_a_tenants_whole_life_over_rest(real):
    """A6, M5: made, given a key, written to, a space erased, the key ended, deleted, and its receipt read."""
    url, planner = real
    with as_key(url, planner.key("operations", rights=("operator",))) as operator:
        assert operator.post("/v1/tenants", json={"name": "guest/事"}).json()["created"] is True
        body = {"tenant": "guest/事", "name": "agent", "rights": ["read", "write", "admin"]}
        made = operator.post("/v1/keys", json=body).json()
        with as_key(url, made["key"]) as guest:
            documents = [{"name": f"{space}.md", "text": "Der Zug hält.", "space": space} for space in ("a", "b/c")]
            assert guest.post("/v1/memory/sources", json={"documents": documents}).status_code == 200
            erased = guest.delete("/v1/spaces/b%2Fc").json()
            assert erased["removed"]["sources"] == 1
            listed = guest.get("/v1/memory/sources", params={"spaces": "*"}).json()["sources"]
            assert [source["space"] for source in listed] == ["a"]
            assert guest.get("/v1/tenants").status_code == 403
            ended = guest.delete(f"/v1/keys/{made['apiKey']['keyId']}").json()
            assert ended["revoked"] > 0
            assert guest.get("/v1/memory/sources").status_code == 401
        receipt = operator.delete("/v1/tenants/guest%2F%E4%BA%8B").json()
        assert receipt["tenant"] == "guest/事"
        assert operator.get(f"/v1/deletions/{receipt['deletionId']}").json()["removed"] == receipt["removed"]
        assert operator.delete("/v1/tenants/guest%2F%E4%BA%8B").status_code == 404
