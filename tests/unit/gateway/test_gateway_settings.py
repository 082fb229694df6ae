import pytest
from telha_gateway.__main__ import main
from telha_runtime.entry import EXIT_CONFIG


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[gateway]\nport = 70000\n", ("gateway.port", "70000", "65535")),
        ("[gateway]\nmax_body_bytes = 0\n", ("gateway.max_body_bytes", "0", "1024")),
        ("[gateway]\ntimeout_ms = 0\n", ("gateway.timeout_ms", "0")),
        ("[gateway]\nprot = 1\n", ("gateway.prot", "unknown")),
        ("[gatewy]\nport = 1\n", ("gatewy", "unknown")),
        ('[gateway]\nplanner_tls_key = "k"\n', ("gateway", "must be given together")),
        ('[gateway]\nplanner_tls_authority = "k"\n', ("gateway", "planner_tls = true")),
    ],
)
def test_a_wrong_setting_stops_the_start(tmp_path, capsys, text, words):
    """G1: out of range and unknown keys are refused at load with key, value and range."""
    config = tmp_path / "telha.toml"
    config.write_text(text)
    assert main(["serve", "--config", str(config)]) == EXIT_CONFIG
    errors = capsys.readouterr().err
    for word in words:
        assert word in errors
    assert "Traceback" not in errors


def test_a_missing_file_stops_the_start(tmp_path, capsys):
    """G1: a missing file stops the start."""
    assert main(["serve", "--config", str(tmp_path / "none.toml")]) == EXIT_CONFIG
    assert "none.toml" in capsys.readouterr().err
