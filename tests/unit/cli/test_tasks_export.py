"""`tasks export` against the API over a deployment in memory, and what an import makes of it."""

import json
import os
import stat
import threading

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from properties import QUICK

from minutero.domain.instants import DAY, HOUR, MINUTE, SECOND, format_instant
from minutero_cli.api_client import Api
from minutero_cli.main import run
from minutero_cli.transfer import run_export

from .conftest import HOSTILE
from .memory_api import refused

RANGE = ["--from", "-1m", "--to", "+3h"]
LARGE = "x" * 700
"""A payload that lists leave out."""


@pytest.fixture
def exported(memory_api, capsys):
    """Runs an export of the hours from now -> its lines, parsed."""

    def call(*options):
        capsys.readouterr()
        assert run(["tasks", "export", *RANGE, *options]) == 0
        return parsed(capsys.readouterr().out)

    return call


@pytest.fixture
def add(memory_api):
    """Adds a task over the API, due so many milliseconds from now -> its id."""

    def call(after=HOUR, **body):
        at = format_instant(memory_api.now + after)
        body = {"job": "echo", "run_at": at, **body}
        return Api("http://127.0.0.1:1/api", "memory").post("/tasks", body).body["task_id"]

    return call


def parsed(text):
    return [json.loads(line) for line in text.splitlines()]


def test_a_line_is_the_body_that_made_the_task(memory_api, add, exported):
    at = format_instant(memory_api.now + 2 * HOUR)
    whole = {
        "job": "echo",
        "payload": [LARGE, None, 1.5, HOSTILE],
        "run_at": at,
        "key": "k",
        "tenant": "acme",
        "max_attempts": 3,
        "expires_after_seconds": 60,
    }
    add(**whole)
    assert exported() == [whole]


def test_what_the_body_left_out_is_left_out(memory_api, add, exported):
    at = format_instant(memory_api.now + 2 * HOUR)
    add(run_at=at, key="k")
    assert exported() == [{"job": "echo", "run_at": at, "key": "k"}]


def test_a_task_without_a_key_has_its_id_for_one(add, exported):
    task_id = add()
    assert exported()[0]["key"] == task_id


def test_all_days_and_all_pages_come_in_due_order(add, exported):
    times = [n * 5 * HOUR for n in range(1, 10)] + [DAY + n * SECOND for n in range(600)]
    for after in times:
        add(after)
    found = [one["run_at"] for one in exported("--to", "+50h")]
    assert found == sorted(found)
    assert len(found) == len(times)


def test_status_and_job_filter(memory_api, add, exported):
    add(key="a")
    gone = add(key="b")
    add(key="c", job="gives_up")
    Api("http://127.0.0.1:1/api", "memory").delete(f"/tasks/{gone}")
    assert [one["key"] for one in exported("--status", "cancelled")] == ["b"]
    assert [one["key"] for one in exported("--job", "gives_up")] == ["c"]


def test_tasks_of_schedules_are_left_out_and_told_but_for_full(memory_api, add, exported, capsys):
    add(key="k")
    body = {"job": "echo", "expression": "rate(2 hours)"}
    Api("http://127.0.0.1:1/api", "memory").put("/schedules/daily", body)
    assert run(["tasks", "export", *RANGE]) == 0
    told = capsys.readouterr()
    assert [one["key"] for one in parsed(told.out)] == ["k"]
    assert "tasks of schedules that are left out: 1" in told.err
    full = exported("--full")
    assert {one["schedule"] for one in full} == {None, "daily"}


def test_full_is_all_the_api_tells_of_a_task(memory_api, add, exported):
    task_id = add(payload=LARGE)
    told = Api("http://127.0.0.1:1/api", "memory").get(f"/tasks/{task_id}").body
    assert exported("--full") == [told]


def test_what_is_exported_twice_and_imported_twice_is_there_once(
    memory_api, add, exported, capsys, tmp_path
):
    for after in (HOUR, 2 * HOUR, 3 * HOUR):
        add(after)
    for name, (start, end) in {"a": ("-1m", "+150m"), "b": ("+90m", "+4h")}.items():
        options = ["--from", start, "--to", end, "-o", str(tmp_path / name)]
        assert run(["tasks", "export", *options]) == 0
    memory_api.forget()
    for name in "ab":
        assert run(["tasks", "import", str(tmp_path / name)]) == 0
    assert len(memory_api.tasks()) == 3


