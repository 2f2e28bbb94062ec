import json
import signal
import time
from pathlib import Path

import pytest

FRIDAY = "2026-12-04T18:00:00-06:00"
MARGIN_SECONDS = 30
"""As `Timing.run_margin`: what a killed process is given up after, beyond its time-out."""


def done(deployment):
    path = deployment.folder / "done.txt"
    return path.read_text().split() if path.exists() else []


def test_a_job_runs_at_the_time_it_is_told_and_its_result_is_printed(deployment):
    code, told, _ = deployment.run("note", "--now", FRIDAY, "--payload", '"a"')
    assert (code, told["status"], told["here"]) == (0, "succeeded", True)
    assert told["result"]["scheduled_for"] == "2026-12-05T00:00:00+00:00"
    assert told["result"]["key"] == told["run_key"]
    assert done(deployment) == ["a"]


def test_the_same_friday_started_again_is_known_and_does_nothing(deployment):
    first = deployment.run("note", "--now", FRIDAY)[1]
    code, told, _ = deployment.run("note", "--now", "2026-12-05T00:00:00Z")
    assert (code, told["status"], told["here"]) == (0, "succeeded", False)
    assert told["result"] == first["result"]
    assert len(done(deployment)) == 1


def test_two_processes_started_at_once_for_the_same_time_run_it_once(deployment):
    words = ("jobs", "run", "slow", "--now", FRIDAY, "--json")
    started = [deployment.start(*words), deployment.start(*words)]
    lines = {process.stdout.readline(): process for process in started}
    one = lines.pop("began\n")
    ((line, other),) = lines.items()
    told = json.loads(line)
    assert (told["status"], told["here"]) == ("running", False)
    assert other.communicate(timeout=30) == ("", "")
    assert other.returncode == 0
    told = json.loads(one.communicate(timeout=30)[0])
    assert (one.returncode, told["status"], told["here"]) == (0, "succeeded", True)
    assert done(deployment) == ["began", "ended"]


def test_another_time_and_another_payload_are_other_runs(deployment):
    deployment.run("note", "--now", FRIDAY, "--payload", "1")
    deployment.run("note", "--now", FRIDAY, "--payload", "2")
    deployment.run("note", "--now", "2026-12-11T18:00:00-06:00", "--payload", "3")
    assert done(deployment) == ["1", "2", "3"]


def test_a_key_names_the_run_whatever_the_time(deployment):
    deployment.run("note", "--now", FRIDAY, "--key", "2026-W49", "--payload", "1")
    code, told, _ = deployment.run("note", "--key", "2026-W49", "--payload", "2")
    assert (code, told["here"]) == (0, False)
    assert done(deployment) == ["1"]


def test_without_a_time_and_a_key_each_start_is_a_run(deployment):
    deployment.run("note", "--payload", "1")
    deployment.run("note", "--payload", "1")
    assert done(deployment) == ["1", "1"]


def test_a_run_that_failed_ends_with_1_and_may_be_started_again(deployment, caplog):
    code, told, _ = deployment.run("fails-once", "--now", FRIDAY)
    assert (code, told["status"]) == (1, "failed")
    assert "no such wallet" in told["reason"]
    assert "Traceback" in caplog.text
    code, told, _ = deployment.run("fails-once", "--now", FRIDAY)
    assert (code, told["status"], told["result"]) == (0, "succeeded", 2)


def test_a_job_that_exits_has_failed_whatever_its_code_and_may_be_started_again(deployment):
    for attempt in (1, 2):
        code, told, _ = deployment.run("exits", "--now", FRIDAY)
        assert (code, told["status"]) == (1, "failed")
        assert "by SystemExit: 0" in told["reason"]
        assert len(done(deployment)) == attempt


def test_a_run_that_failed_for_good_stays_so(deployment):
    for here in (True, False):
        code, told, _ = deployment.run("never-works", "--now", FRIDAY)
        assert (code, told["status"], told["here"]) == (1, "dead", here)
        assert "the account is closed" in told["reason"]
    assert done(deployment) == ["tried"]


def test_a_run_with_nothing_to_do_is_well(deployment):
    code, told, _ = deployment.run("nothing-to-do", "--now", FRIDAY)
    assert (code, told["status"], told["reason"]) == (0, "skipped", "a holiday")


