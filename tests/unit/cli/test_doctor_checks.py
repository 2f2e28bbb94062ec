"""Each check of `minutero doctor` can fail: one thing is broken, and it is told."""

import json

import pytest
from account_for_doctor import ARN, TOPIC, UUID, Account

from minutero_cli.api_client import ApiError
from minutero_cli.doctor import (
    alarms,
    backlog,
    clock,
    functions,
    queues,
    relations,
    sources,
    tables,
    versions,
)
from minutero_cli.doctor.deployment import NotChecked
from minutero_cli.doctor.finding import State
from minutero_cli.times import now

NOON = 1_796_040_000_000
"""2026-11-30T12:00:00Z."""


@pytest.fixture
def account():
    return Account()


def not_ok(account, check):
    """What a check finds wrong: (state, what, found and advice)."""
    return [
        (one.state, one.what, f"{one.found}; {one.advice}")
        for one in check(account.deployment())
        if one.state is not State.OK
    ]


def the_one(account, check):
    (found,) = not_ok(account, check)
    return found


# --- tables ---------------------------------------------------------------------------------------


def table(account, name="Tasks"):
    return account.of("dynamodb", "describe_table", f"minutero-{name}")["Table"]


def test_a_table_that_is_not_active_has_failed(account):
    table(account)["TableStatus"] = "ARCHIVING"
    state, what, told = the_one(account, tables.table_throughput)
    assert (state, what) == (State.FAILED, "TasksTable")
    assert "ARCHIVING" in told


def test_a_limit_on_demand_is_a_warning_with_its_size(account):
    table(account, "Runs")["OnDemandThroughput"] = {
        "MaxReadRequestUnits": -1, "MaxWriteRequestUnits": 1200,
    }  # fmt: skip
    state, what, told = the_one(account, tables.table_throughput)
    assert (state, what) == (State.WARNING, "RunsTable")
    assert "at most 1,200 write units a second" in told


def test_provisioned_units_without_auto_scaling_are_a_warning_that_says_what_they_are_enough_for(
    account,
):
    provisioned(account, 50)
    state, what, told = the_one(account, tables.table_throughput)
    assert (state, what) == (State.WARNING, "TasksTable")
    assert "25 small tasks a second" in told
    assert "PAY_PER_REQUEST" in told


def test_provisioned_units_that_grow_are_told_with_their_limits(account):
    provisioned(account, 50)
    account.answers["application-autoscaling", "describe_scalable_targets", ""] = {
        "ScalableTargets": [
            {
                "ServiceNamespace": "dynamodb", "ResourceId": "table/minutero-Tasks",
                "ScalableDimension": "dynamodb:table:WriteCapacityUnits",
                "MinCapacity": 50, "MaxCapacity": 4000, "RoleARN": "r", "CreationTime": 0,
            }
        ]
    }  # fmt: skip
    found = next(iter(tables.table_throughput(account.deployment())))
    assert found.state is State.OK
    assert "from 50 to 4,000 write units" in found.found


def provisioned(account, units):
    found = table(account)
    del found["BillingModeSummary"]
    found["ProvisionedThroughput"] = {"WriteCapacityUnits": units, "ReadCapacityUnits": units}


@pytest.mark.parametrize(
    ("name", "now_is", "state"),
    [
        ("Tasks", {"TimeToLiveStatus": "DISABLED"}, State.WARNING),
        ("Runs", {"TimeToLiveStatus": "ENABLED", "AttributeName": "expires_at"}, State.WARNING),
        ("Cursors", {"TimeToLiveStatus": "ENABLED", "AttributeName": "lease"}, State.FAILED),
    ],
)
def test_rows_that_expire_otherwise_than_they_should_are_told(account, name, now_is, state):
    key = ("dynamodb", "describe_time_to_live", f"minutero-{name}")
    account.answers[key] = {"TimeToLiveDescription": now_is}
    found, what, _ = the_one(account, tables.table_expiry)
    assert (found, what) == (state, f"{name}Table")


