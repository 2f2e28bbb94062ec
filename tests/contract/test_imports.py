"""What importing an adapter costs, and what it must not do."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import minutero.aws

FORBIDDEN = {
    "queue": {"pynamodb", "boto3", "aws_lambda_powertools"},
    "run_ledger": {"pynamodb", "boto3", "aws_lambda_powertools"},
    "task_store": {"boto3", "aws_lambda_powertools"},
    "cursor_store": {"boto3", "aws_lambda_powertools"},
    "settings_store": {"boto3", "aws_lambda_powertools"},
    # Importing Powertools' idempotency costs boto3 and the Tracer's module, but not the SDK behind it.
    "run_once": {"pynamodb", "aws_xray_sdk"},
}


@pytest.mark.parametrize("module", FORBIDDEN)
def test_a_module_imports_only_what_it_uses(module):
    code = f"import sys, minutero.aws.{module}; print(sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not FORBIDDEN[module] & set(ast.literal_eval(done.stdout))


def test_no_module_reads_the_environment_or_opens_a_client_at_import():
    folder = Path(minutero.aws.__file__).parent
    for path in folder.glob("*.py"):
        for node in ast.parse(path.read_text()).body:
            called = [n for n in ast.walk(node) if isinstance(n, ast.Name) and n.id == "environ"]
            assert not called or isinstance(node, ast.FunctionDef | ast.ClassDef), path
