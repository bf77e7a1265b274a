"""Gives the model a tool of the program's own, streams the answer, and shows each call as it happens."""

import asyncio
import sys

from agent_lsp import Session, tool

STOCK = {"apples": 12, "pears": 0}


@tool(permission="r")
async def stock_of(item: str) -> dict[str, int | str]:
    """Says how many pieces of an item are in stock."""
    return {"item": item, "pieces": STOCK.get(item, 0)}


async def main(workspace: str, prompt: str, model: str = "rehearsal/rehearsal") -> None:
    settings = {"approval_mode": "read-only", "titles": False}
    async with Session.open(workspace, model=model, tools=[stock_of], settings=settings) as session:
        async for message in session.stream(prompt):
            match message.payload.type:
                case "partial_text":
                    print(message.payload.text, end="", flush=True)
                case "tool_call":
                    print(f"\n[{message.payload.name} {message.payload.arguments}]")
        print()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
