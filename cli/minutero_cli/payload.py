"""A job's payload as it is given on the command line."""

import sys
from pathlib import Path
from typing import Any

import typer

from minutero.domain.new_task import parse_json
from minutero.errors import InvalidInput


def read_payload(text: str) -> Any:
    """Parse JSON text, or what stands in the file named after an `@` (`@-`: the input).

    Raises typer.BadParameter.
    """
    source = "--payload"
    try:
        if text.startswith("@"):
            source = text[1:]
            text = sys.stdin.read() if source == "-" else Path(source).read_text("utf-8")
        return parse_json(text)
    except OSError as error:
        raise typer.BadParameter(f"cannot read {source}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise typer.BadParameter(f"{source} is not UTF-8 text") from None
    except InvalidInput as error:
        why = error.message.removeprefix("the body is not JSON: ")
        raise typer.BadParameter(
            f"{source} is no JSON ({why}); quote it, as '{{\"a\": 1}}'"
        ) from None
