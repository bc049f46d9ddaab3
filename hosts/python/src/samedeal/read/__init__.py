"""Readers of a dataset in shards: what every loader worker of every rank reads."""
