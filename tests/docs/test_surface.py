"""What the pages say of HTTP, of parameters and of limits is what the code has."""

import ast
import importlib
import importlib.util
import re
from datetime import UTC, datetime
from functools import cache
from typing import get_args

import pytest
import yaml
from pages import NAMES, ROOT, blocks, code, table, unquoted

import minutero
from minutero import jobs, wiring
from minutero.aws.bucket_pages import PAGE
from minutero.client.schedules import ScheduleCalls
from minutero.domain import expression, new_task, schedule
from minutero.domain.history import Came, Happened
from minutero.domain.instants import DAY, HOUR, MINUTE, SECOND
from minutero.domain.lifecycle import Status
from minutero.domain.new_schedule import REASON_LIMIT
from minutero.domain.occurrence import Overlap
from minutero.domain.run import RESULT_LIMIT
from minutero.domain.timetable import OnGap, OnOverlap
from minutero.domain.timing import Timing
from minutero.http.bodies import NewTaskBody
from minutero.http.schedule_bodies import MisfireBody, ScheduleBody
from minutero.http.schedule_queries import LONGEST_SPAN
from minutero.service import explain
from minutero.service.claim_batch import CLAIM_CHUNK, SEND_CHUNK
from minutero.service.explain import What
from minutero.service.fan_out import GROUP
from minutero.service.move import MOST_MOVES
from minutero.service.read_task import EARLIER
from minutero.service.shards import MARGIN
from minutero.settings import Settings

CALL = re.compile(r"\b(GET|POST|PUT|PATCH|DELETE) (/[\w{}/-]*(?:\.json)?)")
CHOICES = {
    "on_gap": OnGap,
    "on_overlap": OnOverlap,
    "misfire": schedule.MisfirePolicy,
    "overlap": Overlap,
}
"""The fields of a schedule that have words for values."""


