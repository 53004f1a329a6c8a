"""The test kit that ships with the product."""
