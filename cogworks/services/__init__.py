"""The bundled domain services, each a process of its own."""
