"""
What the gateway itself refuses: a place in the request and the rule that it breaks.

Rule: places are RFC 6901 pointers into the JSON body; for query and path parameters, `/` and the parameter's name.
"""

MAX_POINTER_CHARS = 512
"""Longest pointer that is sent back; only an unknown field can have a longer name."""


class RequestFault(Exception):
    """
    The request breaks a rule that the gateway checks itself.

    Attributes:
        pointer: Where; empty for the body as a whole.
        rule: What the place must be, such that "the place …" is a sentence.
    """

    def __init__(self, pointer: str, rule: str) -> None:
        self.pointer = pointer if len(pointer) <= MAX_POINTER_CHARS else f"{pointer[:MAX_POINTER_CHARS]}…"
        self.rule = rule
        super().__init__(f"{self.pointer or 'the body'} {rule}")


def child(pointer: str, key: str | int) -> str:
    """The pointer to *key* below *pointer*."""
    return f"{pointer}/{str(key).replace('~', '~0').replace('/', '~1')}"
