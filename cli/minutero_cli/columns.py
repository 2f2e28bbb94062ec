"""Rows in columns, printed as they come."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from minutero_cli.terminal import Style, at_terminal, no_style, printable

GAP = 2


@dataclass(slots=True)
class Columns:
    """Aligned columns under a head at a terminal; tab-separated lines without a head elsewhere.

    The first rows settle how wide the columns are, since the others are not there yet.
    """

    names: Sequence[str]
    style: Style = no_style
    _widths: list[int] = field(default_factory=list)

    def print(self, rows: Sequence[Sequence[str]]) -> None:
        """Print some rows."""
        shown = [[printable(cell) for cell in row] for row in rows]
        if at_terminal():
            self._print_aligned(shown)
            return
        for row in shown:
            print("\t".join(row))

    def _print_aligned(self, rows: list[list[str]]) -> None:
        from rich.cells import cell_len  # noqa: PLC0415  # only a terminal pays for it
        from rich.console import Console  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415

        if not rows:
            return
        console = Console()
        lines = [
            [Text(cell, self.style(n, cell)) for n, cell in zip(self.names, row, strict=True)]
            for row in rows
        ]
        if not self._widths:
            self._widths = [
                max(map(cell_len, cells)) for cells in zip(self.names, *rows, strict=True)
            ]
            lines.insert(0, [Text(name, "bold") for name in self.names])
        for cells in lines:
            line = Text()
            for cell, width in zip(cells, self._widths, strict=True):
                line.append_text(cell).append(" " * (max(width - cell.cell_len, 0) + GAP))
            line.rstrip()
            console.print(line, no_wrap=True, overflow="ellipsis")
