"""The rules, as pure functions and values: standard library only, time always an argument."""
