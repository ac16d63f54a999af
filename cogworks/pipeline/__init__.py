"""The rules of a run: graph, conditions, state and the decision; no module here touches the world."""