def test_no_recovery_is_a_warning_where_data_are_to_be_kept_and_fine_elsewhere(account):
    key = ("dynamodb", "describe_continuous_backups", "minutero-Tasks")
    told = account.answers[key]["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
    told["PointInTimeRecoveryStatus"] = "DISABLED"
    assert the_one(account, tables.table_recovery)[:2] == (State.WARNING, "TasksTable")
    account.parameters["RetainData"] = "false"
    assert not_ok(account, tables.table_recovery) == []


def test_no_protection_is_a_warning_where_data_are_to_be_kept_and_fine_elsewhere(account):
    table(account, "Cursors")["DeletionProtectionEnabled"] = False
    assert the_one(account, tables.table_protection)[:2] == (State.WARNING, "CursorsTable")
    account.parameters["RetainData"] = "false"
    assert not_ok(account, tables.table_protection) == []


# --- queues ---------------------------------------------------------------------------------------


def queue(account, name="tasks"):
    return account.of("sqs", "get_queue_attributes", f"minutero-{name}")["Attributes"]


@pytest.mark.parametrize("name", ["tasks", "dead-letters"])
def test_a_queue_that_keeps_messages_for_less_than_14_days_has_failed(account, name):
    queue(account, name)["MessageRetentionPeriod"] = "1209599"
    assert the_one(account, queues.queue_retention)[0] is State.FAILED


@pytest.mark.parametrize(
    ("seconds", "state"), [(359, State.WARNING), (60, State.WARNING), (59, State.FAILED)]
)
def test_the_visibility_time_out_is_six_times_the_workers(account, seconds, state):
    queue(account)["VisibilityTimeout"] = str(seconds)
    found, what, told = the_one(account, queues.queue_visibility)
    assert (found, what) == (state, "TasksQueue")
    assert "360 s" in told


def test_the_visibility_time_out_follows_the_function_that_is_deployed(account):
    account.of("lambda", "get_function_configuration", "minutero-DeadLetter")["Timeout"] = 300
    assert the_one(account, queues.queue_visibility)[:2] == (State.WARNING, "DeadLetterQueue")


@pytest.mark.parametrize(
    ("policy", "state"),
    [
        ({}, State.FAILED),
        ({"deadLetterTargetArn": ARN.format("sqs", "x"), "maxReceiveCount": 20}, State.FAILED),
        ({"maxReceiveCount": 3}, State.WARNING),
    ],
)
def test_dead_letters_come_to_their_queue_after_20_receives(account, policy, state):
    if "maxReceiveCount" in policy:
        policy = {"deadLetterTargetArn": queue(account, "dead-letters")["QueueArn"], **policy}
    queue(account)["RedrivePolicy"] = json.dumps(policy) if policy else ""
    assert the_one(account, queues.queue_redrive)[:2] == (state, "TasksQueue")


# --- functions ------------------------------------------------------------------------------------


def function(account, name="Worker"):
    return account.of("lambda", "get_function_configuration", f"minutero-{name}")


def test_a_function_whose_deployment_failed_has_failed_with_its_reason(account):
    function(account, "Api").update(LastUpdateStatus="Failed", LastUpdateStatusReason="no layer")
    state, what, told = the_one(account, functions.function_state)
    assert (state, what) == (State.FAILED, "ApiFunction")
    assert "no layer" in told


@pytest.mark.parametrize(
    ("free", "state"), [(110, State.WARNING), (10, State.WARNING), (1, State.FAILED)]
)
def test_an_account_that_gives_less_than_may_be_wanted_is_told(account, free, state):
    limit = account.of("lambda", "get_account_settings")["AccountLimit"]
    limit["UnreservedConcurrentExecutions"] = free
    found, what, told = the_one(account, functions.account_concurrency)
    assert (found, what) == (state, "account")
    assert f"{free} of 1,000" in told
    assert "111 may be wanted" in told


def test_more_shards_want_more_dispatchers(account):
    account.parameters["Shards"] = "80"
    limit = account.of("lambda", "get_account_settings")["AccountLimit"]
    limit["UnreservedConcurrentExecutions"] = 119
    assert "120 may be wanted" in the_one(account, functions.account_concurrency)[2]


@pytest.mark.parametrize(
    ("name", "reserved", "state"),
    [
        ("Api", 0, State.FAILED),
        ("Dispatcher", 0, State.FAILED),
        ("Dispatcher", 1, None),
        ("Worker", 99, State.WARNING),
        ("Worker", 100, None),
    ],
)
def test_what_is_reserved_is_enough(account, name, reserved, state):
    key = ("lambda", "get_function_concurrency", f"minutero-{name}")
    account.answers[key] = {"ReservedConcurrentExecutions": reserved}
    found = not_ok(account, functions.reserved_concurrency)
    assert [one[:2] for one in found] == ([(state, f"{name}Function")] if state else [])


@pytest.mark.parametrize(
    "setting", [{"MaximumRetryAttempts": 2}, {"MaximumEventAgeInSeconds": 3600}]
)
def test_a_tick_that_is_repeated_later_is_a_warning(account, setting):
    account.of("lambda", "get_function_event_invoke_config", "minutero-Dispatcher").update(setting)
    assert the_one(account, functions.async_invocation)[:2] == (State.WARNING, "DispatcherFunction")


def test_lambdas_own_setting_for_ticks_is_a_warning(account):
    account.refuse(
        "lambda",
        "get_function_event_invoke_config",
        "ResourceNotFoundException",
        "minutero-Auditor",
    )
    state, what, told = the_one(account, functions.async_invocation)
    assert (state, what) == (State.WARNING, "AuditorFunction")
    assert "2 times, 21600 s" in told


def test_a_worker_that_may_not_send_to_its_own_queue_has_failed(account):
    key = ("lambda", "get_function_recursion_config", "minutero-Worker")
    account.answers[key] = {"RecursiveLoop": "Terminate"}
    assert the_one(account, functions.worker_recursion)[0] is State.FAILED


# --- what calls them ------------------------------------------------------------------------------


def mapping(account, name="Worker"):
    told = account.of("lambda", "list_event_source_mappings", f"minutero-{name}")
    return told["EventSourceMappings"][0]


@pytest.mark.parametrize("name", ["Worker", "DeadLetter"])
@pytest.mark.parametrize(
    ("change", "state", "says"),
    [
        ({"State": "Disabled"}, State.FAILED, f"--uuid {UUID}"),
        ({"FunctionResponseTypes": []}, State.FAILED, "failed messages are lost"),
        ({"EventSourceArn": ARN.format("sqs", "another")}, State.FAILED, "nobody polls"),
        ({"BatchSize": 100}, State.WARNING, "100 messages"),
    ],
)
def test_each_queue_is_polled_as_its_function_needs_it(account, name, change, state, says):
    mapping(account, name).update(change)
    found, what, told = the_one(account, sources.queue_polling)
    assert (found, what) == (state, f"{name}Function")
    assert says in told


def test_a_worker_without_a_limit_is_a_warning(account):
    del mapping(account)["ScalingConfig"]
    assert the_one(account, sources.worker_limit)[0] is State.WARNING


def test_pollers_that_are_kept_ready_are_a_limit_too(account):
    del mapping(account)["ScalingConfig"]
    mapping(account)["ProvisionedPollerConfig"] = {"MinimumPollers": 30, "MaximumPollers": 30}
    assert not_ok(account, sources.worker_limit) == []
    limit = account.of("lambda", "get_account_settings")["AccountLimit"]
    limit["UnreservedConcurrentExecutions"] = 310
    assert "311 may be wanted" in the_one(account, functions.account_concurrency)[2]


RULE = "minutero-DispatcherFunctionTick-1"


def test_a_rule_that_is_disabled_has_failed_and_says_how_to_enable_it(account):
    account.of("events", "describe_rule", RULE)["State"] = "DISABLED"
    state, what, told = the_one(account, sources.rules)
    assert (state, what) == (State.FAILED, "DispatcherFunctionTick")
    assert f"aws events enable-rule --name {RULE}" in told


def test_a_rule_that_fires_at_another_time_has_failed(account):
    account.of("events", "describe_rule", RULE)["ScheduleExpression"] = "rate(5 minutes)"
    assert the_one(account, sources.rules)[0] is State.FAILED


def test_a_rule_that_calls_another_function_has_failed(account):
    account.of("events", "list_targets_by_rule", RULE)["Targets"][0]["Arn"] = "arn:other"
    assert the_one(account, sources.rules)[0] is State.FAILED


def test_a_rule_that_repeats_its_calls_for_long_is_a_warning(account):
    del account.of("events", "list_targets_by_rule", RULE)["Targets"][0]["RetryPolicy"]
    state, _, told = the_one(account, sources.rules)
    assert state is State.WARNING
    assert "86,400 s" in told


def test_a_rule_that_is_gone_has_failed(account):
    account.refuse("events", "describe_rule", "ResourceNotFoundException", RULE)
    assert the_one(account, sources.rules)[:2] == (State.FAILED, "DispatcherFunctionTick")
    rows = account.of("cloudformation", "list_stack_resources")["StackResourceSummaries"]
    rows[:] = [row for row in rows if row["ResourceType"] != "AWS::Events::Rule"]
    assert [one[0] for one in not_ok(account, sources.rules)] == [State.FAILED, State.FAILED]


# --- alarms ---------------------------------------------------------------------------------------


def alarm(account, at=0):
    return account.of("cloudwatch", "describe_alarms")["MetricAlarms"][at]


def test_an_alarm_that_is_gone_has_failed(account):
    account.of("cloudwatch", "describe_alarms")["MetricAlarms"].pop()
    state, _, told = the_one(account, alarms.alarms_there)
    assert state is State.FAILED
    assert "minutero-dead-tasks" in told


def test_alarms_whose_actions_are_switched_off_are_a_warning(account):
    alarm(account)["ActionsEnabled"] = False
    state, _, told = the_one(account, alarms.alarms_there)
    assert state is State.WARNING
    assert "minutero-no-tick" in told


def test_an_alarm_that_tells_nobody_is_a_warning(account):
    alarm(account)["AlarmActions"] = []
    state, _, told = the_one(account, alarms.alarm_subscribers)
    assert state is State.WARNING
    assert "1 of 2 tell nobody" in told


def subscriptions(account):
    return account.of("sns", "list_subscriptions_by_topic", TOPIC)["Subscriptions"]


def test_a_subscriber_who_has_not_confirmed_is_a_warning(account):
    subscriptions(account)[0]["SubscriptionArn"] = "PendingConfirmation"
    state, _, told = the_one(account, alarms.alarm_subscribers)
    assert state is State.WARNING
    assert "0 subscribers, and not confirmed: a@example.com" in told


def test_a_topic_without_a_subscriber_is_a_warning_and_a_topic_that_is_gone_a_failure(account):
    subscriptions(account).clear()
    assert the_one(account, alarms.alarm_subscribers)[0] is State.WARNING
    account.refuse("sns", "list_subscriptions_by_topic", "NotFound")
    assert the_one(account, alarms.alarm_subscribers)[0] is State.FAILED


def test_actions_other_than_topics_are_taken_for_somebody(account):
    for one in (0, 1):
        alarm(account, one)["AlarmActions"] = [ARN.format("lambda", "function:pager")]
    assert not_ok(account, alarms.alarm_subscribers) == []


def test_an_alarm_that_is_going_off_is_told_with_its_section(account):
    alarm(account, 1)["StateValue"] = "ALARM"
    state, what, told = the_one(account, alarms.alarms_off)
    assert (state, what) == (State.WARNING, "minutero-dead-tasks")
    assert "see dead-tasks in docs/operations.md" in told


# --- clock, versions, times -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ahead", "took", "state", "says"),
    [
        (0, 100, State.OK, "agrees"),
        (6_000, 100, State.OK, "agrees"),
        (-6_000, 1_000, State.OK, "agrees"),
        (7_000, 100, State.WARNING, "6.0 s ahead of"),
        (-30_000, 1_000, State.WARNING, "29.0 s behind"),
        (241_000, 100, State.FAILED, "4 minutes"),
        (-241_000, 1_000, State.FAILED, "4 minutes"),
    ],
)
def test_a_clock_is_compared_with_the_date_of_an_answer(ahead, took, state, says):
    """Neither the whole second of the Date nor the time the answer took is a clock's error."""
    found = clock.clock_finding(NOON + ahead, NOON + ahead + took, NOON)
    assert found.state is state
    assert says in f"{found.found} {found.advice}"


