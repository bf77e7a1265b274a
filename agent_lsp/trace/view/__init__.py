"""What a trace is read for: to look at it, to check it, to play it again, and to throw it away."""
