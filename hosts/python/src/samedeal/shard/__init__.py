"""Whole shards to readers, and chunks of a stream."""
