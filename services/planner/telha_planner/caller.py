"""Who is calling: what an API key says about tenant, spaces and rights; never taken from a request body."""

from dataclasses import dataclass

from telha_planner.core.errors import PermissionDenied, RequestInvalid
from telha_planner.core.request import ALL_SPACES

MAIN_SPACE = "main"


@dataclass(frozen=True, slots=True)
class Caller:
    """
    The scope of one call.

    Attributes:
        tenant: The tenant's number.
        rights: Of `read`, `write`, `admin`.
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
            raise PermissionDenied(right=f"the right to {right}")

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
            self._need_space(space)
        return tuple(sorted(asked))

    def writable(self, asked: str, place: str) -> str:
        """The space that a write goes to; an empty name means the key's only space, or `main`."""
        if asked:
            self._need_space(asked)
            if asked == ALL_SPACES:
                raise RequestInvalid(field=place, rule="must name one space")
            return asked
        if self.spaces is None:
            return MAIN_SPACE
        if len(self.spaces) == 1:
            return self.spaces[0]
        raise RequestInvalid(field=place, rule="is required, since the key allows several spaces")

    def _need_space(self, space: str) -> None:
        if self.spaces is not None and space not in self.spaces:
            raise PermissionDenied(right=f"the space {space}")
