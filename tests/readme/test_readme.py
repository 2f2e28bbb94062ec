"""Each command of the pages a new user follows is typed, in the page's order, and does what it should."""

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[2]
PAGES = ["README.md", "docs/http.md"]
"""README.es.md shows the same code: tests/docs/test_languages.py."""
PATIENCE_SECONDS = 90
"""A cold start takes seconds where two cores serve all of AWS."""

ID = "THE_TASK_ID"
OF_THE_DEAD = re.compile(r"minutero dead|redrive")
ENDLESS = re.compile(r"minutero (local logs -f|watch\b(?!.*--once))")

ELSEWHERE = {
    "make run": "set-up and the stack of these tests are what it does; .ci/run begins with it",
    "make test": "this is it",
    "make deploy": "it asks for an AWS account",
    "make sam-local": "tests/sam_local",
    "make bench": "it takes a quarter of an hour; tests/bench",
    "make simulate": "tests/simulation",
    "minutero local up": "the stack of these tests",
    "minutero local down": "the stack of these tests ends with it",
}
"""What is not typed here, and why."""

SHELL = """
set -euo pipefail
export PATH="$PWD/.venv/bin:$PATH"
curl() { command curl --silent --show-error --fail-with-body "$@"; }
endless() { timeout --signal=INT 5 "$@" || [ $? = 124 ]; }
"""


def blocks(page, language):
    tokens = MarkdownIt("commonmark").parse((ROOT / page).read_text("utf-8"))
    return [token.content for token in tokens if token.type == "fence" and token.info == language]


def commands(block):
    """The commands of a block; one may go over lines, after a backslash or within quotes."""
    left = ""
    for line in block.splitlines():
        left += line
        if left.endswith("\\") or left.count("'") % 2:
            left += "\n"
        elif left:
            yield left
            left = ""


def is_elsewhere(command):
    return any(command.startswith(words) for words in ELSEWHERE)


def typed(page):
    return [one for block in blocks(page, "sh") for one in commands(block) if not is_elsewhere(one)]


@pytest.fixture(scope="module")
def dead(reader):
    """Makes a dead task."""
    body = {"job": "http.post", "payload": {"no": "url"}, "max_attempts": 1}

    def make():
        task_id = reader.api.post("/tasks", body).body["task_id"]
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not any(one["task_id"] == task_id for one in listed_dead(reader)):
            assert time.monotonic() < deadline, reader.api.get(f"/tasks/{task_id}").body
            time.sleep(0.2)
        return task_id

    return make


def listed_dead(reader):
    return reader.api.get("/dead?limit=500").body["dead"]


def script(reader, dead, page):
    """All commands of a page, each with the id of a task of its own where it names one."""
    for command in typed(page):
        if ID in command:
            wanted = {"job": "echo", "delay_seconds": 3600}
            found = dead() if OF_THE_DEAD.search(command) else None
            found = found or reader.api.post("/tasks", wanted).body["task_id"]
            yield command.replace(ID, found)
        else:
            yield f"endless {command}" if ENDLESS.search(command) else command


@pytest.mark.parametrize("page", PAGES)
def test_every_command_of_the_page_does_what_it_should(reader, dead, page):
    lines = [f"echo '+++ {n}'\n{one}" for n, one in enumerate(script(reader, dead, page))]
    assert len(lines) > 3
    done = subprocess.run(
        ["bash", "-c", SHELL + "\n".join(lines)],
        cwd=reader.place,
        env={**reader.environment, "API_URL": reader.api.url},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"


@pytest.fixture
def orders(reader):
    """The table of the page's own transaction."""
    keys = {"KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}]}
    typed = {"AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}]}
    dynamodb = reader.local.client("dynamodb")
    dynamodb.create_table(TableName="orders", BillingMode="PAY_PER_REQUEST", **keys, **typed)
    yield
    dynamodb.delete_table(TableName="orders")


@pytest.mark.usefixtures("orders")
def test_the_client_of_the_readme_does_what_it_should(reader):
    texts = [text for text in blocks("README.md", "python") if "minutero.Client(" in text]
    assert texts
    for text in texts:
        done = subprocess.run(
            [sys.executable, "-c", text],
            cwd=reader.place,
            env=reader.environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, f"{text}\n{done.stderr[-3000:]}"
