"""Who takes which position of an epoch: samplers, and what reads them in windows."""
