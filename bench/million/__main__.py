"""`python -m bench.million`: the simulation alone, as text."""

from rich.console import Console

from bench.million import measure
from bench.summary import print_numbers

if __name__ == "__main__":
    print_numbers(Console(width=140), measure())
