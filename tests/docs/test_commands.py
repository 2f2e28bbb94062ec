"""Every command in the documents is there, with its options."""

import re
import tomllib

import pytest
from pages import NAMES, ROOT, blocks, code, spans, table, unquoted
from typer.main import get_command

from minutero_cli.main import app

NO_CONTEXT = None
"""The groups ask for a context and do not use it."""


def targets():
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))


def written(pattern):
    """(page, what the pattern finds in its code)."""
    for name in NAMES:
        for text in code(name):
            yield from ((name, found) for found in re.findall(pattern, text, re.MULTILINE))


def test_every_make_target_named_is_in_the_makefile():
    named = {target for _, target in written(r"\bmake ([a-z][a-z-]*)")}
    assert named >= {"run", "test"}
    assert named <= targets()


def test_every_target_with_a_help_line_is_in_contributing():
    helped = re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    told = [unquoted(row[0])[0] for row in table("CONTRIBUTING.md", "Set-up")]
    assert {f"make {target}" for target in helped} == set(told)


def folders():
    """The folders of tests that hold any, and those of them that `make test` runs."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    chosen = set(config["tool"]["pytest"]["ini_options"]["testpaths"])
    there = {f"tests/{path.parent.name}" for path in (ROOT / "tests").glob("*/test_*.py")}
    return there, there & chosen


def test_contributing_lists_each_folder_of_tests_and_says_which_are_left_out():
    there, run = folders()
    assert {unquoted(row[0])[0] for row in table("CONTRIBUTING.md", "Tests")} == there
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    told = re.findall(r"Not among them yet: (.*)\.", text)
    assert set(unquoted(" ".join(told))) == there - run


def find(words):
    """The command these words name, with what is left of them."""
    command = get_command(app)
    left = list(words)
    while left and not left[0].startswith("-") and hasattr(command, "list_commands"):
        names = command.list_commands(NO_CONTEXT)
        assert left[0] in names, f"minutero has no {left[0]!r}; it has {names}"
        command = command.get_command(NO_CONTEXT, left.pop(0))
    return command, left


def lines():
    """Each use of the command, as words."""
    for name in NAMES:
        for span in spans(name):
            if span.startswith("minutero "):
                yield name, span
        for block in blocks(name, "sh", "console"):
            for line in block.text.splitlines():
                for found in re.findall(r"(?:^|\()\s*(?:\.venv/bin/)?(minutero [^|)]*)", line):
                    yield name, found.strip()


@pytest.mark.parametrize(("name", "line"), sorted(set(lines())))
def test_every_command_named_is_there_with_its_options(name, line):
    words = re.sub(r"'[^']*'", "QUOTED", line).split()[1:]
    command, left = find([word for word in words if word != "..."])
    known = {option for parameter in command.params for option in parameter.opts}
    # `-2h` is a time, not an option.
    assert {word for word in left if re.match(r"--?[a-z]", word)} <= known | {"--help"}


def test_the_readme_and_the_command_agree_on_the_sub_commands():
    root = get_command(app)
    there = set()
    for name in root.list_commands(NO_CONTEXT):
        command = root.get_command(NO_CONTEXT, name)
        subs = command.list_commands(NO_CONTEXT) if hasattr(command, "list_commands") else [""]
        there |= {f"{name} {sub}".strip() for sub in subs}
    told = " ".join(block.text for block in blocks("README.md", "sh")) + " ".join(
        spans("README.md")
    )
    assert {command for command in there if f"minutero {command}" not in told} == set()
