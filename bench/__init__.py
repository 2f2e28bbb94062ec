"""Measurements: units, requests, CPU, lateness and memory. `make bench` makes them all.

Each is a module with `measure() -> dict`: numbers, or lists of rows of them. None is a test: machines are
noisy. What is compared is measured in the same run.
"""
