"""The project itself, built as its own tools build it: behind walls, and only what a run of its tests needs is kept."""
