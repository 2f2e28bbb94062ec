"""A local stack of the folder's own, and a checkout in which the commands of the pages are typed."""

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

# The folders of tests are no packages; what they share lies beside them.
sys.path.insert(0, str(Path(__file__).parents[1]))


from minutero_cli.api_client import Api
from minutero_cli.local import LocalStack
from minutero_cli.local.build import build
from minutero_cli.local.scratch import folder, running

ROOT = Path(__file__).parents[2]


@dataclass
class Reader:
    """Somebody who has just run `make run`: where the commands are typed, with which environment."""

    place: Path
    environment: dict
    api: Api
    local: LocalStack


def pytest_collection_modifyitems(items):
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.stack)


@pytest.fixture(scope="session")
def reader(tmp_path_factory):
    place = tmp_path_factory.mktemp("checkout")
    for name in ("functions", "examples"):
        shutil.copytree(ROOT / name, place / name)
    (place / ".venv").symlink_to(Path(sys.executable).parents[1])
    with folder() as home, running(home, build(), {}, auth=False) as local:
        state = local.running()
        mine = {k: v for k, v in os.environ.items() if not k.startswith(("AWS_", "MINUTERO_"))}
        yield Reader(
            place,
            {**mine, **state.environment, "MINUTERO_HOME": str(home)},
            Api(state.api_url, "the stack of the README", None),
            local,
        )
