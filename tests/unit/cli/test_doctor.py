"""`minutero doctor`: what is looked at, what is said about it, and how it ends."""

import json
import threading

import pytest
from account_for_doctor import Account, refused
from botocore.exceptions import ConnectTimeoutError

from minutero_cli.api_client import ApiError
from minutero_cli.doctor import find
from minutero_cli.doctor.examine import EMULATED, GROUPS, MADE_UP, examine
from minutero_cli.doctor.finding import State, failed, ok, warning
from minutero_cli.main import run
from minutero_cli.times import now


@pytest.fixture
def account():
    made = Account()
    made.tells_the_time(now())
    return made


@pytest.fixture
def doctor(account, monkeypatch, capsys):
    """Runs the command on the account, and gives its exit code and its JSON."""
    monkeypatch.delenv("MINUTERO_API_URL", raising=False)
    monkeypatch.setattr(find, "find_deployment", lambda *_: account.deployment())

    def call():
        code = run(["doctor", "--json"])
        return code, json.loads(capsys.readouterr().out)

    return call


def states(told):
    return {finding["state"] for finding in told["findings"]}


def test_a_deployment_in_which_all_is_well_is_ok_in_every_check(doctor):
    code, told = doctor()
    assert (code, states(told)) == (0, {"ok"}), told
    assert told["stack"] == "minutero"
    assert {one["check"] for one in told["findings"]} == {
        check.__name__.replace("_", " ") for group in GROUPS for check in group
    }
    assert told["counts"] == {
        "ok": len(told["findings"]), "warning": 0, "failed": 0, "not_checked": 0,
    }  # fmt: skip


def test_it_asks_no_question_twice_but_where_two_ask_at_the_same_time(account):
    for group in GROUPS:
        account.asked.clear()
        examine(account.deployment(), [group])
        assert len(account.asked) == len(set(account.asked))


def test_a_check_that_failed_makes_it_end_with_1(account, doctor):
    tasks = account.of("sqs", "get_queue_attributes", "minutero-tasks")
    tasks["Attributes"]["MessageRetentionPeriod"] = "345600"
    code, told = doctor()
    assert code == 1
    (found,) = [one for one in told["findings"] if one["state"] == "failed"]
    assert (found["check"], found["what"]) == ("queue retention", "TasksQueue")
    assert "4 days" in found["found"]
    assert "1209600" in found["advice"]


def test_a_warning_makes_it_end_with_0(account, doctor):
    account.of("dynamodb", "describe_table", "minutero-Tasks")["Table"][
        "DeletionProtectionEnabled"
    ] = False
    code, told = doctor()
    assert (code, states(told)) == (0, {"ok", "warning"})


def test_every_permission_that_is_missing_is_named_and_is_no_failure(account, doctor):
    for service, operation, _ in list(account.answers):
        account.refuse(service, operation)
    account.api.answers = dict.fromkeys(account.api.answers, ApiError("no", 403))
    code, told = doctor()
    assert code == 0
    # What needs no answer of AWS's: the output with the version.
    assert [one["check"] for one in told["findings"] if one["state"] != "not checked"] == [
        "deployed version"
    ]
    named = {one["found"] for one in told["findings"] if one["state"] == "not checked"}
    assert named >= {
        "needs dynamodb:DescribeTable", "needs sqs:GetQueueAttributes",
        "needs lambda:GetAccountSettings", "needs cloudformation:ListStackResources",
        "needs execute-api:Invoke",
    }  # fmt: skip


@pytest.mark.parametrize("code", ["AccessDenied", "AccessDeniedException", "AuthorizationError"])
def test_a_refusal_is_known_by_each_name_that_services_have_for_it(account, code):
    account.refuse("dynamodb", "describe_continuous_backups", code)
    (told,) = [one for one in examine(account.deployment()) if one.check == "table recovery"]
    assert [one.found for one in told.findings] == ["needs dynamodb:DescribeContinuousBackups"]


def test_another_refusal_is_told_by_its_code(account):
    account.refuse("lambda", "get_account_settings", "ThrottlingException")
    (told,) = [one for one in examine(account.deployment()) if one.check == "account concurrency"]
    (finding,) = told.findings
    assert finding.state is State.NOT_CHECKED
    assert finding.found == "lambda:GetAccountSettings answers ThrottlingException"


def test_what_is_gone_is_a_failure_and_names_itself(account, doctor):
    account.refuse("dynamodb", "describe_table", "ResourceNotFoundException", "minutero-Runs")
    code, told = doctor()
    assert code == 1
    found = [one for one in told["findings"] if one["state"] == "failed"]
    assert {one["what"] for one in found} == {"minutero-Runs"}


def test_a_service_that_does_not_answer_is_not_asked_again(account):
    for key in account.answers:
        if key[0] == "dynamodb":
            account.answers[key] = ConnectTimeoutError(endpoint_url="https://dynamodb")
    told = examine(account.deployment())
    silent = [one for one in told if any("does not answer" in f.found for f in one.findings)]
    assert [one.check for one in silent] == [
        "table throughput", "table expiry", "table recovery", "table protection",
    ]  # fmt: skip
    assert len([one for one in account.asked if one[0] == "dynamodb"]) == 1


