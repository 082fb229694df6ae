import math

import pytest
from telha_planner import resolution
from telha_planner.caller import Caller
from telha_planner.config import ContextSettings, PlannerConfig, PlannerSettings, ServerSettings, TokenSettings
from telha_planner.core.errors import PermissionDenied, RequestInvalid, VectorLegUnavailable
from telha_planner.core.request import Leg, PlanRequest, Window
from telha_planner.models.embedders.seam import Model
from telha_planner.models.tokenizers import Tokenizers

CONFIG = PlannerConfig()
TOKENIZERS = Tokenizers(TokenSettings())
NOW = 1_800_000_000_000_000
LAST_TX = 1_790_000_000_000_000


def a_caller(spaces: tuple[str, ...] | None = None) -> Caller:
    return Caller(tenant=1, tenant_name="acme", key_id="k", rights=frozenset({"read"}), spaces=spaces)


def limits_of(request: PlanRequest, surface: resolution.Surface | None = None) -> resolution.Limits:
    return resolution.resolve_limits(request, surface or resolution.plan_surface(CONFIG), CONFIG, TOKENIZERS)


def query_of(request: PlanRequest, caller: Caller | None = None):
    window = resolution.resolve_window(request.window, LAST_TX, NOW)
    return resolution.resolve_recall(request, limits_of(request), caller or a_caller(), CONFIG, window)


def test_plan_defaults_to_the_configured_budget_and_has_no_ceiling():
    """C8: Plan and Select default to planner.default_budget, without ceiling but the context window."""
    assert limits_of(PlanRequest(question="q")).budget(estimated=False).applied == 6000
    assert limits_of(PlanRequest(question="q", max_tokens=1_000_000)).budget(estimated=False).applied == 1_000_000


def test_context_clamps_both_limits_to_its_ceilings_and_reports_what_was_asked():
    """C7, C8: over a ceiling is clamped and reported, never an error."""
    surface = resolution.context_surface(CONFIG)
    limits = limits_of(PlanRequest(question="q", max_tokens=100_000, max_spans=1000), surface)
    assert (limits.budget(estimated=False).requested, limits.budget(estimated=False).applied) == (100_000, 8192)
    assert limits.max_spans == 64
    assert limits_of(PlanRequest(question="q"), surface).max_spans == 64
    assert limits_of(PlanRequest(question="q", max_spans=0), surface).max_spans == 64
    assert limits_of(PlanRequest(question="q"), surface).budget(estimated=False).applied == 2000


def test_an_unknown_model_is_estimated_and_a_known_one_halves_its_window():
    """T1, T2, T4: unknown model → estimate, flagged; known window → B ≤ window // 2."""
    unknown = limits_of(PlanRequest(question="q", model="nobody-knows-it"))
    assert unknown.encoding == resolution.ESTIMATE
    assert unknown.budget(estimated=True).applied == math.floor(6000 * 0.9)
    known = limits_of(PlanRequest(question="q", model="gpt-4", max_tokens=1_000_000))
    assert known.encoding == "cl100k_base"
    assert known.context_window is not None
    assert known.budget(estimated=False).applied == known.context_window // 2


def test_the_transaction_time_never_passes_the_last_commit():
    """R3: tx_t = min(asked, last_tx); valid_t defaults to max(now, tx_t)."""
    assert resolution.resolve_window(Window(), LAST_TX, NOW) == (NOW, LAST_TX)
    assert resolution.resolve_window(Window(None, LAST_TX + 5), LAST_TX, NOW) == (NOW, LAST_TX)
    assert resolution.resolve_window(Window(-7, 3), LAST_TX, NOW) == (-7, 3)
    assert resolution.resolve_window(Window(), NOW + 9, NOW) == (NOW + 9, NOW + 9)


def test_legs_follow_from_the_request_unless_they_are_named():
    """R1: an implied semantic leg is skipped and reported; a named one without a vector fails."""
    implied = query_of(PlanRequest(question="q"))
    assert implied.legs == {Leg.LEXICAL}
    assert implied.skipped == resolution.NO_EMBEDDER
    with_vector = query_of(PlanRequest(question="q", vector=(1.0, 0.0), find="passage"))
    assert with_vector.legs == set(Leg)
    assert with_vector.skipped is None
    with pytest.raises(VectorLegUnavailable):
        query_of(PlanRequest(question="q", legs=frozenset({Leg.SEMANTIC})))
    with pytest.raises(RequestInvalid, match="legs"):
        query_of(PlanRequest(question="q", legs=frozenset({Leg.STRUCTURED})))
    scored = query_of(PlanRequest(question="q", vector=(1.0,), legs=frozenset({Leg.LEXICAL})))
    assert scored.vector is not None  # the leg finds nothing, the vector still scores (R2)


def test_spaces_come_from_the_key():
    """M7: none named = the key's spaces, or main; a space outside the key is refused."""
    assert query_of(PlanRequest(question="q")).spaces == ("main",)
    assert query_of(PlanRequest(question="q", spaces=("*",))).spaces is None
    limited = a_caller(("a", "b"))
    assert query_of(PlanRequest(question="q"), limited).spaces == ("a", "b")
    assert query_of(PlanRequest(question="q", spaces=("*",)), limited).spaces == ("a", "b")
    with pytest.raises(PermissionDenied):
        query_of(PlanRequest(question="q", spaces=("c",)), limited)


def test_the_largest_window_fits_budget_cap_and_overhead():
    """R1, S5: a window that could never be packed is not offered."""
    limits = limits_of(PlanRequest(question="q", max_tokens=1000, max_frac_per_source=0.4, span_overhead_tokens=7))
    assert limits.largest_window() == 393


def test_the_fingerprint_moves_with_every_setting_a_plan_depends_on():
    """X1: the configuration fingerprint names what a plan depends on."""
    same = resolution.fingerprint(PlannerConfig())
    assert same == resolution.fingerprint(CONFIG)
    assert same.startswith("b3:")
    for changed in (
        PlannerConfig(planner=PlannerSettings(alpha=0.7)),
        PlannerConfig(tokens=TokenSettings(default_encoding="cl100k_base")),
        PlannerConfig(context=ContextSettings(max_tokens_ceiling=9000)),
        PlannerConfig(context=ContextSettings(max_spans_ceiling=63)),
        PlannerConfig(context=ContextSettings(default_max_tokens=1999)),
    ):
        assert resolution.fingerprint(changed) != same
    embedded = [
        resolution.fingerprint(CONFIG, model)
        for model in (None, Model("m", 3, 0.1), Model("m@2", 3, 0.1), Model("m", 4, 0.1), Model("m", 3, 0.2))
    ]
    assert len(set(embedded)) == 5
    elsewhere = PlannerConfig(context=ContextSettings(trace=False), server=ServerSettings(port=1))
    assert resolution.fingerprint(elsewhere) == same
