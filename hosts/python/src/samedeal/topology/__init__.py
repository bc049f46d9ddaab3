"""Which rank a process is, and who shares data."""
