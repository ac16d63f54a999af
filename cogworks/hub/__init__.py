"""The embedded GitHub: REST, GraphQL and git smart HTTP over real bare repositories; it knows nothing of cogworks."""
