"""The plugin as pytest finds it in a user's environment."""

import pytest

pytest_plugins = ["pytester"]

A_JOB = """
    from minutero import job

    @job("greet")
    def greet(payload, run):
        return f"hello {payload}"
"""


@pytest.fixture
def tests(pytester, monkeypatch):
    """A user's folder of tests; each run of pytest is a process of its own."""
    # What this run of pytest is told is not for the user's, and its other plugins take seconds.
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    return pytester


def run(tests, *options):
    """`-p` finds the plugin by its entry point."""
    return tests.runpytest_subprocess("-W", "error", "-p", "minutero", *options)


def test_each_test_has_a_deployment_clock_and_jobs_of_its_own_without_configuration(tests):
    tests.makepyfile("""
        import pytest
        from minutero import job

        @pytest.mark.parametrize("number", [1, 2])
        def test_it_is_new(minutero_app, number):
            assert minutero_app.job_names() == []
            assert minutero_app.now.isoformat() == "2026-01-01T00:00:00+00:00"

            @job("greet")
            def greet(payload, run):
                return number

            minutero_app.add_task("greet", number, key="the same")
            minutero_app.advance(days=3)
            assert [task["result"] for task in minutero_app.ran()] == [number]
    """)
    run(tests).assert_outcomes(passed=2)


def test_a_job_that_a_module_registers_is_there_in_each_test_that_imports_it(tests):
    tests.makepyfile(jobs_of_ours=A_JOB)
    tests.makepyfile("""
        import pytest

        @pytest.mark.parametrize("name", ["ana", "bob"])
        def test_it_greets(minutero_app, name):
            import jobs_of_ours

            minutero_app.add_task("greet", name)
            minutero_app.advance()
            assert minutero_app.ran()[0]["result"] == f"hello {name}"
    """)
    run(tests).assert_outcomes(passed=2)


def test_a_run_of_pytest_that_does_not_use_the_fixture_imports_next_to_nothing_for_it(tests):
    tests.makepyfile("""
        import sys

        def test_what_is_imported():
            ours = {name for name in sys.modules if name.startswith("minutero.testing.")}
            assert ours == {"minutero.testing.pytest_plugin"}
            heavy = {"boto3", "botocore", "pynamodb", "pydantic", "aws_lambda_powertools"}
            assert not heavy & set(sys.modules)
    """)
    run(tests).assert_outcomes(passed=1)


def test_the_fixture_is_listed_with_what_it_is(tests):
    told = run(tests, "--fixtures", "-q").stdout
    told.fnmatch_lines(["minutero_app -- *", "*A deployment of Minutero in memory*"])
