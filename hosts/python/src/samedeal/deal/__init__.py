"""Samplers, which deal the positions of an epoch to ranks, and what reads them in windows."""