def test_an_answer_of_another_shape_is_not_checked_and_no_traceback(account):
    account.api.answers["/stats"] = {"watermark": None}
    told = {one.check: one.findings for one in examine(account.deployment())}
    assert [one.state for one in told["watermark"]] == [State.NOT_CHECKED]
    assert [one.state for one in told["dead letters"]] == [State.NOT_CHECKED]


def test_it_ends_in_time_though_a_check_hangs(account):
    hangs = threading.Event()

    def stuck(_deployment):
        yield ok("begun", "yes")
        hangs.wait()

    def never_begun(_deployment):
        yield ok("", "yes")

    def quick(_deployment):
        yield ok("quick", "yes")

    told = examine(account.deployment(), [[stuck, never_begun], [quick]], seconds=0.2)
    hangs.set()
    found = {one.check: [f.found for f in one.findings] for one in told}
    assert found == {
        "stuck": ["yes"], "never begun": ["no answer within 0 s"], "quick": ["yes"],
    }  # fmt: skip


def test_what_the_local_emulator_makes_up_is_not_checked_there(account):
    account.emulated = True
    told = {one.check: one.findings for one in examine(account.deployment())}
    for check in MADE_UP:
        (finding,) = told[check.__name__.replace("_", " ")]
        assert (finding.state, finding.found) == (
            State.NOT_CHECKED, EMULATED,
        )  # fmt: skip


def test_people_read_lines_with_what_to_do_below(account, monkeypatch, capsys):
    monkeypatch.delenv("MINUTERO_API_URL", raising=False)
    monkeypatch.setattr(find, "find_deployment", lambda *_: account.deployment())
    alarms = account.of("cloudwatch", "describe_alarms")["MetricAlarms"]
    for alarm in alarms:
        alarm["AlarmActions"] = []
    assert run(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    (at,) = [n for n, line in enumerate(lines) if line.startswith("warning")]
    assert "2 of 2 tell nobody" in lines[at]
    alike = "TasksTable, SchedulesTable, RunsTable, CursorsTable: on demand"
    assert len([line for line in lines if line.endswith(alike)]) == 1
    assert lines[at + 1].lstrip().startswith("-> name an address in the parameter AlarmEmail")
    assert lines[-1].endswith(" ok, 1 warning, 0 failed, 0 not checked")


def test_a_terminal_shows_colours_and_nothing_that_a_name_might_do_to_it(
    account, monkeypatch, terminal
):
    monkeypatch.setattr(find, "find_deployment", lambda *_: account.deployment())
    subscriptions = account.answers["sns", "list_subscriptions_by_topic", account_topic(account)]
    subscriptions["Subscriptions"][0] |= {
        "SubscriptionArn": "PendingConfirmation", "Endpoint": "[red]x\x1b[2J",
    }  # fmt: skip
    assert terminal.run(["doctor"]) == 0
    shown = terminal.getvalue()
    assert "\x1b[33m" in shown
    assert "[red]x\\x1b[2J" in shown


def account_topic(account):
    return account.of("cloudwatch", "describe_alarms")["MetricAlarms"][0]["AlarmActions"][0]


def test_an_api_address_alone_is_refused_with_what_to_say_instead(monkeypatch, capsys):
    monkeypatch.setenv("MINUTERO_API_URL", "https://api.example")
    assert run(["doctor"]) == 1
    assert "minutero doctor --stack NAME" in capsys.readouterr().err


def test_without_a_stack_it_says_how_to_start_one(monkeypatch, capsys, tmp_path):
    monkeypatch.delenv("MINUTERO_API_URL", raising=False)
    monkeypatch.setenv("MINUTERO_HOME", str(tmp_path))
    assert run(["doctor"]) == 1
    assert "minutero local up" in capsys.readouterr().err


def test_an_unknown_stack_is_one_line(monkeypatch, capsys):
    def unknown(*_):
        raise find.MinuteroError("CloudFormation knows no stack 'x' in us-east-1")

    monkeypatch.setattr(find, "find_stack", unknown)
    assert run(["doctor", "--stack", "x"]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "knows no stack 'x'" in error


def test_findings_have_advice_unless_they_are_ok():
    assert ok("a", "b").advice == ""
    assert warning("a", "b", "c").advice == failed("a", "b", "c").advice == "c"


def test_the_fake_account_refuses_what_aws_would(account):
    client = account.deployment().client("sqs")
    account.answers["sqs", "get_queue_attributes", "minutero-tasks"] = refused("X", "Y")
    with pytest.raises(Exception, match="Y"):
        client.get_queue_attributes(QueueUrl="https://sqs/1/minutero-tasks")
    with pytest.raises(Exception, match="Unknown parameter"):
        client.get_queue_attributes(Queue="https://sqs/1/minutero-tasks")
