"""`telha explain` takes what `telha plan` takes."""

import inspect

from telha_cli import ask, why

ALWAYS = {"explain", "allow_ungrounded"}
"""What explaining implies."""


def _options(command) -> dict[str, object]:
    return {name: (of.annotation, of.default) for name, of in inspect.signature(command).parameters.items()}


def test_explain_takes_every_option_of_plan() -> None:
    """X6, A3: the same words, helps and defaults, but for what explaining implies."""
    plan = _options(ask.plan)
    assert plan.keys() >= ALWAYS
    assert _options(why.explain) == {name: of for name, of in plan.items() if name not in ALWAYS}


def test_a_context_takes_every_option_of_plan() -> None:
    """C1, A3: but for `allow_ungrounded`, since a context may be empty."""
    context, plan = _options(ask.context), _options(ask.plan)
    assert {name for name, of in plan.items() if context.get(name) != of} == {"allow_ungrounded"}
