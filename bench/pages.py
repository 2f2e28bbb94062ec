"""Tables of the documents that measurements have made: they stand between two marks."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

MADE = re.compile(r"(<!-- made: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def fill(page: Path, made: Mapping[str, str]) -> None:
    """Makes what is between the marks of a page anew; a mark without anything for it is left as it is."""

    def anew(found: re.Match[str]) -> str:
        return f"{found[1]}\n{made[found[2]]}\n\n{found[3]}" if found[2] in made else found[0]

    page.write_text(MADE.sub(anew, page.read_text("utf-8")), "utf-8")


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Markdown: the first column is text, the others are numbers."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
