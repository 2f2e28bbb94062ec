"""docs/lifecycle.md tells of every state and every transition, and of no other."""

import ast
import inspect
import re
from functools import cache
from itertools import product

import pytest
from pages import PACKAGE, blocks, table, unquoted

from minutero.domain.lifecycle import Status, status_of
from minutero.domain.run import Ending, Outcome, RunRecord
from minutero.domain.task import State, Task, first_place, task_id_from
from minutero.ports import (
    CursorStore,
    OverlapLocks,
    RunLedger,
    ScheduleStore,
    SettingsStore,
    Slots,
    TaskStore,
)

PAGE = "docs/lifecycle.md"
PORTS = (TaskStore, RunLedger, ScheduleStore, OverlapLocks, Slots, CursorStore, SettingsStore)
READS = {
    "TaskStore": {
        "get",
        "get_key",
        "get_many",
        "open_claims",
        "page",
        "page_claimed",
        "page_dead",
        "page_taken",
        "page_tasks",
    },
    "RunLedger": {"get", "get_many", "known"},
    "ScheduleStore": {"fates", "get", "page"},
    "OverlapLocks": set(),
    "Slots": set(),
    "CursorStore": {"get"},
    "SettingsStore": {"growth", "jobs"},
}
"""What changes nothing. A new method is a transition until it is written down here."""

GUARD = re.compile(r"`(\w+)` in `(aws/\w+\.py)`")
COMPARES = re.compile(r"[=<>]|attribute_(not_)?exists|attribute_type")
NOW = 1_800_000_000_000


def methods(port):
    return {name for name, _ in inspect.getmembers(port, inspect.isfunction) if name[0] != "_"}


TRANSITIONS = {f"{p.__name__}.{m}" for p in PORTS for m in methods(p) - READS[p.__name__]}
ROWS = table(PAGE, "Transitions")
GUARDS = {found for row in ROWS for found in GUARD.findall(row[2])}
FILTERS = {
    found for row in table(PAGE, "What a read passes over") for found in GUARD.findall(row[0])
}


def test_every_port_method_that_changes_something_is_a_transition_of_the_page():
    assert {unquoted(row[0])[0] for row in ROWS} == TRANSITIONS


def test_what_only_reads_is_still_there():
    for port in PORTS:
        assert READS[port.__name__] <= methods(port)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_transition_has_a_guard_or_says_why_not_and_tells_the_loser(row):
    _, _, guard, loser = row
    assert GUARD.search(guard) or guard.startswith("none: ")
    assert loser


@cache
def definitions(path):
    """Name -> the statement that defines it and the one after, of the module's own level."""
    return {name: (statement, after) for name, statement, after in _definitions(path)}


def _definitions(path):
    body = ast.parse((PACKAGE / path).read_text("utf-8")).body
    for at, statement in enumerate(body):
        after = body[at + 1] if at + 1 < len(body) else None
        match statement:
            case ast.FunctionDef(name=name):
                yield name, statement, after
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                yield name, statement, after


def is_commented(statement, after):
    if isinstance(statement, ast.FunctionDef):
        return bool(ast.get_docstring(statement))
    return isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)


@pytest.mark.parametrize(("name", "path"), sorted(GUARDS | FILTERS))
def test_a_guard_of_the_page_is_a_named_and_commented_one_of_that_file(name, path):
    found = definitions(path)
    assert name in found
    assert is_commented(*found[name])


def is_guard(statement):
    """A condition of PynamoDB's, a function that makes one, or the text of an expression."""
    match statement:
        case ast.AnnAssign(annotation=ast.Name(id="Condition")):
            return True
        case ast.FunctionDef(returns=ast.Name(id="Condition")):
            return True
        case ast.Assign(value=ast.Constant(value=str(text))):
            return bool(COMPARES.search(text))
        case ast.Assign(value=ast.JoinedStr() as text):
            return bool(COMPARES.search(ast.unparse(text)))
    return False


def test_every_guard_of_the_code_is_in_the_page():
    known = {
        (name, f"aws/{path.name}")
        for path in sorted((PACKAGE / "aws").glob("*.py"))
        for name, (statement, _) in definitions(f"aws/{path.name}").items()
        if is_guard(statement)
    }
    assert known == GUARDS | FILTERS


@pytest.mark.parametrize(
    ("heading", "values"), [("States of a task item", State), ("Endings of a run", Ending)]
)
def test_each_state_and_ending_is_in_its_table_and_no_other(heading, values):
    assert [unquoted(row[0])[0] for row in table(PAGE, heading)] == [str(one) for one in values]


def drawn(number):
    """The states of one of the pictures."""
    arrows = re.findall(
        r"^ *(\S+) --> ([^:\s]+)", blocks(PAGE, "mermaid")[number].text, re.MULTILINE
    )
    return {end for arrow in arrows for end in arrow} - {"[*]"}


def test_the_pictures_show_each_state_and_ending_that_is_written_and_no_other():
    assert drawn(0) == set(State) - {State.UNKNOWN}
    assert drawn(1) == set(Ending) - {Ending.UNKNOWN} | {"running", "failed", "ran_out"}


def test_the_pictures_name_only_methods_of_the_ports():
    known = {transition.partition(".")[2] for transition in TRANSITIONS}
    for block in blocks(PAGE, "mermaid"):
        for label in re.findall(r"--> \S+: (.+)", block.text):
            if label.startswith("the attempt's time"):
                continue
            names = re.findall(r"[a-z_]+", re.sub(r"\([^)]*\)", "", label))
            assert set(names) <= known


TASK_ID = task_id_from(NOW, 0, b"lifecycle..")


def records():
    """Every kind of run record, by what the page calls it."""
    run_id = f"{TASK_ID}.0"
    yield "none", None
    yield "running", RunRecord(run_id, 1, NOW + 1)
    yield "failed", RunRecord(run_id, 1, 0)
    yield "ran out", RunRecord(run_id, 1, NOW - 1)
    for ending in Ending:
        yield f"ended `{ending}`", RunRecord(run_id, 1, 0, Outcome(ending))


def told(record, state):
    """The status that the page derives: the first row that fits."""
    for run, item, status in table(PAGE, "The status users see"):
        if run == record and item in ("any", f"`{state}`"):
            return unquoted(status)[0]
    raise AssertionError(f"no row for {record} and {state}")


@pytest.mark.parametrize(
    ("kind", "state"),
    list(product(records(), State)),
    ids=lambda one: one[0] if isinstance(one, tuple) else str(one),
)
def test_the_status_is_what_the_page_says(kind, state):
    name, record = kind
    task = Task(TASK_ID, 0, first_place(TASK_ID), "echo", NOW, NOW, 0, state=state)
    assert str(status_of(task, record, NOW)) == told(name, state)


def test_each_status_is_named_and_derived_from_something():
    assert {unquoted(row[2])[0] for row in table(PAGE, "The status users see")} == set(Status)
