"""The page on operations has each alarm, each metric and each field, and no other."""

import ast
import re

from pages import PACKAGE, ROOT, headings, table, unquoted

from minutero.aws.emf import MOST_VALUES
from minutero.aws.json_lines import TEXT_LIMIT
from minutero.domain.metrics import Metric
from minutero.domain.run import ERROR_LIMIT

PAGE = "docs/operations.md"


def section(heading):
    """What is under a heading of the third level."""
    text = (ROOT / PAGE).read_text("utf-8")
    found = re.search(rf"^### {heading}\n(.*?)(?=^##)", text, re.MULTILINE | re.DOTALL)
    return found[1] if found else ""


def alarms():
    """The alarms of the template, by the names they have behind the stack's."""
    text = (ROOT / "template.yaml").read_text("utf-8")
    return re.findall(r"AlarmName: !Sub \"\$\{AWS::StackName\}-([a-z-]+)\"", text)


def test_every_alarm_has_its_section_and_every_section_its_alarm():
    found = headings(PAGE)
    told = found[found.index("Alarms") + 1 : found.index("Dead letters")]
    assert len(told) >= 10
    assert sorted(told) == sorted(alarms())


def test_every_section_of_an_alarm_says_what_it_means_and_what_to_do():
    for alarm in alarms():
        parts = re.findall(r"^\*\*(\w+)\.\*\*", section(alarm), re.MULTILINE)
        assert parts == ["Means", "Do"], alarm


def test_the_table_of_metrics_is_that_of_the_code():
    told = [[unquoted(row[0])[0], row[1], row[2]] for row in table(PAGE, "Metrics")]
    assert told == [[str(one), str(one.unit), one.meaning] for one in Metric]


def logged():
    """Names of the fields that are given with a log line."""
    names = set()
    for path in [*PACKAGE.rglob("*.py"), *(ROOT / "functions").rglob("*.py")]:
        source = path.read_text("utf-8")
        if "logger" not in source and path.stem != "log_fields":
            continue
        for node in ast.walk(ast.parse(source)):
            match node:
                case ast.keyword(arg="extra", value=ast.Dict(keys=keys)):
                    names |= {key.value for key in keys if key}
                case ast.Assign(
                    targets=[ast.Name(id="told" | "fields")], value=ast.Dict(keys=keys)
                ):
                    names |= {key.value for key in keys if key}
    return names


RARE = {
    *("payload", "tick", "audit", "lag_ms", "why", "task_ids", "unknown", "unsent"),
    *("function", "sk", "taken_from"),
}
"""Fields of single lines, which their message makes clear."""


def test_the_table_of_fields_has_those_that_are_logged():
    told = {name for row in table(PAGE, "Logs") for name in unquoted(row[0])}
    assert {"task_id", "run_id", "claim_id", "tick_id", "owner"} <= told
    found = logged()
    assert {"error", "shard"} <= found
    assert found <= told | RARE


def test_the_limits_told_are_those_of_the_code():
    text = " ".join((ROOT / PAGE).read_text("utf-8").split())
    assert f"up to {TEXT_LIMIT:,} characters each" in text
    assert f"{ERROR_LIMIT} characters of what a job raises" in text
    assert (
        f"more than {MOST_VALUES} values of one metric in one call {MOST_VALUES} are told" in text
    )


def test_messages_quoted_from_the_log_are_logged():
    sources = " ".join(
        path.read_text("utf-8")
        for path in [*PACKAGE.rglob("*.py"), *(ROOT / "functions").rglob("*.py")]
    )
    for message in (
        "a shard is left to the next tick",
        "claim left open",
        "DynamoDB refuses the statement of a claim",
        "unreadable task",
        "a job is over its time-out",
        "unavailable",
    ):
        assert f"`{message}`" in (ROOT / PAGE).read_text("utf-8").replace("\n", " ")
        assert f'"{message}' in sources
