"""The project itself, built as its own tools build it: in isolation, and only what a run of its tests needs is kept."""
