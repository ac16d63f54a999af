"""The bundled domain service for Python repositories."""
