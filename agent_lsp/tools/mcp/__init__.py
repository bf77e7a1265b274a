"""Tools of other programs: servers of the Model Context Protocol, started or asked for one session.

Only `wire` and `stdio` know the SDK; they are imported, in a thread, when the first server is connected.
"""
