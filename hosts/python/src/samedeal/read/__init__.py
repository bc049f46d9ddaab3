"""Readers of a dataset in shards: which samples every loader worker of every rank reads."""
