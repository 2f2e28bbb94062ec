"""An AWS account in which all is well, as AWS's own clients see it, for a test to break one thing of.

The clients are botocore's, so that a question AWS would refuse is refused here; each answer is held against
AWS's own description of it.
"""

import copy
import json
from dataclasses import dataclass, field
from email.utils import formatdate
from functools import cache
from threading import Lock

import botocore.session
from botocore.awsrequest import AWSResponse
from botocore.exceptions import ClientError
from botocore.validate import ParamValidator

from minutero_cli.api_client import Answer
from minutero_cli.doctor.deployment import Deployment

STACK = "minutero"
UUID = "12345678-1234-1234-1234-123456789012"
ARN = "arn:aws:{}:us-east-1:123456789012:{}"
NOW = "2026-11-30T15:00:00Z"
TABLES = ("Tasks", "Schedules", "Cursors", "Runs")
EXPIRES = {"Tasks": "expires_at", "Schedules": "expires_at", "Runs": "expiration"}
FUNCTIONS = {
    "Api": (10, 512), "Dispatcher": (50, 1024), "Worker": (60, 512), "DeadLetter": (60, 512),
    "Auditor": (120, 512),
}  # fmt: skip
QUEUES = {"Tasks": "tasks", "DeadLetter": "dead-letters"}
RULES = {"DispatcherFunctionTick": "rate(1 minute)", "AuditorFunctionAudit": "rate(5 minutes)"}
ALARMS = ("no-tick", "dead-tasks")
TOPIC = ARN.format("sns", "minutero-alarms")
PARAMETERS = {
    "Shards": "8", "LookAheadMinutes": "3", "WorkerTimeout": "60", "RetentionDays": "30",
    "RetainData": "true",
}  # fmt: skip
STATS = {
    "now": NOW,
    "shards": 8,
    "watermark": {"oldest": "2026-11-30T14:53:00Z", "lag_seconds": 420},
    "queue": {"ready": 0, "delayed": 0, "in_flight": 0},
    "dead_letter_queue": {"ready": 0, "delayed": 0, "in_flight": 0},
    "tzdata": "2026f",
}


def outputs():
    return {
        **{f"{one}TableName": f"minutero-{one}" for one in TABLES},
        **{f"{one}QueueUrl": f"https://sqs/1/minutero-{name}" for one, name in QUEUES.items()},
        **{f"{one}FunctionName": f"minutero-{one}" for one in FUNCTIONS},
        "ApiUrl": "https://api.example",
        "Version": "0.1.0",
    }


def refused(operation, code="AccessDeniedException"):
    return ClientError({"Error": {"Code": code, "Message": "no"}}, operation)


ONE_AT_A_TIME = Lock()
ANSWERING = [None]
"""The account of the test that runs: clients are slow to make, and serve all tests."""


def client(service):
    with ONE_AT_A_TIME:
        return made_client(service)


@cache
def made_client(service):
    made = session().create_client(service, region_name="us-east-1")
    made.meta.events.register("before-call", answer)
    return made


def answer(**asked):
    return ANSWERING[0].answer(**asked)


@cache
def session():
    made = botocore.session.Session()
    made.set_credentials("test", "test")
    return made


class FakeApi:
    """The deployment's own HTTP API; an answer that is an error is raised."""

    def __init__(self):
        self.answers = {"/stats": copy.deepcopy(STATS), "/dead": {"dead": [], "next_token": None}}
        self.asked = []

    def get(self, path, query=None):
        self.asked.append((path, query))
        answer = self.answers[path]
        if isinstance(answer, Exception):
            raise answer
        return Answer(200, json.dumps(answer))


