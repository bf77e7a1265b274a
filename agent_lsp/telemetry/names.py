"""The names of the semantic conventions for generative AI that are used here, of one version.

They are still being developed, so they are written down rather than imported: another release of a library must not
rename what a team has built its dashboards on.
"""

from __future__ import annotations

VERSION = "1.41.0"
SCHEMA_URL = f"https://opentelemetry.io/schemas/{VERSION}"

OPERATION = "gen_ai.operation.name"
PROVIDER = "gen_ai.provider.name"
AGENT = "gen_ai.agent.name"
CONVERSATION = "gen_ai.conversation.id"
REQUEST_MODEL = "gen_ai.request.model"
FINISH_REASONS = "gen_ai.response.finish_reasons"
INPUT_TOKENS = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
CACHE_READ_TOKENS = "gen_ai.usage.cache_read.input_tokens"
TOKEN_TYPE = "gen_ai.token.type"
TOOL = "gen_ai.tool.name"
TOOL_CALL = "gen_ai.tool.call.id"
TOOL_TYPE = "gen_ai.tool.type"
ERROR = "error.type"
SERVER = "server.address"
PORT = "server.port"

INPUT_MESSAGES = "gen_ai.input.messages"
OUTPUT_MESSAGES = "gen_ai.output.messages"
TOOL_ARGUMENTS = "gen_ai.tool.call.arguments"
TOOL_RESULT = "gen_ai.tool.call.result"
"""These four hold content, and are set only where that was asked for."""
CONTENT = frozenset({INPUT_MESSAGES, OUTPUT_MESSAGES, TOOL_ARGUMENTS, TOOL_RESULT})

ATTEMPT = "agent_lsp.request.attempt"
DECIDED_BY = "agent_lsp.approval.decided_by"
DECISION = "agent_lsp.approval.decision"
STATUS = "agent_lsp.run.status"
"""What the conventions have no name for."""

DURATION = "gen_ai.client.operation.duration"
DURATION_BUCKETS_S = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
TOKENS = "gen_ai.client.token.usage"
TOKEN_BUCKETS = tuple(4**power for power in range(14))

_PROVIDERS = {"gemini": "gcp.gemini", "mistral": "mistral_ai", "xai": "x_ai", "moonshot": "moonshot_ai"}


def provider_name(provider: str) -> str:
    """The provider as the conventions call it; those that they do not know keep their own name."""
    return _PROVIDERS.get(provider, provider)
