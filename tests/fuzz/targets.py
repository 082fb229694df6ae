"""Every target by name, imported when it is wanted: a tokenizer's tables take longer than a target's first second."""

import importlib

from fuzz.target import Target

MODULES = {
    "of_stream": ("frame", "record", "segment"),
    "of_json": ("json", "where"),
    "of_documents": ("markdown", "html", "plain", "conversation"),
    "of_files": ("records", "settings", "labelled-set", "embedding"),
    "of_calls": ("messages", "tokens", "rest", "headers"),
}
NAMES = tuple(name for names in MODULES.values() for name in names)


def find(name: str) -> Target:
    """The target *name*; raises `KeyError` for one that is not there."""
    module = {each: module for module, names in MODULES.items() for each in names}[name]
    targets: tuple[Target, ...] = importlib.import_module(f"fuzz.{module}").TARGETS
    return {target.name: target for target in targets}[name]
