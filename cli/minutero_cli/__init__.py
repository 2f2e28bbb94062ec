"""The command `minutero` and the local stack: a package beside the layer's, which ships none."""
