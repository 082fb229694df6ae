"""Settings: one file, the environment over it, every fault named at once."""

import math
import re
from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict
from telha_planner.config import KIND_PRIORS, PlannerConfig, PlannerSettings
from telha_runtime.settings import SettingsInvalid, load

FOREIGN = frozenset({"writer", "gateway"})


def read(text: str, tmp_path: Path, **environ: str) -> PlannerConfig:
    path = tmp_path / "telha.toml"
    path.write_text(text, encoding="utf-8")
    return load(PlannerConfig, path, environ, foreign_sections=FOREIGN)


def faults(text: str, tmp_path: Path, **environ: str) -> tuple[str, ...]:
    with pytest.raises(SettingsInvalid) as refused:
        read(text, tmp_path, **environ)
    assert str(refused.value) == "\n".join(refused.value.faults)
    return refused.value.faults


def test_nothing_given_means_the_defaults() -> None:
    """G1: the defaults of the specification."""
    settings = load(PlannerConfig, None, {})
    assert (settings.planner.default_budget, settings.planner.max_frac_per_source) == (6000, 0.4)
    assert (settings.planner.cache_discount, settings.planner.dedup_overlap) == (0.5, 0.8)


def test_the_environment_wins_over_the_file(tmp_path: Path) -> None:
    """G1: `TELHA_SECTION__KEY`, nested by two underscores, typed as the key is."""
    settings = read(
        "[planner]\ndefault_budget = 100\nalpha = 0.25\n[trace]\nstream = 'a'",
        tmp_path,
        TELHA_PLANNER__DEFAULT_BUDGET="200",
        TELHA_PLANNER__KIND_PRIORS__HEADING="0.5",
        TELHA_PLANNER__SCORING__SHARPENING="16",
        TELHA_TRACE__INTERNAL_TOKEN="12345",
        TELHA_TRACE__SPOOL="/var/spool/telha",
        TELHA_CONTEXT__TRACE="false",
        TELHA_SERVER__TLS_KEY="",
    )
    assert settings.planner.default_budget == 200
    assert settings.planner.alpha == 0.25
    assert settings.planner.kind_priors["heading"] == 0.5
    assert settings.planner.kind_priors["cell"] == 0.8
    assert settings.planner.scoring.sharpening == 16
    assert settings.trace.internal_token == "12345"
    assert settings.trace.spool == Path("/var/spool/telha")
    assert settings.context.trace is False
    assert settings.server.tls_key is None


def test_sections_of_other_services_and_variables_of_clients_pass(tmp_path: Path) -> None:
    """G1: sections of other services and variables of clients pass."""
    settings = read(
        "[writer]\nanything = 1\n", tmp_path, TELHA_KEY="k", TELHA_ADDRESS="a", TELHA_GATEWAY__PORT="1", HOME="/"
    )
    assert settings == PlannerConfig()


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("max_frac_per_source = 1.5", "planner.max_frac_per_source = 1.5: must be greater than 0 and at most 1"),
        ("max_frac_per_source = 0.0", "planner.max_frac_per_source = 0.0: must be greater than 0 and at most 1"),
        ("max_frac_per_source = nan", "planner.max_frac_per_source = NaN: must be greater than 0 and at most 1"),
        ("max_frac_per_source = -inf", "planner.max_frac_per_source = -Infinity: must be greater than 0 and at most 1"),
        ("cache_discount = 1", "planner.cache_discount = 1: must be greater than 0 and less than 1"),
        ("cache_discount = 0", "planner.cache_discount = 0: must be greater than 0 and less than 1"),
        ("dedup_overlap = 0.5", "planner.dedup_overlap = 0.5: must be greater than 0.5 and at most 1"),
        ("dedup_overlap = 1.01", "planner.dedup_overlap = 1.01: must be greater than 0.5 and at most 1"),
        ("alpha = inf", "planner.alpha = Infinity: must be at least 0 and at most 1"),
        ("expand_depth = 3", "planner.expand_depth = 3: must be a whole number, at least 0 and at most 2"),
        ("expand_depth = true", "planner.expand_depth = true: must be a whole number, at least 0 and at most 2"),
        ("expand_depth = 1.5", "planner.expand_depth = 1.5: must be a whole number, at least 0 and at most 2"),
        ("top_k = '64'", 'planner.top_k = "64": must be a whole number, at least 1 and at most 1000'),
        ("kind_priors = {cell = 2}", "planner.kind_priors.cell = 2: must be greater than 0 and at most 1"),
        ("kind_priors = 1", "planner.kind_priors = 1: must be a table"),
        ("scoring = {sharpening = 3}", "planner.scoring.sharpening = 3: must be one of 1, 2, 4, 8, 16, 32, 64"),
    ],
)
def test_each_value_out_of_range_is_refused_with_key_value_and_range(line: str, sentence: str, tmp_path: Path) -> None:
    """G1: out of range, NaN and infinity are refused at load; nothing is clamped."""
    assert faults(f"[planner]\n{line}\n", tmp_path) == (sentence,)


