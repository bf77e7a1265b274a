from agent_lsp.embedding.function_tool import tool as tool
from agent_lsp.embedding.session import Session as Session
from agent_lsp.engine.account import RunResult as RunResult
from agent_lsp.errors import AgentError as AgentError
from agent_lsp.messages.envelope import Message as Message
from agent_lsp.policy.approver import Answer as Answer
from agent_lsp.policy.approver import Question as Question

__version__: str
