"""Schedules: the steps of a whole training, over the ends of epochs."""
