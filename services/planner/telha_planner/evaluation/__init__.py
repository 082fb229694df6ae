"""How much labelled evidence the planner puts under a budget: `telha eval`, docs/evaluation.md."""
