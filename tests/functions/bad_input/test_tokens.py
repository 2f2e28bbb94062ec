"""Page tokens that are not ours, or not of this query."""

import pytest
from bad_values import LATER, SOON, query


@pytest.fixture
def listing(http):
    """Three tasks, a task a page; asks for a page."""
    for _ in range(3):
        http("POST", "/tasks", {"job": "echo", "run_at": SOON})

    def ask(token=None, path="/tasks", **more):
        asked = {"from_": SOON, "to": LATER, "limit": 1, **more}
        if token is not None:
            asked["next_token"] = token
        return http("GET", f"{path}?{query(**asked)}")

    return ask


@pytest.fixture
def token(listing):
    """That of the second page."""
    status, page = listing()
    assert (status, len(page["tasks"])) == (200, 1)
    return page["next_token"]


def altered(token):
    """The token with one character changed: at both ends and between."""
    for at in (0, 1, len(token) // 2, len(token) - 2, len(token) - 1):
        yield token[:at] + ("A" if token[at] != "A" else "B") + token[at + 1 :]


def foreign(token):
    yield from ("", "AAAA", "null", "0", "A" * 1_024, "x" * 5_000, "é", "\x00", "\ud800", "[]")
    yield from (token[:-1], token + "A", token + "=", token.swapcase(), f" {token}", token * 2)
    yield from altered(token)


def test_a_token_that_is_not_ours_is_refused_and_never_read_as_the_first_page(listing, token):
    for bad in foreign(token):
        status, told = listing(bad)
        assert status == 400, repr(bad)[:60]
        error = told["error"]
        assert (error["code"], error["field"]) == ("invalid_next_token", "next_token")
        assert "leave it out" in error["message"]
    assert listing(token)[0] == 200


@pytest.mark.parametrize(
    "other",
    [
        {"job": "echo"},
        {"status": "scheduled"},
        {"to": SOON[:-1] + ".500Z"},
        {"path": "/dead"},
    ],
    ids=str,
)
def test_a_token_of_another_query_is_refused(listing, token, other):
    status, told = listing(token, **other)
    assert (status, told["error"]["code"]) == (400, "invalid_next_token")


def test_the_limit_is_no_part_of_the_query(listing, token):
    status, page = listing(token, limit=2)
    assert (status, len(page["tasks"])) == (200, 2)


def test_a_token_of_another_deployment_is_refused(listing, token, monkeypatch):
    from minutero.service.entries import Api

    monkeypatch.setattr(Api, "signing_secret", lambda api: b"of another deployment")
    status, told = listing(token)
    assert (status, told["error"]["code"]) == (400, "invalid_next_token")


def test_a_redrive_takes_only_its_own_tokens(http, token):
    for bad in [*foreign(token), token, 5, True, []]:
        if bad == "\ud800":
            continue
        status, told = http("POST", "/dead/redrive", {"next_token": bad})
        assert (status, told["error"]["code"]) == (400, "invalid_next_token"), repr(bad)[:60]
