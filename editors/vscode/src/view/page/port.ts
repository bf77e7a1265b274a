/** The way to the extension host: requests with answers, acts without, and what the editor keeps for the view. */

import type {
  Act,
  BridgeError,
  BridgeMethod,
  BridgeMethods,
  HostToView,
  RequestMessage,
  ViewToHost,
} from "../../shared/bridge";

interface EditorApi {
  postMessage(message: ViewToHost): void;
  getState(): unknown;
  setState(state: unknown): void;
}

declare function acquireVsCodeApi(): EditorApi;

/** A request that failed, as the server or the host said it. */
export class RequestFailed extends Error {
  constructor(readonly error: BridgeError) {
    super(error.hint ? `${error.message}. ${error.hint}` : error.message);
  }
}

/** What the host says by itself. */
export type HostMessage = Exclude<HostToView, { kind: "response" }>;

interface Waiting {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- typed by the method of its request
  resolve(result: any): void;
  reject(error: RequestFailed): void;
}

export class Port {
  private readonly api = acquireVsCodeApi();
  private readonly waiting = new Map<number, Waiting>();
  private counter = 0;

  /** `receive` gets everything but answers. */
  constructor(receive: (message: HostMessage) => void) {
    window.addEventListener("message", (event: MessageEvent<HostToView>) => {
      const message = event.data;
      if (message.kind === "response") this.answered(message);
      else receive(message);
    });
  }

  post(message: ViewToHost): void {
    this.api.postMessage(message);
  }

  act(act: Act): void {
    this.post({ kind: "act", ...act });
  }

  /** Rejects with RequestFailed. */
  request<M extends BridgeMethod>(method: M, params: BridgeMethods[M]["params"]): Promise<BridgeMethods[M]["result"]> {
    const id = ++this.counter;
    this.post({ kind: "request", id, method, params } as unknown as RequestMessage);
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
    });
  }

  /** What was kept with `keep`, from before a reload. */
  kept(): unknown {
    return this.api.getState();
  }

  keep(state: unknown): void {
    this.api.setState(state);
  }

  private answered(message: Extract<HostToView, { kind: "response" }>): void {
    const waiting = this.waiting.get(message.id);
    this.waiting.delete(message.id);
    if ("error" in message) waiting?.reject(new RequestFailed(message.error));
    else waiting?.resolve(message.result);
  }
}

/** What went wrong, in words. */
export function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
