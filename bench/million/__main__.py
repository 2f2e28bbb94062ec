"""`python -m bench.million [SVG]`: the simulation alone, as text; its picture is written to SVG."""

import sys
from pathlib import Path

from rich.console import Console

from bench.million import measure
from bench.million.plot import picture
from bench.summary import print_numbers

TITLE = "A million tasks due in one minute: seconds that the hindmost is sent before its second"

if __name__ == "__main__":
    numbers = measure()
    print_numbers(Console(width=150), numbers)
    for path in sys.argv[1:]:
        rows = numbers["shards_and_look_ahead"]
        Path(path).write_text(picture(rows, TITLE), "utf-8")
