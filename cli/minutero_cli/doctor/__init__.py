"""`minutero doctor`: checks of a deployment. Each is a function that returns findings, and only reads."""