def test_every_fault_is_named_at_once(tmp_path: Path) -> None:
    """G1: one start tells all that is wrong, from the file and from the environment."""
    found = faults(
        "[planner]\nalpha = 2\ndefualt_budget = 3\n[server]\nport = 70000\n[planer]\nx = 1\n",
        tmp_path,
        TELHA_PLANNER__TOP_K="0",
        TELHA_TRACE__STREEM="x",
        TELHA_WRITTER__X="x",
    )
    assert sorted(found) == [
        "TELHA_TRACE__STREEM: unknown key; did you mean TELHA_TRACE__STREAM?",
        "TELHA_WRITTER__X: unknown key; did you mean TELHA_WRITER__?",
        "planer: unknown section; did you mean planner?",
        "planner.alpha = 2: must be at least 0 and at most 1",
        "planner.defualt_budget: unknown key; did you mean planner.default_budget?",
        "planner.top_k = 0 (from TELHA_PLANNER__TOP_K): must be a whole number, at least 1 and at most 1000",
        "server.port = 70000: must be a whole number, at least 0 and at most 65535",
    ]


def test_a_variable_that_is_no_number_is_refused_as_it_was_written() -> None:
    """G1: a variable that is no number is refused as it was written."""
    with pytest.raises(SettingsInvalid) as refused:
        load(PlannerConfig, None, {"TELHA_SERVER__PORT": "http", "TELHA_PLANNER__ALPHA": "nan"})
    assert sorted(refused.value.faults) == [
        "planner.alpha = NaN (from TELHA_PLANNER__ALPHA): must be at least 0 and at most 1",
        'server.port = "http" (from TELHA_SERVER__PORT): must be a whole number, at least 0 and at most 65535',
    ]


def test_rules_between_keys_are_reported_under_their_section(tmp_path: Path) -> None:
    """G1: rules between keys are reported under their section."""
    found = faults("[context]\ndefault_max_tokens = 9000\n[server]\ntls_key = 'k'\n", tmp_path)
    assert sorted(found) == [
        "context: default_max_tokens = 9000 must be at most max_tokens_ceiling = 8192",
        "server: tls_certificate and tls_key must be given together",
    ]


def test_what_a_table_lacks_is_named(tmp_path: Path) -> None:
    """G1: what a table lacks is named."""
    assert faults("[tokens.models.mine]\nencoding = 'o200k_base'\n", tmp_path) == (
        "tokens.models.mine.context_window: is required",
    )


def test_a_credential_is_never_shown(tmp_path: Path) -> None:
    """G1: a credential is never shown."""
    found = faults("[trace]\ninternal_token = 4711\nredis_url = 4712\n", tmp_path)
    assert len(found) == 2
    assert not any("471" in sentence for sentence in found)


class Guest(BaseModel):
    """Reads one key of a section that another service owns."""

    model_config = ConfigDict(extra="ignore")
    stream: str = ""


class GuestConfig(BaseModel):
    """Has one section of its own and one as a guest."""

    trace: Guest = Guest()


