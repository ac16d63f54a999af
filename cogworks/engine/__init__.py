"""The step: read a work item, decide, claim one visit, carry it out, publish, record, show."""