def test_what_a_job_has_left_is_the_time_out(deployment):
    _, told, _ = deployment.run("left", "--timeout", "500")
    assert 0 < told["result"] <= 500


def test_a_process_over_its_time_out_ends_with_1(deployment):
    with deployment.start("jobs", "run", "slow", "--timeout", "1") as process:
        assert process.stdout.read() == "began\n"
        assert "took longer than 1 s" in process.stderr.read()
    assert process.returncode == 1


def test_a_process_that_is_told_to_stop_leaves_its_run_free_at_once(deployment):
    process = deployment.start("jobs", "run", "slow", "--now", FRIDAY)
    assert process.stdout.readline() == "began\n"
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=30)
    assert process.returncode == 1
    code, told, _ = deployment.run("slow", "--now", FRIDAY)
    assert (code, told["status"], told["here"]) == (0, "succeeded", True)


def test_a_killed_process_blocks_its_run_no_longer_than_its_time_out_and_a_margin(deployment):
    before = time.time()
    process = deployment.start("jobs", "run", "slow", "--now", FRIDAY, "--timeout", "7")
    assert process.stdout.readline() == "began\n"
    process.kill()
    process.communicate(timeout=30)
    code, told, _ = deployment.run("slow", "--now", FRIDAY)
    assert (code, told["status"]) == (0, "running")
    (record,) = deployment.records()
    until = int(record["in_progress_expiration"]["N"]) / 1000
    assert before + 7 + MARGIN_SECONDS <= until <= time.time() + 7 + MARGIN_SECONDS
    let_it_pass(deployment, record)
    code, told, _ = deployment.run("slow", "--now", FRIDAY)
    assert (code, told["status"], told["here"]) == (0, "succeeded", True)


def let_it_pass(deployment, record):
    """The time of the killed process, as if it were over."""
    deployment.dynamodb.update_item(
        TableName="Runs",
        Key={"id": record["id"]},
        UpdateExpression="SET in_progress_expiration = :past",
        ExpressionAttributeValues={":past": {"N": "1"}},
    )


def test_for_a_person_it_is_told_in_a_line(deployment):
    words = ("note", "--now", FRIDAY)
    assert deployment.run(*words, as_json=False)[1].startswith("note succeeded\n")
    assert "note succeeded before; nothing was done" in deployment.run(*words, as_json=False)[1]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nobody"], "has no job 'nobody'; there are: aws.call, exits, fails-once"),
        (["note", "--jobs", "nowhere"], "there is no folder nowhere"),
        (["not/a/name"], "job must be 1 to 128 characters"),
        (["note", "--key", "a\nb"], "key must be"),
    ],
)
def test_what_cannot_be_run_is_told_in_one_line_and_starts_nothing(deployment, words, told):
    code, out, err = deployment.run(*words)
    assert (code, out) == (1, None)
    assert told in err
    assert len(err.splitlines()) == 1
    assert deployment.records() == []


def test_a_module_that_cannot_be_imported_is_told_and_stops_no_other(deployment, caplog):
    (deployment.folder / "jobs" / "broken.py").write_text("import nothing_of_the_kind\n")
    code, told, _ = deployment.run("note")
    assert (code, told["status"]) == (0, "succeeded")
    assert "jobs/broken.py cannot be imported" in caplog.text


def test_without_a_deployment_it_says_what_to_do(deployment, tmp_path):
    del deployment.environment["MINUTERO_RUNS_TABLE"]
    deployment.environment["MINUTERO_HOME"] = str(tmp_path)
    code, _, err = deployment.run("note")
    assert code == 1
    assert "minutero local up" in err


def test_the_jobs_of_a_checkout_are_found_there(deployment):
    checkout = deployment.folder / "functions" / "worker"
    checkout.mkdir(parents=True)
    Path(deployment.folder / "jobs").rename(checkout / "jobs")
    assert deployment.run("note")[0] == 0


def test_a_region_is_found_as_lambda_and_fargate_name_it(deployment):
    del deployment.environment["AWS_DEFAULT_REGION"]
    assert deployment.run("note")[0] == 0
