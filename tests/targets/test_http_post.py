"""http.post against a real server, which fails, hangs, redirects and lies."""

import gzip
import hashlib
import hmac
import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from receiver import KEY, dripping, flooding, hanging, plain, raw, receiving

from minutero import PermanentFailure, RetryLater
from minutero.targets import http_post
from minutero.testing import job_run

SLASHES = "//"
"""Apart from the rest: addresses with a password in them are looked for in this repository."""


def head_and_body(request):
    head, _, body = request.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    return first, {k.lower(): v for k, v in (line.split(": ", 1) for line in lines)}, body


# --- what is sent


def test_the_body_is_sent_as_json_and_signed_with_its_time_and_the_runs_key(post):
    with receiving(plain(200)) as receiver:
        post(receiver.url, {"text": "é", "n": [1, None]}, headers={"X-Team": "a b"})
    (request,) = receiver.requests
    first, headers, body = head_and_body(request)
    assert first == "POST /hook?a=1 HTTP/1.1"
    assert json.loads(body) == {"text": "é", "n": [1, None]}
    assert headers["content-type"] == "application/json"
    assert headers["x-team"] == "a b"
    assert headers["minutero-key"] == job_run("http.post").key
    timestamp = headers["minutero-timestamp"]
    assert abs(int(timestamp) - datetime.now(UTC).timestamp()) < 60
    signed = hmac.new(KEY, timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    assert headers["minutero-signature"] == f"v1={signed}"


def test_another_body_another_time_and_another_key_have_other_signatures():
    made = [
        http_post.signature(b"key", 1, b"{}"),
        http_post.signature(b"key", 2, b"{}"),
        http_post.signature(b"key", 1, b"[]"),
        http_post.signature(b"other", 1, b"{}"),
    ]
    assert len({one["Minutero-Signature"] for one in made}) == len(made)


def test_without_a_body_null_is_sent(post):
    with receiving(plain(204, b"")) as receiver:
        assert post(receiver.url) == {"status": 204, "body": ""}
    assert head_and_body(receiver.requests[0])[2] == b"null"


# --- what comes back


@pytest.mark.parametrize("status", [200, 201, 202, 299])
def test_2xx_is_done_with_its_answer_as_result(post, status):
    with receiving(plain(status, b'{"ok": true}')) as receiver:
        assert post(receiver.url) == {"status": status, "body": '{"ok": true}'}


@pytest.mark.parametrize("status", [429, 500, 502, 503, 599])
def test_too_many_and_the_servers_own_faults_are_tried_again(post, status):
    with (
        receiving(plain(status, b"busy")) as receiver,
        pytest.raises(ConnectionError, match="busy"),
    ):
        post(receiver.url)


@pytest.mark.parametrize("status", [429, 503])
def test_retry_after_in_seconds_is_waited_for(post, status):
    with receiving(plain(status, Retry_After="37")) as receiver, pytest.raises(RetryLater) as later:
        post(receiver.url)
    assert later.value.seconds == 37


def test_retry_after_as_a_date_is_waited_for(post):
    at = datetime.now(UTC) + timedelta(minutes=10)
    told = format_datetime(at, usegmt=True)
    with receiving(plain(503, Retry_After=told)) as receiver, pytest.raises(RetryLater) as later:
        post(receiver.url)
    assert 500 < later.value.seconds <= 600


NOW = 1_800_000_000


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0),
        (" 120 ", 120),
        ("86401", 86_400),
        ("9" * 400, 86_400),
        ("Fri, 15 Jan 2027 08:00:30 GMT", 30),
        ("Friday, 15-Jan-27 08:00:30 GMT", 30),
        ("Fri, 15 Jan 2027 07:00:00 GMT", 0),
        ("Fri, 15 Jan 2038 08:00:00 GMT", 86_400),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("1.5", None),
        ("٣", None),
        ("Fri, 99 Jan 2027 08:00:30 GMT", None),
        ("Fri, 15 Jan 99999 08:00:30 GMT", None),
    ],
)
def test_retry_after_is_read_as_http_has_it(text, seconds):
    assert http_post.retry_after(text, NOW) == seconds


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 410, 422, 451])
def test_what_the_receiver_refuses_is_permanent(post, status):
    answer = plain(status, b"no such hook")
    with receiving(answer) as receiver, pytest.raises(PermanentFailure) as refused:
        post(receiver.url)
    assert f"{status}: no such hook" in str(refused.value)


@pytest.mark.parametrize("status", [300, 301, 302, 303, 304, 307, 308])
def test_a_redirect_is_permanent_and_not_followed(post, status):
    with receiving(plain(200)) as elsewhere:
        answer = plain(status, Location=elsewhere.url)
        with receiving(answer) as receiver, pytest.raises(PermanentFailure) as refused:
            post(receiver.url)
        assert "redirects are not followed" in str(refused.value)
        assert elsewhere.requests == []


# --- a server that misbehaves


