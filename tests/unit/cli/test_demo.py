import pytest

from minutero_cli import demo

from .conftest import TASK


def told(task_id, **more):
    return {**TASK, "task_id": task_id, "lateness_ms": None, "timeline": {}, **more}


def done(task_id):
    moments = ("created_at", "claimed_at", "started_at", "finished_at")
    timeline = {name: f"2026-12-01T09:00:0{i}Z" for i, name in enumerate(moments)}
    return told(task_id, status="succeeded", lateness_ms=250, timeline=timeline)


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(demo, "POLL_SECONDS", 0)


def lay_ready(api):
    for number in range(len(demo.TASKS)):
        api.answers(201, told(f"t{number}", run_at="2020-01-01T00:00:00Z"))
    for number in range(len(demo.TASKS)):
        api.answers(200, done(f"t{number}"))


def test_the_demo_tells_each_step_of_each_task_and_ends(api, monkeypatch, capsys):
    monkeypatch.setenv("MINUTERO_DEMO_UNTIL_DONE", "1")
    monkeypatch.setattr(demo.sys, "argv", ["demo"])
    lay_ready(api)
    assert demo.main() == 0
    lines = capsys.readouterr().out
    assert lines.count(" finished") == len(demo.TASKS)
    assert lines.count("0.25 s late") == len(demo.TASKS)
    assert "minutero local down" in lines


def test_ctrl_c_ends_the_demo_well_and_says_how_to_go_on(api, monkeypatch, capsys):
    monkeypatch.setattr(demo.sys, "argv", ["demo"])
    lay_ready(api)

    def interrupt(_seconds):
        raise KeyboardInterrupt

    monkeypatch.setattr(demo.time, "sleep", interrupt)
    assert demo.main() == 0
    assert "minutero local down" in capsys.readouterr().out


def test_the_demo_without_a_stack_says_what_to_do(api, monkeypatch, capsys):
    monkeypatch.setattr(demo.sys, "argv", ["demo"])
    assert demo.main() == 1
    assert "minutero local" in capsys.readouterr().err


def test_a_table_follows_the_tasks_and_is_read_whole_at_a_terminal_of_80_columns():
    from rich.console import Console

    from minutero_cli.demo_table import table

    followed = [demo.Followed("in 200 s", "why", done("t0"))]
    console = Console(record=True, width=80, force_terminal=True)
    console.print(table(followed))
    shown = console.export_text()
    assert "…" not in shown
    (row,) = [line.split() for line in shown.splitlines() if line.startswith("in 200 s")]
    assert row[3] == "succeeded"
    assert row[5:] == ["09:00:01.0", "09:00:02.0", "09:00:03.0", "0.25", "s"]
