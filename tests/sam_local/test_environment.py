"""What sam runs in. Needs neither an engine nor a stack."""

import pytest

from minutero_cli.local.state import State
from tests.sam_local.containers import sam_environment
from tests.sam_local.engine import Engine
from tests.sam_local.template import variables

ENDPOINT = "http://172.17.0.1:4566"


@pytest.fixture
def told():
    """The variables that a template gives its functions."""
    return variables(
        {
            "Resources": {
                "TasksTable": {"Type": "AWS::DynamoDB::Table"},
                "Api": given("MINUTERO_TASKS_TABLE", "AWS_ENDPOINT_URL"),
                "Worker": given("POWERTOOLS_SERVICE_NAME", "A_JOBS_OWN"),
            }
        }
    )


def given(*names):
    return {"Properties": {"Environment": {"Variables": dict.fromkeys(names, "the template's")}}}


def test_sam_has_no_value_of_its_own_for_what_the_template_tells_the_functions(told, monkeypatch):
    assert len(told) == 4
    for name in told:
        monkeypatch.setenv(name, "another's")
    made = sam_environment(Engine("unix:///nobody"), State(1, "", 4566), ENDPOINT, told)
    assert {name: made[name] for name in told & made.keys()} == {"AWS_ENDPOINT_URL": ENDPOINT}
