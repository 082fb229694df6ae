"""R7, M5: an artifact changes plans only while it is there."""

from uuid import UUID

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from planner_parts import Clock, parts_over
from telha_planner.core.model import SpanClass
from telha_planner.core.request import Window
from telha_planner.ingest.artifact import ArtifactInput, record

WORDS = ["tram", "harbour", "berth", "你好", "港口", "שלום", "מזח", "🧑‍🚀", "🚋", "café"]
SENTENCES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
DOCUMENTS = st.lists(st.lists(SENTENCES, min_size=1, max_size=4).map("\n\n".join), min_size=1, max_size=4)
ARTIFACTS = st.lists(st.tuples(SENTENCES, st.integers(0, 3)), min_size=1, max_size=4)


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=DOCUMENTS, artifacts=ARTIFACTS, question=SENTENCES, by_origin=st.booleans())
def test_a_plan_without_its_artifacts_is_as_if_they_had_never_been(
    new_store_url, texts, artifacts, question, by_origin
):
    """R7, M5: after their erasure a plan is bit for bit that of a memory that never held them."""
    plans = []
    for with_artifacts in (False, True):
        clock = Clock()
        parts = parts_over(new_store_url(), clock=clock)
        tenant = parts.planning.caller(parts.key()).tenant
        notes = parts.remember("notes.md", "Of this the artifacts are made.")
        for index, text in enumerate(texts):
            clock.now = 1_790_000_000_000_000 + index * 1_000_000_000
            parts.remember(f"{index}.md", text)
        if with_artifacts:
            made = [
                record(ArtifactInput(UUID(int=7 + index).bytes, "main", f"a{copies}", text, (notes.bytes,), None))
                for index, (text, copies) in enumerate(artifacts)
            ]
            parts.writer.put_artifacts(tenant, made)
            held = parts.plan(question, max_tokens=400).plan
            assert all(
                (span.span_class is SpanClass.CACHE) == (UUID(bytes=span.span.source_id).int < 100)
                for span in held.spans
            )
            if not by_origin:
                for artifact in made:
                    parts.writer.erase_source(tenant, artifact.document.source_id)
        receipt = parts.writer.erase_source(tenant, notes.bytes)
        assert receipt.artifacts == (len(artifacts) if with_artifacts and by_origin else 0)
        window = Window(valid_time=1_800_000_000_000_000)
        plans.append(parts.plan(question, max_tokens=400, window=window).plan)
        parts.close()
    assert plans[0].spans == plans[1].spans
    assert plans[0].plan_hash == plans[1].plan_hash
