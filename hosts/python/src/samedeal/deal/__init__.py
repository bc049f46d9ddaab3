"""Samplers, which deal the positions of an epoch to ranks, and functions that read them in windows."""
