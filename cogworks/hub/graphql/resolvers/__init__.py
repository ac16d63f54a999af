"""The functions that answer GraphQL's fields, one module per kind of object."""
