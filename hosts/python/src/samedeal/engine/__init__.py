"""The layer below all others: instances of the component, the canonical ABI, checks of arguments, failures."""