def test_a_guest_of_a_section_lets_its_owners_keys_pass(tmp_path: Path) -> None:
    """G1: a guest of a section lets its owner's keys pass."""
    path = tmp_path / "telha.toml"
    path.write_text("[trace]\nstream = 's'\nspool = 'x'\n")
    environ = {"TELHA_TRACE__SPOOL_MAX_MB": "1"}
    assert load(GuestConfig, path, environ).trace.stream == "s"
    with pytest.raises(SettingsInvalid, match="TELHA_TRCE__X: unknown key"):
        load(GuestConfig, path, {"TELHA_TRCE__X": "1"} | environ, foreign_sections=frozenset({"trace"}))


def test_broken_toml_names_its_line(tmp_path: Path) -> None:
    """G1: broken toml names its line."""
    (sentence,) = faults("[planner]\nalpha = = 1\n", tmp_path)
    assert "telha.toml is not valid TOML" in sentence
    assert "line 2" in sentence


def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    """G1: a file that cannot be read is one sentence."""
    for path, cause in ((tmp_path / "absent.toml", "No such file"), (tmp_path, "directory")):
        with pytest.raises(SettingsInvalid, match=cause):
            load(PlannerConfig, path, {})
    broken = tmp_path / "latin.toml"
    broken.write_bytes(b"# caf\xe9")
    with pytest.raises(SettingsInvalid, match="byte 5 is not UTF-8"):
        load(PlannerConfig, broken, {})


def test_defaults_are_finite() -> None:
    """G1: defaults are finite."""
    assert all(math.isfinite(prior) for prior in PlannerConfig().planner.kind_priors.values())


RATIOS = {
    "planner.max_frac_per_source": (0.0, -1.0, 1.0001),
    "planner.cache_discount": (0.0, -1.0, 1.0, 1.0001),
    "planner.dedup_overlap": (0.0, -1.0, 0.5, 1.0001),
    "planner.alpha": (-1.0, -0.0001, 1.0001),
    "planner.scoring.semantic_share": (-1.0, 1.0001),
    "planner.scoring.context_weight": (-1.0, 8.0001),
    "planner.scoring.source_weight": (-1.0, 8.0001),
    "planner.scoring.speaker_weight": (-1.0, 8.0001),
    "planner.scoring.other_days_weight": (-1.0, 1.0001),
    "planner.scoring.window_weight": (-1.0, 1.0001),
    "planner.scoring.hop_decay": (0.0, -1.0, 1.0001),
    "planner.scoring.min_cosine": (-1.0, 1.0001),
    "planner.scoring.min_similarity": (-1.0, 1.0001),
    "planner.scoring.min_bm25": (-1.0, 1e7),
    "planner.scoring.form_weight": (-1.0, 1.0001),
    "planner.scoring.bm25_k1": (-1.0, 10.001),
    "planner.scoring.bm25_b": (-1.0, 1.0001),
    **{f"planner.kind_priors.{kind}": (0.0, -1.0, 1.0001) for kind in [*KIND_PRIORS, "poem"]},
}


@pytest.mark.parametrize("key", RATIOS)
@pytest.mark.parametrize("by", ["file", "environment"])
def test_no_ratio_leaves_its_range(key: str, by: str, tmp_path: Path) -> None:
    """G1: one sentence with key, value and range, for every ratio there is, wherever it was set."""
    section, name = key.rsplit(".", 1)
    for value in (*RATIOS[key], math.nan, math.inf, -math.inf):
        if by == "file":
            (sentence,) = faults(f"[{section}]\n{name} = {value}\n", tmp_path)
        else:
            with pytest.raises(SettingsInvalid) as refused:
                load(PlannerConfig, None, {f"TELHA_{key.replace('.', '__').upper()}": str(value)})
            (sentence,) = refused.value.faults
        assert re.fullmatch(rf"{re.escape(key)} = \S+( \(from TELHA_\w+\))?: must be .*(least|than).*", sentence)


def test_the_list_of_ratios_is_whole() -> None:
    """G1: a ratio that is added must be added above."""
    numbers = PlannerSettings().model_dump()
    known = {f"planner.{name}" for name, value in numbers.items() if isinstance(value, float)}
    for table in ("scoring", "kind_priors"):
        known |= {f"planner.{table}.{name}" for name, value in numbers[table].items() if isinstance(value, float)}
    assert known | {"planner.kind_priors.poem"} == set(RATIOS)