def test_into_the_deployment_it_came_from_a_key_is_known_again(
    memory_api, add, exported, capsys, tmp_path
):
    add(key="k", payload={"a": 1})
    path = tmp_path / "out.jsonl"
    exported("-o", str(path))
    assert run(["tasks", "import", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["already_there"] == 1
    assert len(memory_api.tasks()) == 1


def test_the_file_is_there_only_when_it_is_whole(memory_api, add, tmp_path, capsys):
    add()
    path = tmp_path / "out.jsonl"
    path.write_text("what was there before")
    memory_api.faults = iter([refused(403)])
    words = ["tasks", "export", *RANGE, "-o", str(path)]
    assert run(words) == 1
    assert path.read_text() == "what was there before"
    assert list(tmp_path.iterdir()) == [path]
    assert run(words) == 0
    assert len(parsed(path.read_text())) == 1
    assert list(tmp_path.iterdir()) == [path]
    assert capsys.readouterr().out == ""


def test_a_pipe_is_written_to_as_it_is(memory_api, add, tmp_path):
    add()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.extend(parsed(pipe.read_text())))
    reader.start()
    assert run(["tasks", "export", *RANGE, "-o", str(pipe)]) == 0
    reader.join()
    assert len(read) == 1
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_busy_moment_breaks_no_export_off(memory_api, add, exported):
    add()
    memory_api.faults = iter([None, *[refused(503)] * 5, None, refused(502)])
    assert len(exported()) == 1


def test_a_large_payload_whose_task_is_gone_meanwhile_is_left_out(
    memory_api, add, exported, monkeypatch
):
    add(payload=LARGE, key="large")
    add(key="k")
    monkeypatch.setattr(run_export, "path_of", lambda *_: "/tasks/gone")
    assert [one["key"] for one in exported()] == ["k"]


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--from", "-1h"],
        ["--to", "-1h"],
        ["--from", "now", "--to", "-1h"],
        ["--from", "yesterday", "--to", "now"],
        ["--from", "-1h", "--to", "now", "--status", "done"],
    ],
)
def test_an_export_that_cannot_be_meant_is_bad_usage(api, capsys, words):
    assert run(["tasks", "export", *words]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert api.requests == []


def test_a_file_that_cannot_be_written_is_told(memory_api, tmp_path, capsys):
    for name in ("no/out", "."):
        path = tmp_path / name
        assert run(["tasks", "export", "--from", "-1h", "--to", "now", "-o", str(path)]) == 1
        assert "cannot write" in capsys.readouterr().err


def test_how_far_it_is_is_told_on_stderr(memory_api, add, capsys, tmp_path):
    add()
    words = ["tasks", "export", *RANGE, "-o", str(tmp_path / "out")]
    assert run(words) == 0
    assert capsys.readouterr().err.startswith("export: 100%, 1 lines, ")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text() | st.floats(-1e9, 1e9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
).filter(lambda value: value is not None)
NAMES = st.from_regex(r"[A-Za-z0-9._-]{1,20}", fullmatch=True)
TASKS = st.lists(
    st.fixed_dictionaries(
        {"job": st.sampled_from(["echo", "gives_up"]), "after": st.integers(5 * MINUTE, 2 * HOUR)},
        optional={
            "payload": JSON | st.just(LARGE),
            "tenant": NAMES,
            "max_attempts": st.integers(1, 20),
            "expires_after_seconds": st.integers(1, 1_000),
        },
    ),
    max_size=6,
)


def test_what_is_exported_imported_and_exported_again_is_the_same(
    memory_api, add, exported, tmp_path, capsys
):
    def lines():
        """By key: of one second, tasks come in the order of their ids, which are made anew."""
        return sorted(exported(), key=lambda one: one["key"])

    def holds(tasks):
        memory_api.forget()
        for task in tasks:
            add(**task)
        first = lines()
        path = tmp_path / "out.jsonl"
        path.write_text("".join(json.dumps(one) + "\n" for one in first))
        memory_api.forget()
        assert run(["tasks", "import", str(path)]) == 0, capsys.readouterr()
        assert len(first) == len(tasks)
        assert lines() == first

    settings(QUICK, max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])(
        given(TASKS)(holds)
    )()