def test_the_clock_is_this_machines_and_the_date_that_of_an_answer(account):
    account.tells_the_time(now())
    assert not_ok(account, clock.local_clock) == []
    account.tells_the_time(now() - 3_600_000)
    assert the_one(account, clock.local_clock)[0] is State.FAILED
    account.date = ""
    with pytest.raises(NotChecked, match="no Date"):
        not_ok(account, clock.local_clock)


def test_a_stack_of_another_version_is_a_warning(account):
    account.outputs["Version"] = "0.0.9"
    state, _, told = the_one(account, versions.deployed_version)
    assert state is State.WARNING
    assert "0.0.9" in told


def test_a_stack_that_tells_no_version_is_not_checked(account):
    del account.outputs["Version"]
    with pytest.raises(NotChecked, match="no output Version"):
        not_ok(account, versions.deployed_version)


@pytest.mark.parametrize(
    ("deployed", "ours", "says"),
    [
        ("2026f", "2026f", ""),
        ("2026f", "2026a", ""),
        ("2025c", "2025c", "older than a year"),
        ("2024b", "2026f", "older than a year"),
        ("2026e", "2026f", "this checkout has 2026f"),
    ],
)
def test_time_zones_are_todays_and_not_a_year_old(deployed, ours, says):
    found = versions.zones_finding(deployed, ours, NOON)
    assert found.state is (State.WARNING if says else State.OK)
    assert says in found.found


