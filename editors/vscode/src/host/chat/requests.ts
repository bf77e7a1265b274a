import { RELAYED_METHODS, type AgentMethods, type HostMethods, type RequestMessage } from "../../shared/bridge";
import type { Params, SessionInfo } from "../../shared/protocol";
import { told } from "../connection";
import { rootFor } from "../roots";
import type { Edits } from "../edits";
import type { Mentions } from "../mentions";
import { slashCommands } from "../slashCommands";
import type { Runs } from "./runs";
import type { Parts } from "./parts";
import type { ChatView } from "./view";

type Relayed = { [M in keyof AgentMethods]?: (params: never) => Promise<unknown> };
type Own = { [M in keyof HostMethods]: (params: HostMethods[M]["params"]) => Promise<HostMethods[M]["result"]> };

/** Answers what the view asks: by asking the server, for the methods that it may call, or itself. */
export class Requests {
  readonly #parts: Parts;
  readonly #view: ChatView;
  readonly #relayed: Relayed;
  readonly #own: Own;

  constructor(parts: Parts, view: ChatView, runs: Runs, edits: Edits, mentions: Mentions) {
    this.#parts = parts;
    this.#view = view;
    const { sessions } = parts;
    this.#relayed = {
      "agent/session/new": (params: Params<"agent/session/new">) => sessions.create(params),
      "agent/session/update": (params: Params<"agent/session/update">) => sessions.update(params),
      "agent/run": (params: Params<"agent/run">) => runs.run(params),
      "agent/steer": (params: Params<"agent/steer">) => runs.steer(params),
      "agent/unsteer": (params: Params<"agent/unsteer">) => runs.unsteer(params),
      "agent/edits/keep": (params: Params<"agent/edits/keep">) => edits.keep(params),
      "agent/edits/undo": (params: Params<"agent/edits/undo">) => edits.undo(params),
    };
    this.#own = {
      "host/files": ({ query, limit }) => mentions.files(query, limit),
      "host/dropped": ({ uris }) => mentions.dropped(uris),
      "host/selection": () => Promise.resolve(mentions.selection()),
      "host/commands": () => slashCommands(sessions.shown?.workspace ?? rootFor()?.uri),
    };
  }

  /** Answers a request, unless the page that has asked is gone by then. */
  async answer(request: RequestMessage): Promise<void> {
    const { id } = request;
    const { page } = this.#view;
    const answer = await this.#result(request).then(
      (result) => ({ kind: "response" as const, id, result }),
      (error: unknown) => ({ kind: "response" as const, id, error: told(error) }),
    );
    if (page === this.#view.page) {
      this.#view.post(answer);
      this.#correct(request, answer);
    }
  }

  /** A session that was left again before the view had heard of it: the view would go on with it. */
  #correct({ method }: RequestMessage, answer: object): void {
    const made = method === "agent/session/new" && "result" in answer ? (answer.result as SessionInfo) : undefined;
    if (made && made.sessionId !== this.#parts.sessions.shownId) {
      this.#view.showSession();
    }
  }

  async #result({ method, params }: RequestMessage): Promise<unknown> {
    if (isOwn(method)) {
      return this.#own[method](params as never);
    }
    if (!RELAYED_METHODS.includes(method)) {
      throw new Error(`the view may not call ${method}`);
    }
    const relay = this.#relayed[method];
    return relay ? relay(params as never) : this.#parts.server.request(method, params as never);
  }
}

function isOwn(method: string): method is keyof HostMethods {
  return method.startsWith("host/");
}
