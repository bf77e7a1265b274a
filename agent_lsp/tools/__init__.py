"""The tools of a session and the environment that frames, limits and times them."""
