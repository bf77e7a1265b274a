"""The engine: one asyncio loop that knows messages, a model, tools, an approver and a trace, and nothing else."""
