"""The message model: one format for the engine, the wire and the trace (nothing else is in this package)."""
