"""Your jobs: one file each, found by the `@job` in it."""