@pytest.fixture(scope="module")
def api():
    """functions/api/app.py; importing it opens no client."""
    spec = importlib.util.spec_from_file_location("docs_api", ROOT / "functions/api/app.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def routes(api):
    """(method, path), whatever a parameter is called."""
    resolver = api.app
    found = [*resolver._static_routes, *resolver._dynamic_routes]
    return {(route.method, nameless(re.sub(r"<\w+>", "{}", route.path))) for route in found}


def nameless(path):
    return re.sub(r"\{\w*\}", "{}", path)


def calls(text):
    return {(method, nameless(path)) for method, path in CALL.findall(text)}


def test_the_page_lists_each_http_call_and_no_other(routes):
    listed = set()
    for row in table("docs/http.md", "Calls"):
        listed |= calls(row[0])
    assert listed == routes


def test_no_page_names_an_http_call_that_is_not_there(routes):
    for name in NAMES:
        for text in code(name):
            assert calls(text) <= routes, name


def test_the_page_lists_each_field_of_a_new_task_and_no_other():
    told = [unquoted(row[0])[0] for row in table("docs/http.md", "A task")]
    assert told == sorted(told, key=list(NewTaskBody.model_fields).index) or set(told) == set(
        NewTaskBody.model_fields
    )
    assert set(told) == set(NewTaskBody.model_fields)


def test_the_page_lists_each_field_of_a_schedule_and_no_other():
    told = [unquoted(row[0])[0] for row in table("docs/http.md", "A schedule")]
    assert told == list(ScheduleBody.model_fields)
    meant = {unquoted(row[0])[0]: unquoted(row[1]) for row in table("docs/http.md", "A schedule")}
    assert {"policy", *MisfireBody.model_fields} <= set(meant["misfire"])
    for field, choices in CHOICES.items():
        assert set(get_args(choices)) <= set(meant[field]), field


def test_the_readme_names_each_call_about_schedules_of_the_client():
    text = (ROOT / "README.md").read_text("utf-8")
    calls = [name for name in vars(ScheduleCalls) if not name.startswith("_")]
    assert len(calls) == 9
    assert [name for name in calls if name not in text] == []


def test_what_became_of_a_time_is_told_in_the_words_of_the_code():
    text = words("docs/http.md")
    (told,) = re.findall(r"Of each time `explain` says that ([^.]*)\.", text)
    assert set(unquoted(told)) == {str(one) for one in What}


def test_the_page_lists_each_status_and_no_other():
    (told,) = re.findall(r"`status` is one of ([^.]*)\.", words("docs/http.md"))
    assert unquoted(told) == [str(status) for status in Status]


def test_the_page_has_each_event_of_a_history_and_each_end_of_an_attempt():
    rows = table("docs/http.md", "Its history")
    assert {what for row in rows for what in unquoted(row[0])} == {str(one) for one in Happened}
    (attempt,) = (row for row in rows if row[0] == "`attempt`")
    assert {str(one) for one in Came} <= set(unquoted(attempt[2]))
    told = (ROOT / "docs/http.md").read_text("utf-8")
    assert f"the last {EARLIER} runs are told" in told


@cache
def template():
    """template.yaml; CloudFormation's own tags come out as nothing."""
    loader = type("Loader", (yaml.SafeLoader,), {})
    loader.add_multi_constructor("!", lambda *_: None)
    return yaml.load((ROOT / "template.yaml").read_text("utf-8"), loader)


def parameters():
    return template()["Parameters"]


def test_the_page_lists_each_parameter_with_its_default():
    rows = table("docs/deploying.md", "Parameters")
    told = {unquoted(name)[0]: default.strip("`") for name, default, _ in rows}
    real = {name: str(one["Default"]) or "none" for name, one in parameters().items()}
    assert told == real


def test_every_variable_named_is_read_somewhere():
    named = {
        one for name in NAMES for text in code(name) for one in re.findall(r"\bMINUTERO_\w+", text)
    }
    files = [
        ROOT / "template.yaml",
        *(ROOT / "layers").rglob("*.py"),
        *(ROOT / "cli").rglob("*.py"),
    ]
    sources = " ".join(path.read_text("utf-8") for path in files)
    assert {one for one in named if one not in sources} == set()


def test_the_limits_are_those_of_the_code():
    told = {row[0]: row[1] for row in table("docs/http.md", "Limits")}
    assert told["`key`"].startswith(f"1 to {new_task.KEY_LIMIT} ")
    assert told["`payload`"] == (
        f"{new_task.PAYLOAD_LIMIT // 1024} KB of JSON, nested {new_task.NESTING_LIMIT} levels deep"
    )
    assert told["result of a job"].startswith(f"{RESULT_LIMIT // 1024} KB of JSON;")
    assert told["moves of one task"] == f"{MOST_MOVES:,}"
    assert told["`expression`"] == f"{expression.LONGEST} characters"
    assert told["`jitter_seconds`"] == f"{schedule.LONGEST_JITTER:,}"
    assert told["`grace_seconds`"] == f"{schedule.LONGEST_GRACE:,}, which is 31 days"
    assert told["`max_catch_up`"] == f"{schedule.MOST_CATCH_UP:,}"
    assert told["reason of a pause"] == f"{REASON_LIMIT} printable characters"
    assert told["`explain`"] == f"{LONGEST_SPAN // DAY} days and {explain.MOST} times at once"


def test_the_limit_of_a_body_is_that_of_the_code(api):
    told = {row[0]: row[1] for row in table("docs/http.md", "Limits")}
    assert told["body of a request"] == f"{api.BODY_LIMIT // 1024 // 1024} MB"


def test_the_defaults_of_the_settings_are_the_templates():
    names = {
        "tasks_table", "schedules_table", "cursors_table", "runs_table", "tasks_queue_url",
        "dead_letter_queue_url", "worker_function", "dispatcher_function",
    }  # fmt: skip
    settings = Settings.from_environment({f"MINUTERO_{name.upper()}": "x" for name in names})
    real = parameters()
    assert settings.shards == real["Shards"]["Default"]
    assert settings.timing.look_ahead == real["LookAheadMinutes"]["Default"] * 60_000
    assert settings.timing.worker_timeout == real["WorkerTimeout"]["Default"] * 1_000


def words(name):
    """A page's text in one line."""
    return " ".join((ROOT / name).read_text("utf-8").split())


def test_the_times_told_are_those_of_the_code_and_of_the_template():
    timing = Timing()
    dispatcher, shard, claim = (
        ms // SECOND for ms in (timing.dispatcher_timeout, timing.shard_lease, timing.claim_lease)
    )
    told = words("ARCHITECTURE.md")
    assert f"Dispatcher time-out {dispatcher} s < lease {shard} s" in told
    assert f"an open claim's lease is {claim} s" in told
    assert f"the grace of {timing.settle_grace // MINUTE} minutes" in told
    assert f"deadline plus {timing.run_margin // SECOND} s" in told
    assert f"[now - {timing.look_back // MINUTE} min, now + look-ahead]" in told
    margin = timing.client_clock_margin // MINUTE
    assert f"only {margin} minutes after its time ran out" in words(
        "docs/decisions/0008-clients-clocks.md"
    )
    assert f"may be up to {margin} minutes off" in words("README.md")
    assert template()["Resources"]["DispatcherFunction"]["Properties"]["Timeout"] == dispatcher


def test_the_sizes_told_are_those_of_the_code():
    told = words("ARCHITECTURE.md")
    batches = (
        f"{PAGE} items a page, {CLAIM_CHUNK} claims and {SEND_CHUNK} messages a request,"
        f" {wiring.THREADS} requests side by side"
    )
    assert batches in told
    assert f"One dispatcher serves {GROUP} shards." in told
    assert f"A payload over {new_task.INLINE_PAYLOAD_LIMIT} bytes" in told
    assert MARGIN == HOUR
    assert "A new shard begins an hour before its time" in told
    assert f"received {received()} times" in told


def received():
    """How often a message may be received before SQS gives it up."""
    queue = template()["Resources"]["TasksQueue"]["Properties"]
    return queue["RedrivePolicy"]["maxReceiveCount"]


SNIPPETS = [(name, block.text) for name in NAMES for block in blocks(name, "python")]


@pytest.mark.parametrize(("name", "text"), SNIPPETS, ids=lambda one: one[:30])
def test_a_python_snippet_compiles_and_what_it_imports_and_calls_exists(name, text):
    tree = ast.parse(text)
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=str(module), names=names):
                found = importlib.import_module(module)
                assert all(hasattr(found, one.name) for one in names), (name, module)
            case ast.Import(names=names):
                for one in names:
                    importlib.import_module(one.name)
            case ast.Attribute(value=ast.Name(id="minutero"), attr=attribute):
                assert hasattr(minutero, attribute)
            case ast.Attribute(value=ast.Name(id="client"), attr=attribute):
                assert hasattr(minutero.Client, attribute)
            case ast.Attribute(value=ast.Name(id="run"), attr=attribute):
                assert hasattr(jobs.Run, attribute)


def test_the_job_of_the_readme_does_what_its_comments_say():
    (text,) = [text for name, text in SNIPPETS if name == "README.md" and "@job" in text]
    names = {}
    before = jobs.registry.names()
    exec(text, names)
    (added,) = jobs.registry.names() - before
    jobs.registry._jobs.pop(added)
    now = datetime.now(UTC)
    run = jobs.Run("id", "key", 1, now, now, "task", False, lambda: 30.0)

    assert names[added]({"email": "a@example.com"}, run) == {"sent": True, "idempotency_key": "key"}
    with pytest.raises(minutero.PermanentFailure):
        names[added]({}, run)
    with pytest.raises(jobs.Skipped):
        names[added]({"email": "a@example.com", "unsubscribed": True}, run)
