"""Where a list goes on: a token for the client, and back."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from minutero.domain import page_token
from minutero.service.walk import Position


@dataclass(frozen=True, slots=True)
class Pages:
    """The pages of one list under one set of filters, as a client asked for them; `secret` is read when a
    token is met.

    A token also holds the end of the list, in milliseconds: what dies while somebody pages through the dead
    is on none of the pages.
    """

    name: str
    filters: Mapping[str, str]
    secret: Callable[[], bytes]

    def token(self, following: Position | None, end: int) -> str | None:
        """The token of the next page, None at the end."""
        if following is None:
            return None
        return page_token.sign(
            [following.part, following.after, end], self._bound_to(), self.secret()
        )

    def read(self, token: str | None) -> tuple[Position | None, int | None]:
        """Where a token's page begins and the list ends; None without one.

        Raises InvalidInput (`invalid_next_token`).
        """
        if token is None:
            return None, None
        part, after, end = page_token.read(token, self._bound_to(), self.secret())
        return Position(part, after), end

    def _bound_to(self) -> Mapping[str, str]:
        return {"list": self.name, **{f".{name}": text for name, text in self.filters.items()}}
