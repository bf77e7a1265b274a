"""agent-lsp: a coding agent that an editor starts like any language server, and a library for programs that embed it.

What is public here is imported when it is asked for: `import agent_lsp` costs nothing, and a server never needs it.
"""

__version__ = "0.1.0"

_PUBLIC = {
    "AgentError": "agent_lsp.errors",
    "Answer": "agent_lsp.policy.approver",
    "Message": "agent_lsp.messages.envelope",
    "Question": "agent_lsp.policy.approver",
    "RunResult": "agent_lsp.engine.account",
    "Session": "agent_lsp.embedding.session",
    "tool": "agent_lsp.embedding.function_tool",
}
"""Each public name → the module it is from. The types are in `__init__.pyi`."""


def __getattr__(name: str) -> object:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_PUBLIC[name]), name)


def __dir__() -> list[str]:
    return sorted([*_PUBLIC, "__version__"])
