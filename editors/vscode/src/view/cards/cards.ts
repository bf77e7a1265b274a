/** The card of each kind of row. */

import type { Card } from "../list/virtualList";
import type { Row } from "../model/rows";
import type { CardHost } from "./cardHost";
import { compactionCard, endCard, errorCard, mcpCard, noteCard, retryCard } from "./eventCards";
import { answerCard, thinkingCard } from "./textCards";
import { toolCard } from "./toolCard";
import { userCard } from "./userCard";

export function cardOf(row: Row, host: CardHost): Card {
  switch (row.kind) {
    case "user":
      return userCard(row, host);
    case "answer":
      return answerCard(row, host);
    case "thinking":
      return thinkingCard(row, host);
    case "tool":
      return toolCard(row, host);
    case "retry":
      return retryCard(row, host);
    case "compaction":
      return compactionCard(row, host);
    case "mcp":
      return mcpCard(row, host);
    case "note":
      return noteCard(row, host);
    case "error":
      return errorCard(row, host);
    case "end":
      return endCard(row, host);
  }
}
