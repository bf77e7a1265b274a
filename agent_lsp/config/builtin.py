"""The providers that need no entry in the configuration, and the variables of the environment they look at."""

from __future__ import annotations

KEY_VARIABLES: dict[str, tuple[str, ...]] = {
    "anthropic": ("ANTHROPIC_API_KEY",),
    "openai": ("OPENAI_API_KEY",),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "openrouter": ("OPENROUTER_API_KEY",),
    "deepseek": ("DEEPSEEK_API_KEY",),
    "mistral": ("MISTRAL_API_KEY",),
    "groq": ("GROQ_API_KEY",),
    "xai": ("XAI_API_KEY",),
    "zai": ("ZAI_API_KEY",),
    "moonshot": ("MOONSHOT_API_KEY",),
    "together": ("TOGETHER_API_KEY",),
    "fireworks": ("FIREWORKS_API_KEY",),
    "cerebras": ("CEREBRAS_API_KEY",),
}
"""Provider → the variables its key may be in, first one set wins. The order is that in which a default is chosen."""

BASE_URL_VARIABLES: dict[str, str] = {"anthropic": "ANTHROPIC_BASE_URL", "openai": "OPENAI_BASE_URL"}

LOCAL_PORTS: dict[str, int] = {"ollama": 11434, "lmstudio": 1234, "llamacpp": 8080, "vllm": 8000}
"""Servers on this machine that are asked when nothing else is configured → their usual port."""

REHEARSAL = "rehearsal"

NAMES = frozenset({*KEY_VARIABLES, *LOCAL_PORTS, REHEARSAL})
"""Names whose entry under `providers` may leave out `api`."""
