"""The engine as a library: sessions, permission and tools of one's own, in a program's own event loop.

`from agent_lsp import Session, …` gives what is public here; nothing is imported before it is asked for.
"""
