import pytest

from minutero.domain.instants import DAY, MINUTE, SECOND
from minutero.errors import SettingsError
from minutero.settings import Settings

NAMES = {
    "MINUTERO_TASKS_TABLE": "tasks",
    "MINUTERO_SCHEDULES_TABLE": "schedules",
    "MINUTERO_CURSORS_TABLE": "cursors",
    "MINUTERO_RUNS_TABLE": "runs",
    "MINUTERO_TASKS_QUEUE_URL": "https://queue",
    "MINUTERO_DEAD_LETTER_QUEUE_URL": "https://dead",
    "MINUTERO_WORKER_FUNCTION": "worker",
    "MINUTERO_DISPATCHER_FUNCTION": "dispatcher",
}


def test_names_are_read_and_numbers_have_defaults():
    settings = Settings.from_environment(NAMES)
    assert (settings.tasks_table, settings.runs_table) == ("tasks", "runs")
    assert (settings.tasks_queue_url, settings.worker_function) == ("https://queue", "worker")
    assert settings.shards == 8
    assert settings.timing.look_ahead == 3 * MINUTE
    assert settings.timing.worker_timeout == 60 * SECOND
    assert settings.timing.retention == 30 * DAY


def test_numbers_are_read_in_their_units():
    settings = Settings.from_environment(
        {
            **NAMES,
            "MINUTERO_SHARDS": "16",
            "MINUTERO_LOOK_AHEAD_MINUTES": "14",
            "MINUTERO_WORKER_TIMEOUT_SECONDS": "900",
            "MINUTERO_RETENTION_DAYS": "90",
        }
    )
    assert settings.shards == 16
    assert settings.timing.look_ahead == 14 * MINUTE
    assert settings.timing.worker_timeout == 900 * SECOND
    assert settings.timing.retention == 90 * DAY


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("empty", [True, False])
def test_a_missing_or_empty_name_is_refused(name, empty):
    environment = {**NAMES, name: ""} if empty else {k: v for k, v in NAMES.items() if k != name}
    with pytest.raises(SettingsError, match=f"{name} is not set"):
        Settings.from_environment(environment)


@pytest.mark.parametrize("value", ["0", "-1", "1.5", "many", " 8", "²", "1e3"])
@pytest.mark.parametrize("name", ["SHARDS", "LOOK_AHEAD_MINUTES", "RETENTION_DAYS"])
def test_a_number_that_makes_no_sense_is_refused_by_name(name, value):
    with pytest.raises(SettingsError, match=f"MINUTERO_{name} must be a whole number from 1 to"):
        Settings.from_environment({**NAMES, f"MINUTERO_{name}": value})


def test_everything_wrong_is_named_at_once():
    with pytest.raises(SettingsError) as refused:
        Settings.from_environment({"MINUTERO_SHARDS": "none"})
    assert all(name in str(refused.value) for name in NAMES)
    assert "MINUTERO_SHARDS" in str(refused.value)


def test_settings_that_break_a_promise_are_refused():
    with pytest.raises(SettingsError, match="look-ahead"):
        Settings.from_environment({**NAMES, "MINUTERO_LOOK_AHEAD_MINUTES": "15"})
    with pytest.raises(SettingsError, match="retention"):
        Settings.from_environment({**NAMES, "MINUTERO_RETENTION_DAYS": "29"})


def test_more_shards_than_a_task_id_can_name_are_refused():
    with pytest.raises(
        SettingsError, match="MINUTERO_SHARDS must be a whole number from 1 to 1024"
    ):
        Settings.from_environment({**NAMES, "MINUTERO_SHARDS": "1025"})
