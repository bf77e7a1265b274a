"""Runs one task in a folder, decides on what it wants to change, and prints what came of it."""

import asyncio
import sys

from agent_lsp import Answer, Question, Session


def approve(question: Question) -> bool | Answer:
    """Edits are fine; of everything else the model is told why not."""
    if question.call.name in ("edit_file", "write_file"):
        print("allowed:", question.title)
        return True
    return Answer("deny", feedback="Only edits are allowed here; say what you would have done.")


async def main(workspace: str, prompt: str) -> int:
    async with Session.open(workspace, model="rehearsal/rehearsal", approve=approve) as session:
        result = await session.run(prompt)
        print(result.status, "after", result.turns, "turns and", result.usage.total, "tokens")
        print(result.text)
    return 0 if result.status == "completed" else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main(*sys.argv[1:])))
