"""Lists of tasks and of the dead over HTTP: a page as it is asked for, and where the next one begins."""

from typing import Any

from minutero.http.answers import letter_answer, listed_answer, task_answer
from minutero.http.pages import Pages
from minutero.http.queries import DeadListQuery, TaskListQuery, dead_query, read_limit
from minutero.service.entries import Api

Told = dict[str, Any]


def tasks(api: Api, asked: TaskListQuery) -> Told:
    """Tasks of a stretch of time in due order, or the one task of a key. Raises InvalidInput, NotFound."""
    key = asked.to_key()
    if key is not None:
        return task_answer(api.read_task.by_key(*key))
    query, pages = asked.to_query(), Pages("tasks", asked.filters(), api.signing_secret)
    start, _ = pages.read(asked.next_token)
    page = api.list_tasks(query, read_limit(asked.limit), start)
    return {
        "tasks": [listed_answer(view) for view in page.tasks],
        "next_token": pages.token(page.following, query.end),
    }


def dead(api: Api, asked: DeadListQuery) -> Told:
    """The dead, oldest first. Raises InvalidInput."""
    pages = Pages("dead", asked.filters(), api.signing_secret)
    start, end = pages.read(asked.next_token)
    query = dead_query(asked, api.dead.kept(end))
    page = api.dead.page(query, read_limit(asked.limit), start)
    return {
        "dead": [letter_answer(letter) for letter in page.letters],
        "next_token": pages.token(page.following, query.end),
    }
