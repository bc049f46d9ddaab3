"""Orders as values: descriptions of orders, also of those that are made of others."""
