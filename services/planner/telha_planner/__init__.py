"""The planner service: decides which verbatim spans an answer may use."""
