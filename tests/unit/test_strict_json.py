import json

import pytest
from hypothesis import strategies as st
from properties import given

from minutero.domain.new_task import body_hash, parse_json
from minutero.errors import InvalidInput


def refusal(text):
    with pytest.raises(InvalidInput) as refused:
        parse_json(text)
    assert refused.value.code == "invalid_json"
    assert len(refused.value.message) < 300
    return refused.value.message


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("null", None),
        ("[1, 1.5, -0, true]", [1, 1.5, 0, True]),
        ('{"a": {"b": 1}, "c": {"b": 1}}', {"a": {"b": 1}, "c": {"b": 1}}),
        ('"\\u0000\\ud83d\\ude00"', "\x00😀"),
        (b'"\xc3\xa9"', "é"),
        ("1e308", 1e308),
        ("1e-999", 0.0),
        ("9" * 4299, 10**4299 - 1),
    ],
)
def test_json_is_read(text, value):
    assert parse_json(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "{",
        "{'a': 1}",
        '{"a": 1,}',
        "[1 2]",
        "tru",
        "+1",
        "01",
        "1.",
        '"\n"',
        '"\x00"',
        "{} x",
    ],
)
def test_what_is_not_json_is_refused(text):
    assert "not JSON" in refusal(text)


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", '{"a": [NaN]}'])
def test_no_number_that_json_does_not_have(text):
    assert "is not JSON" in refusal(text)


@pytest.mark.parametrize("text", ["1e999", "-1e999", '{"a": [1.0e400]}', "9" * 400 + ".0"])
def test_a_number_beyond_the_floats_is_refused(text):
    assert "finite" in refusal(text)


@pytest.mark.parametrize("text", ["9" * 4300, "-" + "9" * 4300, '{"a": ' + "1" * 100_000 + "}"])
def test_an_integer_of_4300_digits_is_refused(text):
    assert "too long" in refusal(text)


@pytest.mark.parametrize("text", ['{"a": 1, "a": 1}', '[{"x": {"b": 0, "a": 1, "a": 2}}]'])
def test_a_member_that_stands_twice_is_refused_by_name(text):
    assert "'a'" in refusal(text)


def test_a_member_that_stands_twice_is_found_among_very_many():
    """In time that grows with their number, not with its square: else this test would take hours."""
    members = ", ".join(f'"m{number}": 0' for number in range(200_000))
    assert "'last'" in refusal(f'{{{members}, "last": 1, "last": 2}}')


@pytest.mark.parametrize("text", ['"\\ud800"', '{"\\udc00": 1}', '["\\ud800x\\udc00"]', "\ud800"])
def test_a_lone_surrogate_is_refused(text):
    assert refusal(text)


@pytest.mark.parametrize("text", [b'"\xff"', b'"\xed\xa0\x80"', b"\xff\xfe{\x00}\x00", b'"\xc3"'])
def test_bytes_that_are_no_utf_8_are_refused(text):
    assert "UTF-8" in refusal(text)


def test_a_byte_order_mark_is_refused():
    assert refusal(b"\xef\xbb\xbf{}")


@pytest.mark.parametrize("text", ["[" * 100_000, "[" * 100_000 + "]" * 100_000, '{"a":' * 100_000])
def test_endless_nesting_is_refused(text):
    assert refusal(text)


@given(
    st.dictionaries(st.text(), st.integers() | st.text() | st.lists(st.booleans())), st.randoms()
)
def test_the_order_of_members_and_white_space_do_not_change_a_bodys_hash(body, random):
    members = list(body.items())
    random.shuffle(members)
    again = parse_json(json.dumps(dict(members), indent=2))
    assert body_hash(again) == body_hash(body)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"job": "echo"}, {"job": "echo", "payload": None}),
        ({"job": "echo"}, {"job": "echo", "max_attempts": 5}),
        ({"a": [1, 2]}, {"a": [2, 1]}),
        ({"a": 1}, {"a": "1"}),
        ({"a": 1}, {"a": True}),
        ({"a": {"b": 1}}, {"a": {"b": 2}}),
        ({"a": "b"}, {"b": "a"}),
    ],
)
def test_another_body_has_another_hash(one, other):
    assert body_hash(one) != body_hash(other)


def test_a_hash_is_the_same_in_every_process_and_release():
    """Written down: it is stored beside the key, and compared by a later release."""
    assert body_hash({"b": 1, "a": "é"}) == (
        "6d9eb45284090145dc16661b06abe01185a16a7dabba07c992a131bffa6b8114"
    )
