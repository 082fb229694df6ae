"""Who is calling: what an API key says about tenant, spaces and rights; never taken from a request body."""

from dataclasses import dataclass

from telha_planner.core.errors import PermissionDenied, RequestInvalid
from telha_planner.core.request import ALL_SPACES

MAIN_SPACE = "main"
RIGHTS = ("read", "write", "admin", "operator")
"""In the order in which they are shown; none includes another."""

_RIGHT_TO = {"read": "read", "write": "write", "admin": "administer its tenant", "operator": "operate the installation"}


@dataclass(frozen=True, slots=True)
class Caller:
    """
    The scope of one call.

    Attributes:
        tenant: The tenant's number.
        rights: Of `RIGHTS`.
        spaces: Spaces the key is limited to, sorted; None is unlimited.
    """

    tenant: int
    tenant_name: str
    key_id: str
    rights: frozenset[str]
    spaces: tuple[str, ...] | None

    def need(self, right: str) -> None:
        """Refuse a caller without *right*."""
        if right not in self.rights:
            raise PermissionDenied(right=f"the right to {_RIGHT_TO[right]}")

    def readable(self, asked: tuple[str, ...]) -> tuple[str, ...] | None:
        """
        The spaces that a read may see; None means every space of the tenant.

        Raises:
            PermissionDenied: The key does not allow a space that was named.
        """
        if not asked:
            return self.spaces or (MAIN_SPACE,)
        if asked == (ALL_SPACES,):
            return self.spaces
        for space in asked:
            self.need_space(space)
        return tuple(sorted(asked))

    def writable(self, asked: str, place: str) -> str:
        """The space that a write goes to; an empty name means the key's only space, or `main`."""
        if asked:
            self.need_space(asked)
            if asked == ALL_SPACES:
                raise RequestInvalid(field=place, rule="must name one space")
            return asked
        if self.spaces is None:
            return MAIN_SPACE
        if len(self.spaces) == 1:
            return self.spaces[0]
        raise RequestInvalid(field=place, rule="is required, since the key allows several spaces")

    def need_space(self, space: str) -> None:
        """Refuse a space that the key does not allow, whether or not it exists."""
        if self.spaces is not None and space not in self.spaces:
            raise PermissionDenied(right=f"the space {space}")
