"""The fault simulation: the real services over the in-memory stores, interleaved by a seeded scheduler."""
