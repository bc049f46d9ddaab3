"""A whole training in steps, over the ends of epochs."""
