"""The model that the environment names."""

import os

BASE_URL, MODEL, API_KEY, API = (
    os.environ.get(f"AGENT_LSP_LIVE_{name}", "") for name in ("BASE_URL", "MODEL", "API_KEY", "API")
)
WITHIN_S = 300
"""A model on this machine may have to be loaded first."""
