"""Request bodies: from parsed JSON to a NewTask, and pydantic's errors to ours."""

import pytest
from pydantic import ValidationError
from world import NOW

from minutero.domain.instants import format_instant
from minutero.domain.new_task import NewTask, parse_json
from minutero.errors import InvalidInput
from minutero.http.bodies import NewTaskBody, invalid_input
from minutero.http.fields import LONGEST_EXPIRY


def read(body):
    """As the API reads a body."""
    try:
        return NewTaskBody.model_validate(parse_json(body) if isinstance(body, str) else body)
    except ValidationError as error:
        errors = [{**one, "loc": ("body", *one["loc"])} for one in error.errors()]
        raise invalid_input(errors) from None


def refusal(body):
    with pytest.raises(InvalidInput) as refused:
        read(body).to_new_task()
    return refused.value.code, refused.value.field


def test_a_whole_body_is_a_task():
    body = f"""{{"job": "echo", "payload": {{"any": "JSON"}}, "run_at": "{format_instant(NOW)}",
        "key": "order-17-reminder", "max_attempts": 20, "expires_after_seconds": 600,
        "tenant": "acme"}}"""
    assert read(body).to_new_task() == NewTask(
        "echo",
        '{"any":"JSON"}',
        run_at=NOW,
        key="order-17-reminder",
        tenant="acme",
        max_attempts=20,
        expires_after_seconds=600,
    )


def test_a_job_is_all_that_is_required():
    assert read('{"job": "echo"}').to_new_task() == NewTask("echo", max_attempts=5)


def test_null_is_as_if_left_out():
    fields = ("run_at", "delay_seconds", "key", "max_attempts", "expires_after_seconds", "tenant")
    body = {"job": "echo", "payload": None, **dict.fromkeys(fields)}
    assert read(body).to_new_task() == NewTask("echo")


@pytest.mark.parametrize(
    ("delay", "ms"), [("0", 0), ("90", 90_000), ("1.5", 1500), ("90.0", 90_000)]
)
def test_a_delay_may_be_a_whole_number_or_a_fraction(delay, ms):
    assert read(f'{{"job": "echo", "delay_seconds": {delay}}}').to_new_task().delay == ms


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("job", ["1", "null", "true", "[]", '""', '"a b"', '"\\u0000"']),
        ("run_at", ["1", "true", '"soon"', '"2026-12-01T09:00:00"', "[]", '""']),
        ("delay_seconds", ['"5"', "true", "-1", "1e300", "[]", "9" * 4000, "-0.001"]),
        ("key", ["1", '""', '"a\\nb"', f'"{"k" * 257}"', "{}"]),
        ("max_attempts", ["0", "21", '"5"', "5.0", "5.5", "true", "9" * 4000]),
        ("expires_after_seconds", ["0", "-1", '"5"', "1.5", "true", str(LONGEST_EXPIRY + 1)]),
        ("tenant", ["1", '""', '"a b"', f'"{"t" * 129}"']),
    ],
)
def test_a_value_of_the_wrong_kind_is_refused_by_its_field(field, values):
    for value in values:
        job = "" if field == "job" else '"job": "echo", '
        assert refusal(f'{{{job}"{field}": {value}}}') == (f"invalid_{field}", field), value


def test_expiry_of_a_year_is_taken():
    body = {"job": "echo", "expires_after_seconds": LONGEST_EXPIRY}
    assert read(body).to_new_task().expires_after_seconds == LONGEST_EXPIRY


def test_a_time_and_a_delay_together_are_refused():
    body = {"job": "echo", "run_at": "2026-12-01T09:00:00Z", "delay_seconds": 0}
    assert refusal(body) == ("invalid_run_at", "run_at")


def test_a_missing_job_is_refused():
    assert refusal("{}") == ("invalid_job", "job")


@pytest.mark.parametrize(
    "name", ["runat", "Job", "", "int", "str", "float", "payload.a", "x" * 500]
)
def test_a_field_there_is_not_is_refused_by_name(name):
    assert refusal({"job": "echo", name: 1}) == ("unknown_field", name[:80])


@pytest.mark.parametrize("body", ["[]", "1", '"echo"', "null", "true"])
def test_a_body_that_is_no_object_is_refused(body):
    assert refusal(body) == ("invalid_body", "")


def test_a_message_says_what_to_send():
    with pytest.raises(InvalidInput, match="delay_seconds must be a number"):
        read({"job": "echo", "delay_seconds": "5"})
    with pytest.raises(InvalidInput, match="job must be text"):
        read({"job": 5})
    with pytest.raises(InvalidInput, match="max_attempts must be a whole number"):
        read({"job": "echo", "max_attempts": 5.5})
    with pytest.raises(InvalidInput, match="job is missing"):
        read({})


def test_json_that_the_framework_cannot_read_is_invalid_json():
    error = {"type": "json_invalid", "loc": ("body", 3), "msg": "JSON decode error"}
    assert invalid_input([error]).code == "invalid_json"


def test_an_error_of_a_kind_not_thought_of_is_told_all_the_same():
    error = {"type": "bytes_too_long", "loc": ("body", "key"), "msg": "Data should be shorter"}
    refused = invalid_input([error])
    assert (refused.code, refused.field) == ("invalid_key", "key")
    assert "Data should be shorter" in refused.message


def test_only_the_first_of_many_errors_is_told():
    assert refusal({"job": 1, "key": 1, "tenant": 1}) == ("invalid_job", "job")
