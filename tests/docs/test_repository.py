"""What is in the repository is of no one machine: no paths of it, no hosts of its network."""

import re
import subprocess
from functools import cache

import pytest
from pages import ROOT

SLASH = "/"
MACHINE = [
    *(re.escape(SLASH + folder + SLASH) for folder in ("root", "work", "Users")),
    re.escape(SLASH + "home" + SLASH) + r"[a-z]",
    re.escape(SLASH + "opt" + SLASH) + "(pypi|wheels)",
]
"""Folders in which somebody works. Put together here, so that this file does not match itself."""

HOSTS = [
    r"(index|extra-index|find-links)(-url|)[ =]+\S+" + ":" + SLASH * 2,
    r"https?:" + SLASH * 2 + r"[^\s/]*(artifactory|nexus|mirror|proxy|registry|devpi)",
    r"https?:" + SLASH * 2 + r"([^\s/@]+@)[^\s/]+",
    r"https?:" + SLASH * 2 + r"\S+" + SLASH + "simple" + r"(/|\b)",
]
"""Where packages come from, and addresses with a password in them."""

BINARY = {".png", ".ico", ".gz", ".zip"}


@cache
def tracked():
    """Lines by path. The files of the next commit as well: what is not ignored."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode:
        pytest.skip("this is no checkout of git")
    paths = (ROOT / name for name in listed.stdout.split("\0") if name)
    return {
        path.relative_to(ROOT): path.read_text("utf-8").splitlines()
        for path in paths
        if path.is_file() and path.suffix not in BINARY
    }


@pytest.mark.parametrize("pattern", MACHINE + HOSTS)
def test_no_file_names_a_place_of_one_machine_or_network(pattern):
    wanted = re.compile(pattern, re.IGNORECASE)
    found = []
    for path, lines in tracked().items():
        for number, line in enumerate(lines, 1):
            if wanted.search(line):
                found.append(f"{path}:{number}: {line.strip()[:120]}")
    assert not found, "\n".join(found)


def test_the_licence_is_the_whole_apache_licence():
    text = (ROOT / "LICENSE").read_text("utf-8")
    assert "Apache License" in text
    assert "Version 2.0, January 2004" in text
    assert "END OF TERMS AND CONDITIONS" in text
