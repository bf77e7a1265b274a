/** Servers of tools: connecting, ready, failed. */

import type { McpConnectBegin, McpConnectEnd } from "../../shared/protocol";
import type { Keys } from "./keys";
import type { McpRow, Row } from "./rows";

export class McpRows {
  private connecting: McpRow | null = null;
  private headless: McpRow | null = null;

  constructor(
    private readonly keys: Keys,
    private readonly add: (row: McpRow) => void,
    private readonly touch: (row: McpRow) => void,
  ) {}

  apply(payload: McpConnectBegin | McpConnectEnd, at: string): void {
    if (payload.type === "mcp_connect_begin") {
      if (payload.servers.length === 0) return;
      this.connecting = { kind: "mcp", key: this.keys.take(`mcp:${at}`), at, version: 0, servers: payload.servers };
      this.add(this.connecting);
      return;
    }
    const row = this.connecting ?? this.beheaded(payload, at);
    this.connecting = null;
    if (!row) return;
    row.results = payload.results;
    this.touch(row);
  }

  /** This is the earlier page's: one that connects here has connected over there. */
  join(later: McpRows, page: { rows: Row[] }): void {
    const { connecting } = this;
    if (!connecting || !later.headless) return;
    page.rows = page.rows.filter((row) => row !== connecting);
    later.headless.servers = connecting.servers;
    later.touch(later.headless);
    later.headless = null;
  }

  private beheaded(payload: McpConnectEnd, at: string): McpRow | null {
    if (payload.results.length === 0) return null;
    const servers = payload.results.map((result) => result.server);
    this.headless = { kind: "mcp", key: this.keys.take(`mcp:${at}`), at, version: 0, servers };
    this.add(this.headless);
    return this.headless;
  }
}
