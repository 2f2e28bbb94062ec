import pytest

from minutero_cli.api_client import PATIENCE, TRIES, Api, ApiError, path_of
from minutero_cli.main import run

from .conftest import TASK

ADDRESS = "http://127.0.0.1:1"


@pytest.fixture
def client(api):
    return Api(ADDRESS, "it")


@pytest.mark.parametrize("status", [429, 503])
def test_a_get_is_asked_again_after_the_time_the_api_names(api, client, status):
    api.refuses(status, "busy", "busy", Retry_After="2")
    api.answers(200, TASK)
    assert client.get("/tasks/1abc").body == TASK
    assert api.waits == [2.0]
    assert len(api.requests) == 2


@pytest.mark.parametrize("told", [{}, {"Retry_After": "Fri, 31 Dec 1999 23:59:59 GMT"}])
def test_without_a_number_of_seconds_a_get_waits_a_second(api, client, told):
    api.refuses(503, "unavailable", "no", **told)
    api.answers(200, TASK)
    client.get("/tasks/1abc")
    assert api.waits == [1.0]


def test_a_get_gives_up_after_a_few_tries_and_tells_the_last_refusal(api, client):
    for number in range(TRIES):
        api.refuses(503, "unavailable", f"no {number}")
    with pytest.raises(ApiError, match=f"no {TRIES - 1}"):
        client.get("/tasks/1abc")
    assert len(api.requests) == TRIES


def test_a_wait_beyond_patience_is_not_begun(api, client):
    api.refuses(429, "busy", "busy", Retry_After=str(int(PATIENCE) + 1))
    with pytest.raises(ApiError):
        client.get("/tasks/1abc")
    assert api.waits == []


@pytest.mark.parametrize("status", [400, 404, 409, 500])
def test_what_is_no_matter_of_time_is_not_asked_again(api, client, status):
    api.refuses(status, "no", "no")
    with pytest.raises(ApiError):
        client.get("/tasks/1abc")
    assert len(api.requests) == 1


@pytest.mark.parametrize(
    "ask",
    [
        lambda client: client.post("/tasks", {}),
        lambda client: client.patch("/tasks/1", {}),
        lambda client: client.delete("/tasks/1"),
    ],
)
def test_what_changes_something_is_never_sent_twice(api, client, ask):
    api.refuses(503, "unavailable", "no", Retry_After="1")
    with pytest.raises(ApiError):
        ask(client)
    assert len(api.requests) == 1
    assert api.waits == []


def test_a_query_is_encoded_and_leaves_out_what_is_not_given(api, client):
    api.answers(200, TASK)
    client.get("/tasks", {"key": "a b&c=d/é+%", "tenant": None})
    assert api.requests[0].full_url == f"{ADDRESS}/tasks?key=a%20b%26c%3Dd%2F%C3%A9%2B%25"
    assert api.queries == [{"key": "a b&c=d/é+%"}]


def test_a_part_of_a_path_stays_one():
    assert path_of("tasks", "a/b?c#d e", "run") == "/tasks/a%2Fb%3Fc%23d%20e/run"


def test_a_request_without_a_body_says_nothing_of_one(api, client):
    api.answers(202, TASK)
    client.post("/tasks/1abc/run")
    assert api.requests[0].data is None
    assert api.requests[0].get_header("Content-type") is None


@pytest.mark.parametrize("text", ["<html>", "", "[1]", "null"])
@pytest.mark.parametrize("as_json", [[], ["--json"]])
def test_an_answer_that_cannot_be_minuteros_is_said_to_be_none(api, capsys, text, as_json):
    api.answers(200, text)
    assert run(["tasks", "get", "1abc", *as_json]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert "MINUTERO_API_URL" in told.err


@pytest.mark.parametrize("url", ["example.com", "ftp://example.com", "http://", "http://[::1"])
def test_an_address_that_is_none_is_told_before_anything_is_sent(api, monkeypatch, capsys, url):
    monkeypatch.setenv("MINUTERO_API_URL", url)
    assert run(["tasks", "get", "1abc"]) == 1
    error = capsys.readouterr().err
    assert "MINUTERO_API_URL" in error
    assert len(error.splitlines()) == 1
    assert api.requests == []


def test_a_connection_that_breaks_off_is_no_traceback(api, capsys, monkeypatch):
    from http.client import IncompleteRead

    def broken(request, timeout):
        raise IncompleteRead(b"")

    monkeypatch.setattr(api, "open", broken)
    assert run(["jobs", "list"]) == 1
    assert "does not answer" in capsys.readouterr().err


def test_a_stack_without_a_region_says_what_to_set(monkeypatch, capsys, tmp_path):
    for name in ("AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    # Without keys it looks for some on the network first.
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    assert run(["stats", "--stack", "minutero"]) == 1
    assert "set AWS_DEFAULT_REGION" in capsys.readouterr().err
