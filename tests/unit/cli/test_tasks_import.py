"""`tasks import` against the API over a deployment in memory."""

import io
import json
import os
import sys
import urllib.error
from threading import Barrier
from types import SimpleNamespace

import pytest

from minutero.domain.instants import HOUR, format_instant
from minutero_cli import import_tasks
from minutero_cli.main import run
from minutero_cli.transfer import batches, source
from minutero_cli.transfer.patience import PAUSES, STRANGER, Patience, Stopped

from .memory_api import lost, refused

LATER = "2036-01-01T00:00:00Z"


def lines(count, **more):
    return [{"job": "echo", "payload": n, "run_at": LATER, **more} for n in range(count)]


@pytest.fixture
def file(tmp_path):
    """Writes a file of tasks, or of what stands in it."""
    path = tmp_path / "tasks.jsonl"

    def write(content):
        if not isinstance(content, bytes):
            content = b"".join(json.dumps(one).encode() + b"\n" for one in content)
        path.write_bytes(content)
        return path

    return write


@pytest.fixture
def imported(capsys):
    """Runs an import -> (exit code, the counts, what is told on stderr)."""

    def call(path, *options):
        code = run(["tasks", "import", str(path), "--json", *options])
        told = capsys.readouterr()
        return code, json.loads(told.out), told.err

    return call


def counted(created=0, already_there=0, refused=0, **more):
    counts = {"created": created, "already_there": already_there, "refused": refused}
    return {**counts, "refused_file": None, "complete": True, **more}


