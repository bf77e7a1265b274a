"""agent-lsp: a coding agent that an editor starts like any language server."""

__version__ = "0.1.0"
