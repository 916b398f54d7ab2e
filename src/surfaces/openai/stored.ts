// Reads responses and items that this service keeps, by the ids that it gave out.

import type { RunResult } from "#gen/runnel/v1/result_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import type { SessionMessage } from "#gen/runnel/v1/session_service_pb.js";
import { isObject } from "../../platform/base/json/parse-object.ts";
import { pageSizeMax, readPages } from "../../platform/base/lists.ts";
import type { Calls } from "../in-process/calls.ts";
import { readSessionMessages } from "../in-process/session-messages.ts";
import { isReason } from "../rest/failure.ts";
import { callerToolsOf } from "./caller-tools.ts";
import { type Origin, originOf } from "./echo.ts";
import { ResponseFold } from "./fold.ts";
import { dashed, plain, responsePlaceOf } from "./ids.ts";
import type { References } from "./input.ts";
import { localCallTypes } from "./local-tools.ts";
import { type Item, itemsOf } from "./messages.ts";

const runs = RunService.method;

/** Returns the origin of a response by its id; undefined when the caller has no such response. */
export async function findOrigin(calls: Calls, id: string): Promise<Origin | undefined> {
  const place = responsePlaceOf(id);
  return place === undefined ? undefined : await originOfRun(calls, place.runId, place.after);
}

/** Returns the origin of the response that begins after a result; undefined when the caller has no such run. */
export async function originOfRun(calls: Calls, runId: string, after = 0): Promise<Origin | undefined> {
  try {
    const { run } = await calls.call(runs.getRun, { runId });
    return originOf(await calls.call(runs.getRunInput, { runId }), run?.sessionId ?? "", after);
  } catch (error) {
    if (isReason(error, "RUN_NOT_FOUND")) {
      return undefined;
    }
    throw error;
  }
}

/** Folds the log of a response as it is now. */
export async function foldNow(calls: Calls, origin: Origin): Promise<ResponseFold> {
  const fold = new ResponseFold(origin);
  fold.open();
  for (const result of await readResults(calls, origin.runId)) {
    fold.take(result);
  }
  return fold;
}

/** Returns the log of a run as it is now. */
export async function readResults(calls: Calls, runId: string): Promise<readonly RunResult[]> {
  return await readPages(async (pageToken) => {
    const page = await calls.call(runs.listRunResults, { runId, pageSize: pageSizeMax, pageToken });
    return { items: page.results, nextPageToken: page.nextPageToken };
  });
}

/** Returns the items in the input of a response. */
export async function readInputItems(calls: Calls, { runId, echo }: Origin): Promise<readonly Item[]> {
  const { messages } = await calls.call(runs.getRunInput, { runId });
  const tools = callerToolsOf(echo.tools);
  return messages.flatMap((message, index) => itemsOf(message, `${plain(runId)}_in${index}`, tools));
}

/** Returns the items of a conversation, oldest first. */
export async function readConversationItems(calls: Calls, sessionId: string): Promise<readonly Item[]> {
  return (await readSessionMessages(calls, sessionId)).flatMap((each) => itemsOfMessage(sessionId, each));
}

/** Returns the items of a message of a conversation. */
export function itemsOfMessage(sessionId: string, { number, message }: SessionMessage): readonly Item[] {
  return message === undefined ? [] : itemsOf(message, `${sessionId}_${number}`);
}

/** The id of an item of a response's output or input. */
const itemOfRun = /^[a-z]+_([0-9a-f]{32})_(in)?\d/;
/** The id of an item of a conversation. */
const itemOfSession = /^[a-z]+_(.+?)_\d+(?:_\d+)?$/;

/**
 * Finds the items that references name. `conversation` is the id of the session that the response continues: its items are there
 * already. Items that are not found are absent.
 */
export async function findReferences(
  calls: Calls,
  ids: readonly string[],
  conversation: string | undefined,
): Promise<References> {
  const places = Map.groupBy(ids, (id) => placeOf(id));
  const found = new Map<string, readonly unknown[]>();
  for (const [place, ids] of places) {
    const named = new Set(ids);
    const { items, sessionId } = (await readPlace(calls, place)) ?? { items: [], sessionId: undefined };
    for (const [index, item] of items.entries()) {
      if (named.has(item.id)) {
        found.set(item.id, sessionId === conversation ? [] : withState(items, index));
      }
    }
  }
  return found;
}

/** A place that has items: `run …`, `input …` or `session …`. Ids of sessions may look as those of runs do. */
function placeOf(id: string): string {
  const [, run, input] = itemOfRun.exec(id) ?? [];
  if (run !== undefined) {
    return `${input === undefined ? "run" : "input"} ${run}`;
  }
  return `session ${itemOfSession.exec(id)?.[1] ?? ""}`;
}

interface Place {
  readonly items: readonly Item[];
  readonly sessionId: string;
}

async function readPlace(calls: Calls, place: string): Promise<Place | undefined> {
  const [kind, id = ""] = place.split(" ", 2);
  const origin = kind === "session" ? undefined : await originOfRun(calls, dashed(id));
  if (origin === undefined) {
    return { items: await itemsOrNone(calls, id), sessionId: id };
  }
  const { sessionId, echo } = origin;
  if (!echo.store) {
    return undefined;
  }
  if (kind === "input") {
    return { items: await readInputItems(calls, origin), sessionId };
  }
  const items: Item[] = [];
  for (let after: number | undefined = 0; after !== undefined; ) {
    const fold = await foldNow(calls, { ...origin, after, echo: { ...echo, hasState: true } });
    items.push(...(fold.output as readonly Item[]));
    after = fold.waitedAt;
  }
  return { items, sessionId };
}

async function itemsOrNone(calls: Calls, sessionId: string): Promise<readonly Item[]> {
  try {
    return await readConversationItems(calls, sessionId);
  } catch (error) {
    if (isReason(error, "SESSION_NOT_FOUND", "INVALID_ARGUMENT")) {
      return [];
    }
    throw error;
  }
}

/** Returns an item with the state of its response, which stands after the text and before the calls. */
function withState(items: readonly Item[], index: number): readonly unknown[] {
  const item = items[index];
  const next = items[index + 1];
  if (item?.type === "message") {
    return isState(next) ? [item, next] : [item];
  }
  if (item === undefined || !callTypes.has(item.type)) {
    return [item];
  }
  const before = items.slice(0, index).findLast(({ type }) => type !== item.type);
  return isState(before) ? [before, item] : [item];
}

/** The types of calls that the caller answers. */
const callTypes: ReadonlySet<string> = new Set(["function_call", "custom_tool_call", ...localCallTypes]);

function isState(item: unknown): boolean {
  return isObject(item) && item.type === "reasoning" && item.encrypted_content !== undefined;
}
