"""The functions that carry out GraphQL's mutations, one module per kind of object."""
