"""Orders as values: descriptions of plain orders, and of orders that are made of other orders."""
