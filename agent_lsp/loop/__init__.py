"""The loop session: a model that is asked for one decision at a time, over the same engine as any other session."""
