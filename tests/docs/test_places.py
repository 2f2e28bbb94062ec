"""Every link, path and name in the documents leads somewhere."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from pages import NAMES, PACKAGE, ROOT, anchor, code, headings, links, spans, table

PATHS = re.compile(r"(?<![\w@./-])((?:[\w.-]+/)*[\w.-]+\.(?:py|md|toml|yaml|json|txt))(?![\w/])")
NO_ONE_FILE = ("app.py", "bench/results.json")
"""Names that stand for several files, or for one that is written anew on each machine."""


def exists(path):
    """A path as the documents write it: from the root, or from the package."""
    return any(next(base.glob(path), None) for base in (ROOT, PACKAGE))


@pytest.mark.parametrize("name", NAMES)
def test_every_relative_link_leads_to_a_file_and_a_heading(name):
    here = ROOT / name
    for target in links(name):
        if re.match(r"[a-z]+:", target):
            assert target.startswith(("https://", "mailto:")), target
            continue
        path, _, fragment = target.partition("#")
        found = (here.parent / path).resolve() if path else here
        assert found.exists(), f"{name}: {target}"
        if fragment:
            known = {anchor(one) for one in headings(found.relative_to(ROOT).as_posix())}
            assert fragment in known, f"{name}: {target}"


@pytest.mark.parametrize("name", NAMES)
def test_every_file_and_folder_named_is_there(name):
    for text in code(name):
        for path in PATHS.findall(text):
            assert exists(path) or path in NO_ONE_FILE, f"{name}: {path}"
    for span in spans(name):
        if re.fullmatch(r"(?:[\w.-]+/)+", span):
            assert exists(span.rstrip("/")), f"{name}: {span}"
        if re.fullmatch(r"(?:tests|docs|layers|functions|cli)/[\w./-]+", span):
            assert exists(span), f"{name}: {span}"


SYMBOL = re.compile(r"([\w./-]+\.py):([\w.]+)")


@cache
def defined(path):
    """Every name a module defines, those in its classes as `Class.name`."""
    names = set()
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            inner = (one for one in node.body if isinstance(one, ast.FunctionDef | ast.ClassDef))
            names |= {f"{node.name}.{one.name}" for one in inner}
        if isinstance(node, ast.Assign):
            names |= {one.id for one in node.targets if isinstance(one, ast.Name)}
    return names


def symbols():
    return sorted(
        {found for name in NAMES for span in spans(name) for found in SYMBOL.findall(span)}
    )


@pytest.mark.parametrize(("path", "symbol"), symbols())
def test_every_name_given_with_its_file_is_defined_there(path, symbol):
    file = next(base / path for base in (ROOT, PACKAGE) if (base / path).is_file())
    assert symbol in defined(file)


SMALL = {"__init__", "letters", "messages"}
"""What the services share; no step of a task's way."""


def test_the_architecture_names_every_service():
    told = set(re.findall(r"service/(\w+)\.py", " ".join(spans("ARCHITECTURE.md"))))
    assert {path.stem for path in (PACKAGE / "service").glob("*.py")} == told | SMALL


DECISIONS = [name for name in NAMES if name.startswith("docs/decisions/")]


def test_decisions_are_numbered_without_a_gap():
    assert [int(Path(name).name[:4]) for name in DECISIONS] == list(range(1, len(DECISIONS) + 1))


@pytest.mark.parametrize("name", DECISIONS)
def test_a_decision_has_its_parts_and_is_listed(name):
    text = (ROOT / name).read_text("utf-8")
    assert text.startswith(f"# {Path(name).name[:4]} ")
    parts = re.findall(r"^\*\*([A-Z][^*]*)\.\*\*", text, re.MULTILINE)
    assert [
        part.split()[0] for part in parts if part.split()[0] in {"Context", "Decision", "Why"}
    ] == [
        "Context",
        "Decision",
        "Why",
    ]
    assert parts[-1] == "Consequences"
    assert any(part.startswith(("Measured", "Simulated")) for part in parts)
    assert name in links("ARCHITECTURE.md")


def test_the_glossary_is_in_order():
    words = [row[0] for row in table("docs/glossary.md", "Glossary")]
    assert words == sorted(words)
