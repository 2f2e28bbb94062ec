"""Where a person's jobs are."""

from pathlib import Path

from minutero_cli.errors import CommandError

PLACES = ("functions/worker/jobs", "jobs")


def job_folder(chosen: Path | None) -> Path:
    """The folder of jobs: the chosen one, else that of a checkout, else `jobs`. Raises CommandError."""
    for folder in [Path(place) for place in PLACES] if chosen is None else [chosen]:
        if folder.is_dir():
            return folder.resolve()
    if chosen is not None:
        raise CommandError(f"there is no folder {chosen}; name the one with your jobs by --jobs")
    raise CommandError(
        f"here is neither {' nor '.join(PLACES)}; name the folder with your jobs by --jobs"
    )
