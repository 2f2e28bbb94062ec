"""The documents of this repository, read as what they are: code, links, tables."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "layers" / "minutero" / "minutero"
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")],
    key=lambda path: path.relative_to(ROOT).as_posix(),
)
NAMES = [path.relative_to(ROOT).as_posix() for path in PAGES]


@dataclass(frozen=True)
class Block:
    """A fenced block: its language and what is in it."""

    language: str
    text: str


@cache
def tokens(name: str) -> tuple[Token, ...]:
    parser = MarkdownIt("commonmark").enable("table")
    return tuple(parser.parse((ROOT / name).read_text("utf-8")))


def _inline(name: str, kind: str) -> Iterator[Token]:
    for token in tokens(name):
        yield from (child for child in token.children or () if child.type == kind)


def links(name: str) -> list[str]:
    """Where the links and pictures of a page lead."""
    targets = [token.attrGet("href") for token in _inline(name, "link_open")]
    targets += [token.attrGet("src") for token in _inline(name, "image")]
    return [str(target) for target in targets]


def spans(name: str) -> list[str]:
    """What stands between backticks within the text."""
    return [token.content for token in _inline(name, "code_inline")]


def blocks(name: str, *languages: str) -> list[Block]:
    """The fenced blocks, all or those of these languages."""
    found = [Block(t.info.strip(), t.content) for t in tokens(name) if t.type == "fence"]
    return [block for block in found if not languages or block.language in languages]


def code(name: str) -> list[str]:
    """Everything a page shows as code."""
    return [*spans(name), *(block.text for block in blocks(name))]


def headings(name: str) -> list[str]:
    found = tokens(name)
    return [found[at + 1].content for at, t in enumerate(found) if t.type == "heading_open"]


def anchor(heading: str) -> str:
    """A heading's anchor, as the usual viewers make it."""
    kept = re.sub(r"[^\w\- ]", "", heading.lower().replace("`", ""))
    return kept.replace(" ", "-")


def table(name: str, heading: str, number: int = 0) -> list[list[str]]:
    """The rows, without the head, of a table under a heading; each cell as it is written."""
    tables: list[list[list[str]]] = []
    under = False
    found = tokens(name)
    for at, token in enumerate(found):
        match token.type:
            case "heading_open":
                under = found[at + 1].content == heading
            case "table_open" if under:
                tables.append([])
            case "tr_open" if under:
                tables[-1].append([])
            case "inline" if under and tables and found[at - 1].type in ("td_open", "th_open"):
                tables[-1][-1].append(token.content)
    assert len(tables) > number, f"{name} has no table {number} under {heading!r}"
    return tables[number][1:]


def unquoted(cell: str) -> list[str]:
    """What stands between backticks in a cell."""
    return re.findall(r"`([^`]+)`", cell)
