"""What a repository's own setup makes: run once in isolation, with a door to package registries alone, and kept."""
