/** Puts the extension together. */

import * as vscode from "vscode";
import { inSight } from "../logic/attention";
import { Acts } from "./chat/acts";
import { Drafts } from "./chat/drafts";
import { Requests } from "./chat/requests";
import { Runs } from "./chat/runs";
import { ChatView } from "./chat/view";
import type { Parts } from "./chat/parts";
import { offerCodeActions } from "./codeActions";
import { ask, registerChatCommands, registerServerCommands, registerSessionCommands } from "./commands";
import { Ctx } from "./ctx";
import { Decisions } from "./decisions";
import { Diffs } from "./diffs";
import { answerForDocuments } from "./documents";
import { EditCommands } from "./editCommands";
import { Edits } from "./edits";
import { welcome } from "./firstStart";
import { Installation } from "./installation";
import { Interrupted } from "./interrupted";
import { Keyring } from "./keyring";
import { Mentions } from "./mentions";
import { Models } from "./models";
import { Pages } from "./pages";
import { registerPickers } from "./pickers";
import { Server } from "./server";
import { SessionPicker } from "./sessionPicker";
import { Sessions } from "./sessions";
import { Settings } from "./settings";
import { showStatus } from "./statusBar";
import { Texts } from "./transcripts";
import { keepUpToDate } from "./upToDate";

let running: (Parts & { readonly view: ChatView }) | undefined;

/** What tests that run in the same host may look at. */
export interface Inside extends Parts {
  readonly view: ChatView;
  readonly runs: Runs;
  readonly edits: Edits;
  readonly diffs: Diffs;
}

/** Wakes the extension. It offers nothing to other extensions. */
export function activate(context: vscode.ExtensionContext): Inside | undefined {
  const ctx = new Ctx(context);
  const settings = new Settings(ctx);
  const installation = new Installation(ctx, settings);
  const keyring = new Keyring(ctx, settings);
  const server = new Server(ctx, settings, installation, keyring);
  const sessions = new Sessions(ctx, server);
  const interrupted = new Interrupted(ctx, server);
  const decisions = new Decisions(ctx, settings, server);
  interrupted.follow(decisions);
  const parts: Parts = { ctx, server, sessions, settings, decisions, interrupted, drafts: new Drafts(ctx.kept) };

  answerForDocuments(ctx, server);
  const inside = showChat(parts, installation);
  running = { ...parts, view: inside.view };
  showStatus(ctx, server, sessions, decisions);
  keepUpToDate(ctx, settings, server, keyring, sessions);
  welcome(ctx, server);
  return context.extensionMode === vscode.ExtensionMode.Test ? inside : undefined;
}

/** Ends the server before the editor ends the host, so that its children end with it and what it knows is on the disk. */
export async function deactivate(): Promise<void> {
  const { ctx, server, view, interrupted } = running ?? {};
  running = undefined;
  interrupted?.leave();
  view?.silence(); // what comes back when the runs are stopped has to go into the drafts
  await server?.stop();
  ctx?.dispose();
}

function showChat(parts: Parts, installation: Installation): Inside {
  const { ctx, server, sessions, settings, decisions, drafts } = parts;
  const view = new ChatView(parts);
  const edits = new Edits(ctx, server, sessions);
  const runs = new Runs(parts, view);
  const diffs = new Diffs(ctx);
  const texts = new Texts(ctx, server, sessions);
  const editCommands = new EditCommands(ctx, edits, sessions, settings);
  const requests = new Requests(parts, view, runs, edits, new Mentions(ctx));
  const acts = new Acts(parts, view, diffs, texts, editCommands);
  const models = new Models(ctx, server, view);

  hear(parts, view, requests, acts);
  decisions.attach(view);
  const count = (): void => {
    view.waiting = decisions.book.pending.filter(({ params }) => !inSight(view.sight, params.sessionId)).length;
  };
  ctx.own(view.onDidChangeSight(() => decisions.look()));
  ctx.own(view.onDidChangeSight(count));
  ctx.own(decisions.onDidChange(count));
  ctx.own(
    edits.onDidChange((sessionId) =>
      view.postIfShowing(sessionId, { kind: "edits", sessionId, edits: edits.of(sessionId) }),
    ),
  );

  registerChatCommands(parts, view);
  registerSessionCommands(parts, diffs);
  registerServerCommands(parts, installation);
  registerPickers(ctx, server, sessions, models);
  new SessionPicker(ctx, server, sessions, drafts).register();
  new Pages(ctx, server, sessions).register();
  offerCodeActions(ctx, settings, (input) => ask(parts, view, runs, input));
  return { ...parts, view, runs, edits, diffs };
}

/** Hands what the view says to whoever deals with it. */
function hear({ ctx, decisions }: Parts, view: ChatView, requests: Requests, acts: Acts): void {
  view.listen({
    heard(message) {
      switch (message.kind) {
        case "request":
          void requests.answer(message);
          break;
        case "act":
          acts.do(message).catch((error: unknown) => ctx.tell(error));
          break;
        case "approve":
          decisions.decide(message.key, message.answer, "view");
          break;
        case "answer":
          decisions.reply(message.key, message.answer, "view");
          break;
        case "failed":
          ctx.log.error(`The chat's script has failed: ${message.message}\n${message.stack ?? ""}`);
          break;
        default:
      }
    },
  });
}