def test_zones_of_last_year_are_good_until_july():
    june, july = 1_782_864_000_000 - 1, 1_782_864_000_000  # 2026-07-01T00:00:00Z
    assert versions.zones_finding("2025b", "2025b", june).state is State.OK
    assert versions.zones_finding("2025b", "2025b", july).state is State.WARNING


def test_an_api_that_tells_no_time_zones_is_not_checked(account):
    del account.api.answers["/stats"]["tzdata"]
    with pytest.raises(NotChecked, match="no version of the time zones"):
        not_ok(account, versions.time_zones)


@pytest.mark.parametrize(
    ("name", "seconds", "says"),
    [
        ("Dispatcher", 60, "ticks pile up"),
        ("Dispatcher", 90, "a shard's lease must outlive"),
        ("Worker", 901, "1 s to 15 minutes"),
    ],
)
def test_a_time_out_that_breaks_a_rule_of_the_protocol_has_failed(account, name, seconds, says):
    function(account, name)["Timeout"] = seconds
    state, _, told = the_one(account, relations.time_relations)
    assert state is State.FAILED
    assert says in told


@pytest.mark.parametrize(
    ("parameter", "value"), [("LookAheadMinutes", "15"), ("RetentionDays", "29")]
)
def test_a_parameter_that_breaks_a_rule_of_the_protocol_has_failed(account, parameter, value):
    account.parameters[parameter] = value
    assert the_one(account, relations.time_relations)[0] is State.FAILED


