"""The Agent Client Protocol: a second front end on the same sessions."""
