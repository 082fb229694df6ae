"""
The end of a gateway, announced before it comes, so that no caller meets a connection that is being closed.

While it is announced, `/readyz` says 503, so that a balancer goes elsewhere, and every answer says `connection: close`,
so that callers who keep their connections open a new one for the next request.
"""


class Drain:
    """
    Whether the end is near.

    Attributes:
        announced: Set once, never reset.
    """

    def __init__(self) -> None:
        self.announced = False
