"""Batches of sequences of different length, planned ahead or as they come."""
