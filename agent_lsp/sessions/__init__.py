"""A session with all that it is plugged into, as every front end sees it."""
