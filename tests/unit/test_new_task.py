"""The API's limits, both sides of each border."""

import json
import math

import pytest
from hypothesis import strategies as st
from properties import given
from world import NOW

from minutero.domain.instants import DAY, SECOND
from minutero.domain.new_task import (
    FURTHEST,
    NewTask,
    check_delay,
    check_key,
    check_name,
    check_whole,
    encode_payload,
)
from minutero.errors import InvalidInput


def refusal(call, *args):
    with pytest.raises(InvalidInput) as refused:
        call(*args)
    assert refused.value.message
    assert str(refused.value) == refused.value.message
    return refused.value.code, refused.value.field


@pytest.mark.parametrize("name", ["a", "A-Z_a.z-0.9", "9", "x" * 128, "."])
def test_a_name_of_up_to_128_plain_characters_is_taken(name):
    assert check_name(name, "job") == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        "x" * 129,
        "a b",
        "a/b",
        "a#b",
        "é",
        "a\n",
        "\na",
        "a\x00",
        "٣",
        "a:b",
        "\uff41",
        "\ud800",
    ],
)
def test_any_other_name_is_refused(name):
    assert refusal(check_name, name, "job") == ("invalid_job", "job")
    assert refusal(check_name, name, "tenant") == ("invalid_tenant", "tenant")


@pytest.mark.parametrize("key", ["k", "k" * 256, "order 17/é #✓", "#", " "])
def test_a_key_of_up_to_256_printable_characters_is_taken(key):
    assert check_key(key) == key


@pytest.mark.parametrize("key", ["", "k" * 257, "a\nb", "a\x00", "\x7f", "a\u200b", "\ud800", "\t"])
def test_any_other_key_is_refused(key):
    assert refusal(check_key, key) == ("invalid_key", "key")


@pytest.mark.parametrize("value", [1, 20])
def test_a_whole_number_within_its_bounds_is_taken(value):
    assert check_whole(value, "max_attempts", 1, 20) == value


@pytest.mark.parametrize("value", [0, 21, -1, True, False, 5.0, "5", None, 10**4299])
def test_any_other_number_of_attempts_is_refused(value):
    expected = ("invalid_max_attempts", "max_attempts")
    assert refusal(check_whole, value, "max_attempts", 1, 20) == expected


@pytest.mark.parametrize(
    ("seconds", "ms"), [(0, 0), (90, 90_000), (0.0001, 1), (1.0001, 1001), (0.5, 500), (0.001, 1)]
)
def test_a_delay_is_rounded_up_to_the_millisecond(seconds, ms):
    assert check_delay(seconds) == ms


@given(st.floats(0, FURTHEST / SECOND) | st.integers(0, FURTHEST // SECOND))
def test_a_delay_is_never_shortened(seconds):
    ms = check_delay(seconds)
    assert isinstance(ms, int)
    assert ms >= seconds * SECOND
    assert ms - 1 < seconds * SECOND


@pytest.mark.parametrize(
    "value",
    [-1, -0.001, math.nan, math.inf, -math.inf, True, "5", None, [], 10**4299, 1e300, -(10**4299)],
)
def test_any_other_delay_is_refused(value):
    assert refusal(check_delay, value) == ("invalid_delay_seconds", "delay_seconds")


def test_a_delay_of_ten_years_is_taken_and_one_second_more_is_not():
    assert check_delay(3653 * 86_400) == 3653 * DAY
    assert refusal(check_delay, 3653 * 86_400 + 1) == ("invalid_delay_seconds", "delay_seconds")


def test_neither_time_nor_delay_means_now():
    assert NewTask("echo").due(NOW) == NOW


def test_a_time_past_means_now():
    assert NewTask("echo", run_at=NOW - 1).due(NOW) == NOW
    assert NewTask("echo", run_at=-62_135_683_140_000).due(NOW) == NOW
    assert NewTask("echo", run_at=NOW + 1).due(NOW) == NOW + 1


def test_a_delay_counts_from_now():
    assert NewTask("echo", delay=0).due(NOW) == NOW
    assert NewTask("echo", delay=1500).due(NOW) == NOW + 1500


def test_ten_years_ahead_is_the_furthest():
    assert NewTask("echo", run_at=NOW + FURTHEST).due(NOW) == NOW + FURTHEST
    far = NewTask("echo", run_at=NOW + FURTHEST + 1)
    assert refusal(far.due, NOW) == ("invalid_run_at", "run_at")
    far = NewTask("echo", delay=FURTHEST + 1)
    assert refusal(far.due, NOW) == ("invalid_delay_seconds", "delay_seconds")


# --- payloads

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
    max_leaves=20,
)


@given(json_values.filter(lambda value: value is not None))
def test_a_payload_comes_back_as_it_went_in(payload):
    assert json.loads(encode_payload(payload)) == payload


def test_no_payload_is_stored_as_none():
    assert encode_payload(None) is None


@pytest.mark.parametrize(("falsy", "text"), [(0, "0"), (False, "false"), ("", '""'), ([], "[]")])
def test_a_falsy_payload_is_a_payload(falsy, text):
    assert encode_payload(falsy) == text


def test_a_payload_of_256_kb_is_taken_and_one_byte_more_is_not():
    room = 256 * 1024 - len('""')
    assert len(encode_payload("x" * room)) == 256 * 1024
    assert refusal(encode_payload, "x" * (room + 1)) == ("payload_too_large", "payload")


def test_the_size_of_a_payload_is_that_of_its_utf_8_text():
    room = (256 * 1024 - len('""')) // 2
    assert encode_payload("é" * room)
    assert refusal(encode_payload, "é" * (room + 1)) == ("payload_too_large", "payload")


def nested(depth, innermost=None, as_list=True):
    value = innermost
    for _ in range(depth):
        value = ([] if value is None else [value]) if as_list else {"in": value}
    return value


@pytest.mark.parametrize("innermost", [None, 1, "text"])
def test_a_payload_nested_32_deep_is_taken_and_33_is_not(innermost):
    assert encode_payload(nested(32, innermost))
    assert refusal(encode_payload, nested(33, innermost)) == ("invalid_payload", "payload")


def test_objects_nest_as_lists_do():
    assert encode_payload(nested(32, 1, as_list=False))
    assert refusal(encode_payload, nested(33, 1, as_list=False)) == ("invalid_payload", "payload")
    mixed = {"a": [0, {"b": nested(30, 1)}]}
    assert refusal(encode_payload, mixed) == ("invalid_payload", "payload")


def test_a_payload_nested_without_end_is_refused_without_a_stack_overflow():
    assert refusal(encode_payload, nested(100_000, 1)) == ("invalid_payload", "payload")


@pytest.mark.parametrize(
    "payload",
    [
        math.nan,
        {"a": [math.inf]},
        -math.inf,
        "\ud800",
        {"\udfff": 1},
        {1, 2},
        b"bytes",
        {(1, 2): 3},
        10**4300,
    ],
)
def test_what_json_cannot_say_is_refused(payload):
    assert refusal(encode_payload, payload) == ("invalid_payload", "payload")


def test_a_long_integer_and_a_nul_within_text_are_json():
    assert json.loads(encode_payload(10**4000)) == 10**4000
    assert json.loads(encode_payload("a\x00b")) == "a\x00b"
