"""The verbs: one file each, written against the ports alone."""
