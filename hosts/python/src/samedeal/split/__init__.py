"""Which samples are for training, validation or test."""
