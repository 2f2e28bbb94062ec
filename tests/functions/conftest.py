"""Every handler as Lambda calls it: with the events of events/, on moto's tables, in this process.

moto tells no failed condition of a BatchExecuteStatement: what rests on one is tested on MiniStack.
"""

import base64
import importlib.util
import json
import sys
from contextlib import contextmanager
from functools import cache
from itertools import count
from pathlib import Path
from threading import RLock
from types import SimpleNamespace
from urllib.parse import parse_qsl

import boto3
import botocore.loaders
import botocore.session
import pytest
import yaml
from moto import mock_aws
from moto.backends import get_backend
from moto.core import DEFAULT_ACCOUNT_ID
from moto.core.botocore_stubber import BotocoreStubber

from minutero import jobs, wiring
from minutero.aws.clock import SystemClock
from minutero.aws.cursor_store import DynamoCursorStore
from minutero.aws.settings_store import DynamoSettingsStore
from minutero.aws.tables import TableNames, bind
from minutero.domain.buckets import minute_of
from minutero.domain.instants import MINUTE

SHARDS = 2
ROOT = Path(__file__).parents[2]
EVENTS = ROOT / "events"
REGION = "us-east-1"
TABLES = ("Tasks", "Schedules", "Cursors", "Runs")
CACHED = (
    wiring.api,
    wiring.dispatcher,
    wiring.auditor,
    wiring.worker,
    wiring.dead_letter,
    wiring.settings_here,
)


class TemplateLoader(yaml.SafeLoader):
    """Reads CloudFormation's short forms (`!Ref x`) as what they are applied to."""


def _argument(loader, _suffix, node):
    if isinstance(node, yaml.ScalarNode):
        return loader.construct_scalar(node)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node)
    return loader.construct_mapping(node)


TemplateLoader.add_multi_constructor("!", _argument)


@pytest.fixture(scope="session")
def template():
    return yaml.load((ROOT / "template.yaml").read_text(), TemplateLoader)  # a SafeLoader


@pytest.fixture(scope="module")
def cloud(template):
    """The template's tables and two queues, and the variables that name them."""
    with pytest.MonkeyPatch.context() as patch, mock_aws():
        for name in ("AWS_ENDPOINT_URL", "AWS_PROFILE", "AWS_SESSION_TOKEN"):
            patch.delenv(name, raising=False)
        for name in ("AWS_DEFAULT_REGION", "AWS_REGION"):
            patch.setenv(name, REGION)
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            patch.setenv(name, "test")
        patch.setattr(BotocoreStubber, "process_request", in_one_step())
        # Queues are purged before each test; on AWS, once a minute at most.
        patch.setenv("MOTO_SQS_ENFORCE_STRICT_QUEUE_PURGE_BEHAVIOUR", "false")
        # What botocore's files say of the services is the same in each process.
        patch.setattr(botocore.session, "create_loader", cache(botocore.loaders.create_loader))
        dynamodb, sqs = boto3.client("dynamodb"), boto3.client("sqs")
        for table in TABLES:
            make_table(dynamodb, table, template)
            patch.setenv(f"MINUTERO_{table.upper()}_TABLE", table)
        names = ("tasks", "dead-letters")
        queues = {name: sqs.create_queue(QueueName=name)["QueueUrl"] for name in names}
        patch.setenv("MINUTERO_TASKS_QUEUE_URL", queues["tasks"])
        patch.setenv("MINUTERO_DEAD_LETTER_QUEUE_URL", queues["dead-letters"])
        patch.setenv("MINUTERO_WORKER_FUNCTION", "minutero-worker")
        patch.setenv("MINUTERO_DISPATCHER_FUNCTION", "minutero-dispatcher")
        patch.setenv("MINUTERO_SHARDS", str(SHARDS))
        tables = bind(dynamodb, TableNames("Tasks", "Runs", "Cursors", "Schedules"))
        yield SimpleNamespace(dynamodb=dynamodb, sqs=sqs, queues=queues, tables=tables)


def in_one_step():
    """A request as it is on AWS. moto's are many steps, and the threads of a batch would come in between."""
    process, lock = BotocoreStubber.process_request, RLock()

    def alone(stubber, request):
        with lock:
            return process(stubber, request)

    return alone


def make_table(dynamodb, table, template):
    made_of = template["Resources"][f"{table}Table"]["Properties"]
    dynamodb.create_table(
        TableName=table,
        KeySchema=made_of["KeySchema"],
        AttributeDefinitions=made_of["AttributeDefinitions"],
        BillingMode="PAY_PER_REQUEST",
    )


@pytest.fixture(autouse=True)
def aws(socket_disabled, cloud, monkeypatch):
    """Empty tables and queues, and a process that has just begun."""
    for table in get_backend("dynamodb")[DEFAULT_ACCOUNT_ID][REGION].tables.values():
        table.items.clear()
    for queue in cloud.queues.values():
        cloud.sqs.purge_queue(QueueUrl=queue)
    # From one look to the next a millisecond passes, however busy the machine is: so a list or a batch, which
    # ends after some seconds, never ends early.
    moments = count(SystemClock().now())
    monkeypatch.setattr(SystemClock, "now", lambda clock: next(moments))
    forget()
    yield cloud
    forget()