@pytest.mark.parametrize(
    "answer",
    [
        hanging(),
        hanging(b"HTTP/1.1 200 OK\r\nContent-Le"),
        dripping(b"HTTP/1.1 200 OK\r\n", b"X"),
        dripping(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"),
        dripping(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        flooding(b"HTTP/1.1 200 OK\r\nX: "),
        flooding(b""),
        raw(b""),
        raw(b"HTTP/1.1 200 OK\r\n"[:9]),
        raw(b"SSH-2.0-OpenSSH_9.2\r\n"),
        raw(b"HTTP/1.1 abc Told\r\n\r\n"),
        raw(b"HTTP/1.1 200 OK\r\nContent-Length: 1, 2\r\n\r\n{}"),
    ],
    ids=[
        "hangs",
        "hangs within its headers",
        "drips a header",
        "drips headers",
        "drips 100 Continue",
        "a header without end",
        "noise without end",
        "ends at once",
        "ends within its status",
        "no HTTP",
        "no status",
        "two lengths",
    ],
)
def test_a_server_without_an_answer_is_tried_again(post, impatient, answer):
    with receiving(answer) as receiver:
        with pytest.raises(ConnectionError, match="no answer"):
            post(receiver.url)
        assert receiver.ended.wait(30), "the connection was not ended"


OK = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        (hanging(OK + b"Content-Length: 9\r\n\r\nabc"), "abc"),
        (raw(OK + b"Content-Length: 9\r\n\r\nabc"), "abc"),
        (raw(OK + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n"), "abc"),
        (raw(OK + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"), "abc"),
    ],
    ids=["hangs in its body", "ends early", "no chunk", "no last chunk"],
)
def test_a_2xx_whose_body_breaks_off_is_done_since_the_receiver_has_it(
    post, impatient, answer, body
):
    with receiving(answer) as receiver:
        told = post(receiver.url)
    assert told["status"] == 200
    assert told["body_cut"]
    assert body.startswith(told["body"])


@pytest.mark.parametrize(
    "answer",
    [
        dripping(OK + b"Content-Length: 1000000\r\n\r\n"),
        dripping(OK + b"\r\n"),
        flooding(OK + b"\r\n"),
        flooding(OK + b"Content-Length: 99999999999\r\n\r\n"),
        raw(OK + b"\r\n" + b"x" * 20_000),
    ],
    ids=["drips", "drips without a length", "floods", "floods with a length", "is long"],
)
def test_a_2xx_whose_body_has_no_end_is_done_with_a_bounded_piece_of_it(post, impatient, answer):
    with receiving(answer) as receiver:
        told = post(receiver.url)
        assert receiver.ended.wait(30), "the connection was not ended"
    assert (told["status"], told["body_cut"]) == (200, True)
    assert re.fullmatch("x*", told["body"])
    assert len(told["body"]) <= http_post.ANSWER_LIMIT


def test_what_comes_after_the_promised_length_is_not_read(post):
    with receiving(raw(OK + b"Content-Length: 2\r\n\r\n{}more")) as receiver:
        assert post(receiver.url) == {"status": 200, "body": "{}"}


def test_a_compressed_answer_is_not_unpacked(post):
    """A small one may unpack to gigabytes."""
    bomb = gzip.compress(b"x" * 1_000_000)
    with receiving(plain(200, bomb, Content_Encoding="gzip")) as receiver:
        told = post(receiver.url)
    assert len(told["body"]) <= len(bomb)


def test_an_answer_that_is_no_text_can_still_be_stored(post):
    with receiving(plain(200, b"\xff\xfe\x00")) as receiver:
        told = post(receiver.url)
    assert json.dumps(told, ensure_ascii=False).encode()


def test_nobody_listens_is_tried_again(post):
    with receiving(plain(200)) as receiver:
        pass
    with pytest.raises(ConnectionError, match="no answer"):
        post(receiver.url)


def test_a_name_that_is_not_known_is_tried_again(post):
    with pytest.raises(ConnectionError, match="no answer"):
        post("https://nobody.invalid/")


def test_an_attempt_without_time_sends_nothing(allowed):
    run = replace(job_run("http.post"), _remaining=lambda: 1.5)
    with receiving(plain(200)) as receiver, pytest.raises(TimeoutError):
        http_post.post({"url": receiver.url}, run)
    assert receiver.requests == []


# --- what is refused before anything is sent


@pytest.mark.parametrize(
    ("payload", "told"),
    [
        (None, "must be an object with url, body, headers"),
        ({}, "has no url"),
        ({"url": 5}, "url must be text"),
        ({"url": "https://a.example/", "boddy": 1}, "'boddy'"),
        ({"url": "https://a.example/", "headers": []}, "headers must be an object"),
        ({"url": "ftp://a.example/"}, "url must be an address such as"),
        ({"url": "//a.example/"}, "url must be an address such as"),
        ({"url": "https:///path"}, "url must be an address such as"),
        ({"url": "https://a.example:99999/"}, "url must be an address such as"),
        ({"url": "https://[::1/"}, "url must be an address such as"),
        ({"url": "https://bücher.example/"}, "xn--"),
        ({"url": "https://a.example/a b"}, "url must be an address such as"),
        ({"url": "https://a.example/\r\nX: y"}, "url must be an address such as"),
        ({"url": f"https:{SLASHES}user:secret@a.example/"}, "must not hold a user"),
        ({"url": "https://a.example/", "headers": {"Host": "b"}}, "header Host is set by"),
        ({"url": "https://a.example/", "headers": {"minutero-key": "b"}}, "is set by"),
        ({"url": "https://a.example/", "headers": {"a b": "c"}}, "a name and text"),
        ({"url": "https://a.example/", "headers": {"a": 1}}, "a name and text"),
        ({"url": "https://a.example/", "headers": {"a": "b\r\nX: y"}}, "in one line"),
    ],
)
def test_a_payload_that_can_never_be_sent_is_refused_with_what_to_send(allowed, payload, told):
    with pytest.raises(PermanentFailure, match=re.escape(told)):
        http_post.post(payload, job_run("http.post"))


def test_without_tls_nothing_is_sent_unless_allowed(post, monkeypatch):
    monkeypatch.delenv("MINUTERO_HTTP_POST_PLAIN_HTTP")
    with (
        receiving(plain(200)) as receiver,
        pytest.raises(PermanentFailure, match="HttpPostPlainHttp"),
    ):
        post(receiver.url)
    assert receiver.requests == []