def rows(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def beside(path):
    return path.with_name(path.name + ".refused.jsonl")


def test_each_line_is_a_task_as_post_tasks_takes_it(memory_api, file, imported):
    whole = {
        "job": "echo",
        "payload": {"name": "Zoë", "n": [1.5, None]},
        "run_at": LATER,
        "key": "k",
        "tenant": "acme",
        "max_attempts": 3,
        "expires_after_seconds": 60,
    }
    assert imported(file([whole, {"job": "echo", "delay_seconds": 3600}]))[:2] == (0, counted(2))
    tasks = memory_api.tasks()
    task = tasks.pop("k")
    assert json.loads(task.payload) == whole["payload"]
    assert (task.tenant, task.max_attempts, task.expires_after_seconds) == ("acme", 3, 60)
    assert format_instant(task.run_at) == LATER
    (other,) = tasks.values()
    assert other.run_at == memory_api.now + HOUR


def test_a_second_run_of_the_same_file_creates_nothing(memory_api, file, imported):
    path = file([*lines(3), *lines(1, key="mine")])
    assert imported(path)[:2] == (0, counted(4))
    before = memory_api.tasks()
    assert imported(path)[:2] == (0, counted(already_there=4))
    assert memory_api.tasks() == before


def test_the_same_content_under_another_name_or_from_the_input_creates_nothing(
    memory_api, file, imported, tmp_path, monkeypatch
):
    path = file(lines(3))
    imported(path)
    other = tmp_path / "other.jsonl"
    other.write_bytes(path.read_bytes())
    assert imported(other)[1] == counted(already_there=3)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    assert imported("-")[1] == counted(already_there=3)
    assert not (tmp_path / "stdin.refused.jsonl").exists()


def test_like_lines_of_one_file_and_like_files_of_other_content_are_tasks_of_their_own(
    memory_api, file, imported
):
    assert imported(file([{"job": "echo", "run_at": LATER}] * 3))[1] == counted(3)
    assert imported(file([{"job": "echo", "run_at": LATER}] * 4))[1] == counted(4)
    assert len(memory_api.tasks()) == 7


def test_refused_lines_go_to_a_file_with_numbers_and_reasons_and_spoil_no_other(
    memory_api, file, imported
):
    path = file(
        b'{"job": "echo", "run_at": "%b", "key": "k"}\n' % LATER.encode()
        + b'{"job": "echo"\n\n'
        + b'{"job": "echo", "run_at": "tomorrow"}\n'
        + b"17\n"
        + b'{"job": "nothing"}\n'
        + b'{"job": "echo", "key": "k"}\n'
        + b'{"job": "echo", "payload": NaN}\n'
        + b'{"job": "\xff"}\n'
        + b'{"job": "echo", "colour": 1}\n'
    )
    code, counts, told = imported(path)
    assert (code, counts) == (1, counted(1, refused=8, refused_file=str(beside(path))))
    assert str(beside(path)) in told
    assert "refused lines: 8" in told
    assert [(row["line"], row["code"]) for row in rows(beside(path))] == [
        (2, "invalid_json"),
        (4, "invalid_run_at"),
        (5, "invalid_body"),
        (6, "unknown_job"),
        (7, "conflict"),
        (8, "invalid_json"),
        (9, "invalid_json"),
        (10, "unknown_field"),
    ]
    assert rows(beside(path))[1] == {
        "line": 4,
        "code": "invalid_run_at",
        "message": "run_at is not an RFC 3339 time with a zone; send text such as "
        "2026-12-01T09:00:00Z or 2026-12-01T03:00:00-06:00",
        "field": "run_at",
        "text": '{"job": "echo", "run_at": "tomorrow"}',
    }
    assert rows(beside(path))[6]["text"] == '{"job": "\\xff"}'
    assert "the body" not in json.dumps(rows(beside(path)))


def test_the_texts_of_the_refused_can_be_mended_and_imported_without_doubling_the_rest(
    memory_api, file, imported, tmp_path
):
    path = file([*lines(2), {"job": "ecco", "run_at": LATER}])
    imported(path)
    mended = tmp_path / "mended.jsonl"
    mended.write_text(rows(beside(path))[0]["text"].replace("ecco", "echo"), "utf-8")
    assert imported(mended)[1] == counted(1)
    assert len(memory_api.tasks()) == 3


def test_the_refused_of_an_earlier_run_are_not_left_behind(memory_api, file, imported):
    path = file([{"job": "nothing"}])
    assert imported(path)[0] == 1
    file(lines(1))
    assert imported(path)[0] == 0
    assert not beside(path).exists()


def test_the_file_of_the_refused_can_be_chosen_but_is_never_the_one_that_is_imported(
    memory_api, file, imported, tmp_path, capsys
):
    path = file([{"job": "nothing"}])
    assert imported(path, "--refused", str(tmp_path / "r"))[1]["refused_file"] == str(
        tmp_path / "r"
    )
    assert len(rows(tmp_path / "r")) == 1
    before = path.read_bytes()
    assert run(["tasks", "import", str(path), "--refused", str(path)]) == 2
    assert path.read_bytes() == before
    assert run(["tasks", "import", str(path), "--refused", str(tmp_path / "no" / "r")]) == 1
    assert "--refused" in capsys.readouterr().err


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\n\n \t\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("last", [b"", b"\n"])
def test_blank_lines_marks_and_ends_of_lines_make_no_difference(
    memory_api, file, imported, end, mark, last
):
    content = mark + end.join(json.dumps(one).encode() for one in lines(3)) + last
    assert imported(file(content))[:2] == (0, counted(3))
    assert sorted(task.payload for task in memory_api.tasks().values()) == ["0", "1", "2"]


@pytest.mark.parametrize("content", [b"", b"\n\r\n  \n", b"\xef\xbb\xbf"])
def test_an_empty_file_is_nothing_to_do(memory_api, file, imported, content):
    assert imported(file(content))[:2] == (0, counted())
    assert memory_api.requests == []


def test_of_two_lines_with_one_key_the_first_makes_the_task(
    memory_api, file, imported, monkeypatch
):
    monkeypatch.setattr(batches, "MOST_TASKS", 1)
    path = file([*lines(1, key="k"), *lines(1, key="k"), *lines(2, key="k")[1:]])
    code, counts, _ = imported(path)
    assert (code, counts) == (1, counted(1, 1, 1, refused_file=str(beside(path))))
    assert [row["line"] for row in rows(beside(path))] == [3]
    assert memory_api.tasks()["k"].payload == "0"


def test_a_job_can_be_given_to_the_lines_that_name_none(memory_api, file, imported):
    path = file([{"payload": 1, "run_at": LATER}, {"job": "gives_up", "run_at": LATER}])
    assert imported(path, "--job", "echo")[1] == counted(2)
    assert sorted(task.job for task in memory_api.tasks().values()) == ["echo", "gives_up"]


def test_requests_hold_500_tasks_and_no_more_bytes_than_fit(
    memory_api, file, imported, monkeypatch
):
    assert imported(file(lines(1_100)))[1] == counted(1_100)
    assert sorted(map(len, memory_api.batches)) == [100, 500, 500]
    memory_api.requests.clear()
    monkeypatch.setattr(batches, "MOST_BYTES", 10_000)
    assert imported(file(lines(50, key=None, payload="é" * 1_000)))[1] == counted(50)
    assert len(memory_api.requests) > 10
    assert all(len(one.data) < 10_100 for one in memory_api.requests)


def test_a_line_longer_than_a_body_may_be_is_refused_and_not_held(
    memory_api, file, imported, monkeypatch
):
    monkeypatch.setattr(source, "LONGEST", 300)
    monkeypatch.setattr(source, "PIECE", 64)
    long = json.dumps({"job": "echo", "payload": "x" * 1_000}).encode()
    short = json.dumps(lines(1)[0]).encode()
    path = file(b"\n".join([short, long, short, long]))
    assert imported(path)[1] == counted(2, refused=2, refused_file=str(beside(path)))
    assert [(row["line"], row["code"]) for row in rows(beside(path))] == [
        (2, "line_too_long"),
        (4, "line_too_long"),
    ]
    assert all(len(row["text"]) <= 301 for row in rows(beside(path)))


def test_a_payload_over_the_limit_is_refused_as_the_api_refuses_it(memory_api, file, imported):
    path = file([{"job": "echo", "payload": "x" * 300_000}, *lines(1)])
    assert imported(path)[1] == counted(1, refused=1, refused_file=str(beside(path)))
    assert rows(beside(path))[0]["code"] == "payload_too_large"


def test_a_line_that_spoils_a_whole_request_is_found(memory_api, file, imported, monkeypatch):
    def spoilt():
        if b'"spoils"' in memory_api.requests[-1].data:
            raise urllib.error.HTTPError("", 413, "", {}, io.BytesIO(b"{}"))

    memory_api.faults = iter(lambda: spoilt, None)
    path = file([*lines(20), {"job": "echo", "payload": "spoils"}, *lines(20)])
    assert imported(path)[1] == counted(40, refused=1, refused_file=str(beside(path)))
    assert [row["line"] for row in rows(beside(path))] == [21]


def test_a_lost_answer_doubles_nothing(memory_api, file, imported):
    memory_api.faults = iter([None, lost, lost, None, lost])
    assert imported(file(lines(1_200)))[0] == 0
    assert len(memory_api.tasks()) == 1_200


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_busy_api_is_asked_again_and_not_before_it_says(memory_api, file, imported, status):
    memory_api.faults = iter([refused(status, **{"Retry-After": "7"})])
    assert imported(file(lines(2)))[:2] == (0, counted(2))
    ((_, at_least),) = memory_api.waits
    assert at_least == (7.0 if status in (429, 503) else 0)


def test_tasks_the_store_did_not_take_are_sent_again_alone(memory_api, file, imported, monkeypatch):
    takes = iter([False, True, False, True, False, *[True, False, True]])
    send = import_tasks.Send._post

    def post(self, bodies):
        return [
            one if next(takes, True) else {"status": 503, "error": {}} for one in send(self, bodies)
        ]

    monkeypatch.setattr(import_tasks.Send, "_post", post)
    code, counts, _ = imported(file(lines(5)))
    assert (code, counts["created"] + counts["already_there"]) == (0, 5)
    assert list(map(len, memory_api.batches)) == [5, 3, 1]


def test_a_line_that_never_has_an_answer_is_refused_and_the_others_go_on(
    memory_api, file, imported, monkeypatch
):
    send = import_tasks.Send._post

    def post(self, bodies):
        results = send(self, bodies)
        told = {"status": 503, "error": {"code": "unavailable", "message": "the store"}}
        return [
            told if b"poison" in body else one for body, one in zip(bodies, results, strict=True)
        ]

    monkeypatch.setattr(import_tasks.Send, "_post", post)
    path = file([*lines(3), {"job": "echo", "payload": "poison", "run_at": LATER}, *lines(2)])
    assert imported(path)[1] == counted(5, refused=1, refused_file=str(beside(path)))
    assert [(row["line"], row["code"]) for row in rows(beside(path))] == [(4, "unavailable")]
    assert len(memory_api.waits) == len(PAUSES)


def test_an_api_that_goes_away_ends_the_import_with_what_was_done_and_what_to_do(
    memory_api, file, imported, monkeypatch
):
    monkeypatch.setattr(batches, "MOST_TASKS", 10)
    memory_api.faults = iter([None] * 3 + [refused(503)] * 1_000)
    code, counts, told = imported(file(lines(100)), "--at-once", "1")
    assert (code, counts) == (1, counted(30, complete=False))
    assert "import the same again" in told
    memory_api.faults = iter(())
    assert imported(file(lines(100)))[1] == counted(70, 30)


def test_an_api_that_was_never_there_is_not_waited_for_long(api, file, imported, monkeypatch):
    monkeypatch.setattr(Patience, "wait", lambda *_: None)
    code, counts, told = imported(file(lines(1)))
    assert (code, counts) == (1, counted(complete=False))
    assert "does not answer at" in told
    assert len(api.requests) == STRANGER


def test_retry_after_is_waited_for_and_a_pause_is_spread():
    waited = []
    stopped = SimpleNamespace(wait=waited.append)
    for _ in range(50):
        Patience(stopped).wait(4.0)
        Patience(stopped).wait(4.0, at_least=7.0)
    assert all(2.0 <= one <= 4.0 for one in waited[::2])
    assert len(set(waited[::2])) > 1
    assert set(waited[1::2]) == {7.0}


def test_who_waits_is_told_when_to_stop():
    patience = Patience()
    patience.stopped.set()
    with pytest.raises(Stopped):
        patience.wait(1_000.0)


@pytest.mark.parametrize("status", [401, 403, 404])
def test_an_api_that_lets_nobody_in_is_not_asked_again(memory_api, file, imported, status):
    memory_api.faults = iter([refused(status)])
    assert imported(file(lines(1)))[0] == 1
    assert (len(memory_api.requests), memory_api.waits) == (1, [])


def test_ctrl_c_waits_for_what_is_in_flight_and_says_what_was_done(
    memory_api, file, imported, monkeypatch
):
    monkeypatch.setattr(batches, "MOST_TASKS", 10)
    read = import_tasks.read_entry

    def interrupted(line, *how):
        if line.number == 35:
            while len(memory_api.requests) < 3:  # the third batch may not have its thread yet
                os.sched_yield()
            raise KeyboardInterrupt
        return read(line, *how)

    monkeypatch.setattr(import_tasks, "read_entry", interrupted)
    path = file(lines(100))
    code, counts, told = imported(path)
    assert (code, counts) == (130, counted(30, complete=False))
    assert told == (
        "minutero: stopped; import the same again to go on: what is there already stays as it is\n"
    )
    monkeypatch.setattr(import_tasks, "read_entry", read)
    assert imported(path)[1] == counted(70, 30)


def test_as_many_requests_are_in_flight_as_is_said_and_no_more(file, imported, api, monkeypatch):
    together, flying, most = Barrier(3, timeout=30), set(), []

    def send(batch):
        flying.add(id(batch))
        together.wait()  # so three are in flight at once
        most.append(len(flying))
        together.wait()
        flying.discard(id(batch))
        return [{"status": 201} for _ in batch.entries]

    monkeypatch.setattr(batches, "MOST_TASKS", 1)
    monkeypatch.setattr(import_tasks, "Send", lambda _api: send)
    assert imported(file(lines(9)), "--at-once", "3")[1] == counted(9)
    assert max(most) == 3


def test_no_more_of_the_file_is_read_than_is_in_flight(memory_api, file, imported, monkeypatch):
    monkeypatch.setattr(batches, "MOST_TASKS", 10)
    read, seen, most = import_tasks.read_entry, [0], [0]

    def counting(line, *how):
        seen[0] += 1
        done = sum(map(len, memory_api.batches))
        most[0] = max(most[0], seen[0] - done)
        return read(line, *how)

    monkeypatch.setattr(import_tasks, "read_entry", counting)
    assert imported(file(lines(500)), "--at-once", "2")[1] == counted(500)
    assert most[0] <= 4 * 10


def test_a_file_that_is_written_to_meanwhile_is_told(memory_api, file, imported, monkeypatch):
    path = file(lines(3))
    read = import_tasks.read_entry

    def growing(line, *how):
        if line.number == 1:
            with path.open("a") as more:
                more.write('{"job": "echo"}\n')
        return read(line, *how)

    monkeypatch.setattr(import_tasks, "read_entry", growing)
    code, _, told = imported(path)
    assert code == 1
    assert "the file was changed while it was read" in told


def test_a_dry_run_checks_the_lines_and_sends_nothing(api, file, imported):
    path = file([*lines(2), {"job": "echo", "run_at": "2999-01-01T00:00:00Z"}, {"payload": 1}, 17])
    code, counts, _ = imported(path, "--dry-run")
    assert (code, counts) == (
        1,
        {"valid": 2, "refused": 3, "refused_file": str(beside(path)), "complete": True},
    )
    assert [row["code"] for row in rows(beside(path))] == [
        "invalid_run_at",
        "invalid_job",
        "invalid_body",
    ]
    assert api.requests == []


def test_a_file_that_cannot_be_read_is_told(memory_api, tmp_path, capsys):
    assert run(["tasks", "import", str(tmp_path / "none")]) == 1
    assert run(["tasks", "import", str(tmp_path)]) == 1
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 2
    assert all(line.startswith("minutero: cannot read") for line in told)
    assert list(tmp_path.iterdir()) == []


def test_elsewhere_than_at_a_terminal_the_counts_are_lines_and_progress_is_told_on_stderr(
    memory_api, file, capsys
):
    assert run(["tasks", "import", str(file(lines(2)))]) == 0
    told = capsys.readouterr()
    assert told.out.split() == ["created", "2", "already", "there", "0", "refused", "0"]
    assert told.err.startswith("import: 100%, 2 lines, ")
    assert told.err.count("\n") == 1


def test_at_a_terminal_a_bar_moves(memory_api, file, terminal, monkeypatch):
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(batches, "MOST_TASKS", 10)
    assert run(["tasks", "import", str(file(lines(30)))]) == 0
    assert "30 lines" in terminal.getvalue()
    assert "100%" in terminal.getvalue()