def forget():
    """A new process knows nothing of the last one."""
    for builder in CACHED:
        builder.cache_clear()


class Context:
    """What Lambda tells a handler about the call."""

    function_name = "minutero-test"
    function_version = "$LATEST"
    memory_limit_in_mb = 512
    invoked_function_arn = "arn:aws:lambda:us-east-1:123456789012:function:minutero-test"
    aws_request_id = "6bc28136-xmpl-4365-b021-0ce6b2e64ab0"

    def __init__(self, remaining=lambda: 30_000):
        self.get_remaining_time_in_millis = remaining


def load_app(function):
    """functions/<function>/app.py, imported anew, as a fresh process would."""
    path = ROOT / "functions" / function / "app.py"
    spec = importlib.util.spec_from_file_location(f"{function}_app", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def context():
    """A call with as many milliseconds left as that function says."""
    return Context


@pytest.fixture
def event():
    """One of the events of events/."""
    return lambda name: json.loads((EVENTS / f"{name}.json").read_text())


@contextmanager
def loaded_worker():
    """The worker's app.py with its jobs, which are forgotten with the block."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "functions" / "worker")
        yield load_app("worker")
    for name in [name for name in sys.modules if name.split(".")[0] == "jobs"]:
        del sys.modules[name]


def announced(app):
    """The names of the jobs, which the worker announces once it has been deployed."""
    return app.handler({"minutero": "announce_jobs"}, Context())["jobs"]


@pytest.fixture(scope="module")
def job_names(cloud):
    with loaded_worker() as app:
        return frozenset(announced(app))


@pytest.fixture
def deployed(job_names, aws):
    """The jobs are announced; without the worker, which takes a while to load."""
    DynamoSettingsStore(aws.tables, SystemClock()).announce_jobs(job_names)


@pytest.fixture
def worker_app():
    with loaded_worker() as app:
        yield app


@pytest.fixture
def worker(worker_app):
    """The worker; it has announced its jobs."""
    assert "echo" in announced(worker_app)
    return lambda event: worker_app.handler(event, Context())


@pytest.fixture
def register(worker_app):
    """Adds jobs to the deployed ones for one test."""
    added = []

    def add(name, function):
        jobs.job(name)(function)
        added.append(name)
        worker = wiring.worker(jobs.registry)
        worker.announce(jobs.registry.names())
        wiring.api.cache_clear()

    yield add
    for name in added:
        del jobs.registry._jobs[name]


@pytest.fixture
def ticked(aws):
    """As if ticks had come until now: the first tick of a deployment looks through the hour before it."""

    def begin():
        now = SystemClock().now()
        for shard in range(SHARDS):
            DynamoCursorStore(aws.tables, SystemClock()).begin(shard, minute_of(now) - 7 * MINUTE)

    return begin


@pytest.fixture
def dispatcher(ticked):
    app = load_app("dispatcher")

    def call(event):
        ticked()
        return app.handler(event, Context())

    return call


@pytest.fixture
def auditor(ticked):
    app = load_app("auditor")

    def call(event):
        ticked()
        return app.handler(event, Context())

    return call


@pytest.fixture
def dead_letter():
    app = load_app("dead_letter")
    return lambda event: app.handler(event, Context())


@pytest.fixture(scope="module")
def api_app():
    return load_app("api")


@pytest.fixture
def http(api_app, event):
    """One HTTP request -> (status, parsed body). The path may have a query string; `body` is sent as JSON,
    `raw` as the bytes it is."""

    def call(method, path, body=None, raw=None, as_base64=False):
        path, _, query = path.partition("?")
        request = event("http_post_tasks")
        request["requestContext"]["http"] |= {"method": method, "path": path}
        if query:
            request["rawQueryString"] = query
            request["queryStringParameters"] = dict(parse_qsl(query, keep_blank_values=True))
        request |= {"rawPath": path, "routeKey": "$default", "isBase64Encoded": as_base64}
        text = raw if raw is not None else json.dumps(body)
        if as_base64:
            data = text if isinstance(text, bytes) else text.encode()
            text = base64.b64encode(data).decode()
        request["body"] = text
        if body is None and raw is None:
            del request["body"]
        answer = api_app.handler(request, Context())
        return answer["statusCode"], json.loads(answer["body"])

    return call


@pytest.fixture
def messages(aws):
    """Takes what waits in a queue, as an event of SQS carries it."""

    def take(queue="tasks"):
        found = aws.sqs.receive_message(
            QueueUrl=aws.queues[queue], MaxNumberOfMessages=10, VisibilityTimeout=0
        ).get("Messages", [])
        for message in found:
            aws.sqs.delete_message(
                QueueUrl=aws.queues[queue], ReceiptHandle=message["ReceiptHandle"]
            )
        return [message["Body"] for message in found]

    return take


@pytest.fixture
def batch(event):
    """An event of SQS that carries these bodies."""

    def make(bodies, name="sqs_tasks"):
        made = event(name)
        record = made["Records"][0]
        made["Records"] = [
            {
                **record,
                "messageId": f"message-{number}",
                "receiptHandle": f"receipt-{number}",
                "body": body,
            }
            for number, body in enumerate(bodies)
        ]
        return made

    return make