def test_a_parameter_that_is_not_there_is_not_checked(account):
    del account.parameters["RetentionDays"]
    with pytest.raises(NotChecked, match="no parameter RetentionDays"):
        not_ok(account, relations.time_relations)


def test_a_function_whose_settings_were_changed_by_hand_has_failed(account):
    function(account, "Dispatcher")["Environment"]["Variables"]["MINUTERO_SHARDS"] = "4"
    function(account)["Timeout"] = 30
    (dispatcher, worker) = not_ok(account, relations.settings)
    assert dispatcher[:2] == (State.FAILED, "DispatcherFunction")
    assert "MINUTERO_SHARDS is 4, not 8" in dispatcher[2]
    assert "its time-out is 30, not 60" in worker[2]


@pytest.mark.parametrize("there", [4, 16])
def test_shards_in_force_that_are_not_the_parameters_are_a_warning(account, there):
    account.api.answers["/stats"]["shards"] = there
    state, _, told = the_one(account, relations.shards)
    assert state is State.WARNING
    assert f"{there} are in force, and the parameter says 8" in told


# --- what waits -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lag", "state"),
    [(540, None), (541, State.WARNING), (1_141, State.FAILED), (None, State.WARNING)],
)
def test_a_watermark_that_falls_behind_is_told(account, lag, state):
    account.api.answers["/stats"]["watermark"]["lag_seconds"] = lag
    found = not_ok(account, backlog.watermark)
    assert [one[0] for one in found] == ([state] if state else [])


def test_the_dead_of_the_last_day_are_counted(account):
    account.api.answers["/dead"] = {"dead": [{}, {}], "next_token": "t"}
    state, what, told = the_one(account, backlog.dead_letters)
    assert (state, what) == (State.WARNING, "dead tasks")
    assert "2 or more since yesterday" in told


def test_messages_that_wait_in_the_dead_letter_queue_are_told(account):
    account.api.answers["/stats"]["dead_letter_queue"]["ready"] = 3
    assert the_one(account, backlog.dead_letters)[:2] == (State.WARNING, "DeadLetterQueue")


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (ApiError("no", 403), "needs execute-api:Invoke"),
        (ApiError("it is busy", 503), "it is busy"),
        (ApiError("it does not answer"), "it does not answer"),
    ],
)
def test_an_api_that_does_not_tell_is_not_checked(account, error, says):
    account.api.answers["/stats"] = error
    with pytest.raises(NotChecked, match=says):
        not_ok(account, backlog.watermark)
