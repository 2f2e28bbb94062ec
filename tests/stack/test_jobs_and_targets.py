"""The targets on the deployed stack, with the rights of its roles; and a job run for it by the command."""

import hashlib
import hmac
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

# The folders of tests are no packages; what they share lies in them.
sys.path.insert(0, str(Path(__file__).parents[1] / "targets"))

from receiver import plain, receiving

ROOT = Path(__file__).parents[2]
KEY = b"only-for-the-local-stack"


def test_a_task_of_http_post_is_a_signed_post(stack):
    with receiving(plain(200, b"thanks")) as hook:
        task = stack.add("http.post", payload={"url": hook.url, "body": {"a": 1}})
        told = stack.wait(task["task_id"])
    assert told["result"] == {"status": 200, "body": "thanks"}
    head, _, body = hook.requests[0].partition(b"\r\n\r\n")
    headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n")[1:])
    signed = headers["Minutero-Timestamp"].encode() + b"." + body
    told = hmac.new(KEY, signed, hashlib.sha256).hexdigest()
    assert headers["Minutero-Signature"] == f"v1={told}"
    assert headers["Minutero-Key"] == task["task_id"]


def test_a_task_of_aws_call_is_a_call_with_the_workers_rights(stack):
    sqs = stack.client("sqs")
    queue = sqs.create_queue(QueueName="orders.fifo", Attributes={"FifoQueue": "true"})["QueueUrl"]
    message = {"QueueUrl": queue, "MessageBody": "hello", "MessageGroupId": "g"}
    payload = {"service": "sqs", "action": "send_message", "parameters": message}
    told = stack.wait(stack.add("aws.call", payload=payload)["task_id"])
    assert told["status"] == "succeeded", told
    (found,) = sqs.receive_message(QueueUrl=queue, WaitTimeSeconds=1)["Messages"]
    assert found["MessageId"] == told["result"]["MessageId"]


def test_an_action_that_no_parameter_allows_is_dead_at_once_and_says_what_to_set(stack):
    payload = {"service": "ecs", "action": "run_task", "parameters": {"taskDefinition": "t"}}
    told = stack.wait(stack.add("aws.call", payload=payload)["task_id"])
    assert (told["status"], told["attempts"]) == ("dead", 1)
    assert "add ecs:RunTask to the stack's parameter AwsCallActions" in told["error"]


@pytest.mark.parametrize("words", [[], ["--stack", "minutero"]])
def test_a_job_is_run_here_with_what_the_deployed_worker_knows(stack, aws_environment, words):
    environment = {**os.environ, "MINUTERO_HOME": str(stack.local.home)}
    command = [sys.executable, "-c", "from minutero_cli.main import main; main()"]
    done = subprocess.run(
        [*command, "jobs", "run", "leaderboard_close", "--json", *words],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    told = json.loads(done.stdout)
    # There is a board's table, and no board in it.
    assert (done.returncode, told["status"]) == (0, "skipped"), done.stderr
    assert "nobody played" in told["reason"]
