"""The component at work: instances, the canonical ABI, checks of arguments, failures; below all stages."""
