"""The Extension API as cogworks speaks it."""
