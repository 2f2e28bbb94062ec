"""The HTTP API's shapes: bodies in, answers and errors out. Its routes are in functions/api."""
