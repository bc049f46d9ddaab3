"""The rank of a process, and the ranks that share data."""
