from types import SimpleNamespace

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError

from minutero_cli.errors import CommandError
from minutero_cli.local.stack import LocalStack


@pytest.mark.parametrize(
    "error",
    [
        ReadTimeoutError(endpoint_url="http://127.0.0.1:1"),
        ClientError({"Error": {"Code": "500", "Message": "busy"}}, "Invoke"),
    ],
)
def test_a_function_that_gives_no_answer_is_told_in_one_line(monkeypatch, tmp_path, error):
    def no_answer(**_):
        raise error

    running = SimpleNamespace(outputs={"ApiFunctionName": "minutero-api"})
    monkeypatch.setattr(LocalStack, "running", lambda _: running)
    monkeypatch.setattr(LocalStack, "client", lambda *_: SimpleNamespace(invoke=no_answer))
    with pytest.raises(CommandError, match=r"minutero-api gave no answer: .*minutero local logs"):
        LocalStack(tmp_path).invoke("ApiFunctionName", {})