@dataclass
class Account:
    """`answers` are by (service, operation, name of what is asked about, or nothing)."""

    answers: dict = field(default_factory=dict)
    outputs: dict = field(default_factory=outputs)
    parameters: dict = field(default_factory=lambda: dict(PARAMETERS))
    api: FakeApi = field(default_factory=FakeApi)
    asked: list = field(default_factory=list)
    date: str = ""
    emulated: bool = False

    def __post_init__(self):
        for make in (self._tables, self._queues, self._functions, self._rules, self._alarms):
            make()

    def deployment(self):
        return Deployment(
            STACK, self.outputs, self.parameters, self._client, self.api, self.emulated
        )

    def of(self, service, operation, about=""):
        """An answer, to be changed."""
        return self.answers[service, operation, about]

    def refuse(self, service, operation, code="AccessDeniedException", about=None):
        """Answer with an error from now on, about one thing or all."""
        name = "".join(word.capitalize() for word in operation.split("_"))
        for key in self.answers:
            if key[:2] == (service, operation) and about in (None, key[2]):
                self.answers[key] = refused(name, code)

    def _client(self, service):
        ANSWERING[0] = self
        return client(service)

    def answer(self, model, params, **_):
        service, operation = model.service_model.service_name, model.name
        snake = "".join(f"_{c.lower()}" if c.isupper() else c for c in operation).strip("_")
        for snaked, about in ((snake, name) for name in self._names(service, snake)):
            if self._is_about(about, params):
                self.asked.append((service, snaked, about))
                answer = self.answers[service, snaked, about]
                if isinstance(answer, Exception):
                    raise answer
                problems = ParamValidator().validate(answer, model.output_shape)
                assert not problems.has_errors(), problems.generate_report()
                headers = {"date": self.date} if self.date else {}
                told = {"ResponseMetadata": {"HTTPHeaders": headers}}
                return AWSResponse("", 200, {}, None), {**copy.deepcopy(answer), **told}
        raise AssertionError(f"nobody has laid an answer ready: {service} {snake} {params}")

    def _names(self, service, operation):
        """The longest first, since one may begin as another."""
        found = [key[2] for key in self.answers if key[:2] == (service, operation)]
        return sorted(found, key=len, reverse=True)

    @staticmethod
    def _is_about(name, params):
        return name in json.dumps(params, default=str)

    def _tables(self):
        for one in TABLES:
            name = f"minutero-{one}"
            self.answers["dynamodb", "describe_table", name] = {
                "Table": {
                    "TableName": name, "TableStatus": "ACTIVE", "DeletionProtectionEnabled": True,
                    "BillingModeSummary": {"BillingMode": "PAY_PER_REQUEST"},
                    "ProvisionedThroughput": {"WriteCapacityUnits": 0, "ReadCapacityUnits": 0},
                }
            }  # fmt: skip
            expiry = {"TimeToLiveStatus": "DISABLED"}
            if one in EXPIRES:
                expiry = {"TimeToLiveStatus": "ENABLED", "AttributeName": EXPIRES[one]}
            self.answers["dynamodb", "describe_time_to_live", name] = {
                "TimeToLiveDescription": expiry
            }
            self.answers["dynamodb", "describe_continuous_backups", name] = {
                "ContinuousBackupsDescription": {
                    "ContinuousBackupsStatus": "ENABLED",
                    "PointInTimeRecoveryDescription": {"PointInTimeRecoveryStatus": "ENABLED"},
                }
            }
        scaling = ("application-autoscaling", "describe_scalable_targets", "")
        self.answers[scaling] = {"ScalableTargets": []}

    def _queues(self):
        for name in QUEUES.values():
            attributes = {
                "QueueArn": ARN.format("sqs", f"minutero-{name}"),
                "MessageRetentionPeriod": "1209600",
                "VisibilityTimeout": "360",
            }
            self.answers["sqs", "get_queue_attributes", f"minutero-{name}"] = {
                "Attributes": attributes
            }
        target = {
            "deadLetterTargetArn": ARN.format("sqs", "minutero-dead-letters"),
            "maxReceiveCount": 20,
        }
        tasks = self.of("sqs", "get_queue_attributes", "minutero-tasks")
        tasks["Attributes"]["RedrivePolicy"] = json.dumps(target)

    def _functions(self):
        variables = {
            "MINUTERO_SHARDS": "8", "MINUTERO_LOOK_AHEAD_MINUTES": "3",
            "MINUTERO_WORKER_TIMEOUT_SECONDS": "60", "MINUTERO_RETENTION_DAYS": "30",
        }  # fmt: skip
        for one, (timeout, memory) in FUNCTIONS.items():
            name = f"minutero-{one}"
            self.answers["lambda", "get_function_configuration", name] = {
                "FunctionName": name, "FunctionArn": ARN.format("lambda", f"function:{name}"),
                "State": "Active", "LastUpdateStatus": "Successful", "Timeout": timeout,
                "MemorySize": memory, "Environment": {"Variables": dict(variables)},
            }  # fmt: skip
            self.answers["lambda", "get_function_concurrency", name] = {}
        for one in ("Dispatcher", "Auditor"):
            key = ("lambda", "get_function_event_invoke_config", f"minutero-{one}")
            self.answers[key] = {"MaximumRetryAttempts": 0, "MaximumEventAgeInSeconds": 60}
        self.answers["lambda", "get_account_settings", ""] = {
            "AccountLimit": {"ConcurrentExecutions": 1000, "UnreservedConcurrentExecutions": 1000}
        }
        recursion = ("lambda", "get_function_recursion_config", "minutero-Worker")
        self.answers[recursion] = {"RecursiveLoop": "Allow"}
        for one, queue in (("Worker", "tasks"), ("DeadLetter", "dead-letters")):
            mapping = {
                "UUID": UUID, "State": "Enabled", "BatchSize": 10,
                "EventSourceArn": ARN.format("sqs", f"minutero-{queue}"),
                "FunctionResponseTypes": ["ReportBatchItemFailures"],
                "ScalingConfig": {"MaximumConcurrency": 100},
            }  # fmt: skip
            self.answers["lambda", "list_event_source_mappings", f"minutero-{one}"] = {
                "EventSourceMappings": [mapping]
            }

    def _rules(self):
        for rule, when in RULES.items():
            name, function = f"minutero-{rule}-1", rule.partition("Function")[0]
            self.answers["events", "describe_rule", name] = {
                "Name": name, "State": "ENABLED", "ScheduleExpression": when,
            }  # fmt: skip
            target = {
                "Id": "1", "Arn": ARN.format("lambda", f"function:minutero-{function}"),
                "RetryPolicy": {"MaximumRetryAttempts": 2, "MaximumEventAgeInSeconds": 60},
            }  # fmt: skip
            self.answers["events", "list_targets_by_rule", name] = {"Targets": [target]}

    def _alarms(self):
        names = [f"{STACK}-{alarm}" for alarm in ALARMS]
        self.answers["cloudwatch", "describe_alarms", ""] = {
            "MetricAlarms": [
                {"AlarmName": name, "ActionsEnabled": True, "StateValue": "OK", "AlarmActions": [TOPIC]}
                for name in names
            ]
        }  # fmt: skip
        self.answers["sns", "list_subscriptions_by_topic", TOPIC] = {
            "Subscriptions": [
                {"Protocol": "email", "Endpoint": "a@example.com", "SubscriptionArn": f"{TOPIC}:1"}
            ]
        }
        rows = [("AWS::Events::Rule", rule, f"minutero-{rule}-1") for rule in RULES]
        rows += [("AWS::CloudWatch::Alarm", f"Alarm{at}", name) for at, name in enumerate(names)]
        self.answers["cloudformation", "list_stack_resources", ""] = {
            "StackResourceSummaries": [
                {
                    "ResourceType": kind, "LogicalResourceId": logical, "PhysicalResourceId": physical,
                    "ResourceStatus": "CREATE_COMPLETE", "LastUpdatedTimestamp": 0,
                }
                for kind, logical, physical in rows
            ]
        }  # fmt: skip
        self.answers["sts", "get_caller_identity", ""] = {"Account": "123456789012"}

    def tells_the_time(self, ms):
        self.date = formatdate(ms // 1000, usegmt=True)
