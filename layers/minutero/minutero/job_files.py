"""Finds jobs: those that come with this package, and a folder's."""

import importlib
import logging
import pkgutil
from pathlib import Path

from minutero import targets
from minutero.jobs import registry

logger = logging.getLogger(__name__)


def load_jobs(folder: Path) -> frozenset[str]:
    """Imports every module of a folder, which lies on the search path, and names the jobs there are now.

    A module that fails to import is logged and left out: it must not stop the jobs of the others.
    """
    targets.register(registry)
    for module in modules_of(folder):
        try:
            importlib.import_module(module)
        except Exception:
            file = module.replace(".", "/")
            logger.exception("%s.py cannot be imported; its jobs are missing", file)
    return registry.names()


def modules_of(folder: Path) -> list[str]:
    """The modules of a folder, whose parent lies on the search path, as they are imported."""
    return sorted(f"{folder.name}.{info.name}" for info in pkgutil.iter_modules([str(folder)]))
