import base64

import pytest

from minutero.domain.page_token import LONGEST, read, sign
from minutero.errors import InvalidInput

SECRET = b"s" * 32
QUERY = {"list": "tasks", ".from": "2026-11-29T20:21:00Z"}
POSITION = [1_764_447_660_000, "07#1AGkX6bEABZzQ-5v7V8XyZ0123abc#0001", 0]


def test_a_token_gives_the_position_it_was_made_of():
    token = sign(POSITION, QUERY, SECRET)
    assert read(token, QUERY, SECRET) == POSITION
    assert len(token) < LONGEST / 4


@pytest.mark.parametrize(
    ("query", "secret"),
    [
        ({**QUERY, ".from": "2026-11-29T20:22:00Z"}, SECRET),
        ({**QUERY, ".status": "dead"}, SECRET),
        ({"list": "dead", ".from": QUERY[".from"]}, SECRET),
        ({}, SECRET),
        (QUERY, b"t" * 32),
        (QUERY, b""),
    ],
)
def test_a_token_of_another_query_or_deployment_is_refused(query, secret):
    with pytest.raises(InvalidInput, match="none of this query's"):
        read(sign(POSITION, QUERY, SECRET), query, secret)


def test_a_token_changed_cut_or_lengthened_is_refused():
    token = sign(POSITION, QUERY, SECRET)
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    changed = [
        token[:at] + other + token[at + 1 :]
        for at in (0, len(token) // 2, len(token) - 1)
        for other in alphabet
        if other != token[at]
    ]
    cut = [token[:at] for at in range(len(token))]
    longer = [token + more for more in ("A", "AA", "=", "==", " ", "\n", token)]
    for one in (*changed, *cut, *longer, token.replace("-", "+"), " " + token):
        if one != token:
            with pytest.raises(InvalidInput):
                read(one, QUERY, SECRET)


@pytest.mark.parametrize("text", ["", "A", "AAAA", "é", "\ud800", "\x00", "A" * 100_000, "==="])
def test_what_was_never_a_token_is_refused(text):
    with pytest.raises(InvalidInput) as caught:
        read(text, QUERY, SECRET)
    assert (caught.value.code, caught.value.field) == ("invalid_next_token", "next_token")


def test_a_position_without_a_signature_is_refused():
    bare = base64.urlsafe_b64encode(bytes(16) + b'[0,""]').decode().rstrip("=")
    with pytest.raises(InvalidInput):
        read(bare, QUERY, SECRET)
