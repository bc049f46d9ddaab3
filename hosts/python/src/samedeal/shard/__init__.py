"""Plans, which deal whole shards to readers, and streams of chunks."""
