"""Fuzzing: the handler over the in-memory deployment, and the deployed stack."""

import logging

import pytest


@pytest.fixture(autouse=True)
def quiet():
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)
