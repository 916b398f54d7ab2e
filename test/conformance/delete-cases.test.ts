// DELETE in every state that a session can have: it is gone at once, its run ends once, every open stream ends with one `done`
// and nothing after it, and its host gets one status callback about the end.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, inject, onTestFinished, test } from "vitest";
import { Session_State } from "#gen/runnel/v1/session_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import type { Config } from "../../src/platform/config/keys.ts";
import { rowsOf } from "../callbacks/stage.ts";
import { type CallbackHost, startCallbackHost } from "../fakes/callback-host.ts";
import { answer, callTools, hangAfter } from "../fakes/provider.ts";
import { fail } from "../fakes/wire-server.ts";
import { expectInvariants } from "../fault/invariants.ts";
import { openFolder } from "../fixtures.ts";
import { credentialsOf, keyOf } from "../harness/credentials.ts";
import { query } from "../harness/database.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { startService, type TestService } from "../harness/service.ts";
import { readEvents } from "../harness/sse.ts";
import { until } from "../harness/wait.ts";
import { processesOf } from "../tools/bash/jailed.ts";
import { expectRefused, readSession, type Stage, sessionNotFound, setStage } from "./stage.ts";
import { findSurface, type SurfaceKind, withoutFeeds } from "./surfaces.ts";

const rest = findSurface("REST");
const sessionId = "to-be-deleted";

interface Scene extends Stage {
  readonly host: CallbackHost;
}

interface State {
  readonly state: string;
  readonly flags?: Partial<Config>;
  /** Brings the session into this state. */
  readonly reach: (scene: Scene) => Promise<unknown>;
  /** The callbacks that its host gets after `created`, the deletion included. */
  readonly told: readonly string[];
  /** Checks what must still be true afterwards. */
  readonly afterwards?: (scene: Scene) => unknown;
}

async function send({ api }: Scene, message = "go"): Promise<string> {
  return (await api.sendMessage({ sessionId, message })).run_id;
}

/** Calls a tool that must not answer; with an answer the model would say more. */
async function callTool(scene: Scene, name: string, args: object = {}): Promise<string> {
  scene.provider.respond(callTools({ id: "call_1", name, arguments: JSON.stringify(args) }), answer("never"));
  return await send(scene);
}

const cancelled = ["running", "cancelled"];

const active: readonly State[] = [
  {
    state: "running and asks its model",
    reach: async (scene) => {
      scene.provider.respond((wire) => wire.hang());
      await send(scene);
      await scene.provider.request(0);
    },
    told: cancelled,
    afterwards: async ({ provider }) => expect(await (await provider.request(0)).closed).toBe(false),
  },
  {
    state: "running and hears its model speak",
    reach: async (scene) => {
      scene.provider.respond(hangAfter("I was about to"));
      const runId = await send(scene);
      await until("its words", async () => (await scene.api.listResults({ runId })).results.length >= 2);
    },
    told: cancelled,
  },
  {
    state: "running and waits before it asks again",
    // A minute, far longer than the test.
    flags: { retryBaseMs: 60_000 },
    reach: async (scene) => {
      scene.provider.respond(fail(500, "oops"));
      await send(scene);
      await scene.provider.request(0);
    },
    told: cancelled,
  },
  {
    state: "running and in a tool of the service",
    reach: async (scene) => {
      // grep takes half a minute for the line of `workDirWithLongLine`.
      const runId = await callTool(scene, "grep", { pattern: "(?:.{1,30}a){30}[xy]$" });
      await until("the call", async () => {
        const { results } = await scene.api.listResults({ runId });
        return results.some(({ type }) => type === "tool.call.started");
      });
    },
    told: cancelled,
  },
  {
    state: "running and in a tool of its host",
    reach: async (scene) => {
      scene.host.answer(() => new Promise(() => {}));
      await callTool(scene, "ask_host");
      await scene.host.called(1);
    },
    told: cancelled,
    afterwards: ({ host }) => expect(host.calls).toHaveLength(1),
  },
  {
    state: "queued behind another",
    flags: { runsSlots: 1 },
    reach: async (scene) => {
      scene.provider.respond((wire) => wire.hang());
      await scene.api.createSession({ sessionId: "first", agent: { name: "first" } });
      await scene.api.sendMessage({ sessionId: "first", message: "go" });
      await scene.provider.request(0);
      await send(scene);
    },
    told: cancelled,
    afterwards: async ({ api, provider }) => {
      expect(provider.requests).toHaveLength(1);
      await api.deleteSession("first");
    },
  },
];

const inBash: State = {
  state: "running and in bash",
  reach: async (scene) => {
    await callTool(scene, "bash", { command: "sleep 300 & sleep 300" });
    await until("the command", () => processesOf(sessionId).length >= 2);
  },
  told: cancelled,
  afterwards: () => until("its processes to end", () => processesOf(sessionId).length === 0),
};

const idle: readonly State[] = [
  { state: "created", reach: async () => {}, told: [] },
  {
    state: "completed",
    reach: async (scene) => {
      scene.provider.respond(answer("done"));
      await send(scene);
      await readSession(scene.api, sessionId);
    },
    told: ["running", "completed"],
  },
  {
    state: "failed",
    reach: async (scene) => {
      scene.provider.respond(fail(401, "no"));
      await send(scene);
      await readSession(scene.api, sessionId);
    },
    told: ["running", "failed"],
  },
  {
    state: "cancelled",
    reach: async (scene) => {
      scene.provider.respond((wire) => wire.hang());
      const runId = await send(scene);
      await scene.api.cancelRun(runId);
      await readSession(scene.api, sessionId);
    },
    told: cancelled,
  },
];

const states = [...idle, ...active, ...(inject("hasJail") ? [inBash] : [])].flatMap((each) =>
  [rest, withoutFeeds(rest)].map((kind) => ({ ...each, kind, name: kind.name })),
);

test.each(states)("a session that is $state is gone at once, with one status callback ($name)", async (each) => {
  const scene = await setScene(each);
  const { api, service, host } = scene;
  await each.reach(scene);
  // Each stream is open before the session is deleted.
  const readers = [await openSse(service), await openSse(service), await openGrpc(service)];
  expect(await api.deleteSession(sessionId)).toEqual({ status: "deleted" });

  await expectRefused(api.getSession(sessionId), sessionNotFound);
  await expectRefused(api.deleteSession(sessionId), sessionNotFound);
  await expectRefused(api.sendMessage({ sessionId, message: "still there?" }), sessionNotFound);
  await expectRefused(readSession(api, sessionId), sessionNotFound);

  const end = each.told.at(-1) ?? "cancelled";
  const [first = [], ...others] = await Promise.all(readers.map((read) => read()));
  expect(first.filter((event) => event.startsWith("done"))).toEqual([`done ${end}`]);
  expect(first.at(-1)).toBe(`done ${end}`);
  expect(others).toEqual([first, first]);
  await until("the host to be told", () => host.told.length === 1 + each.told.length);
  await each.afterwards?.(scene);
  expect(statusesOf(host)).toEqual(["created", ...each.told]);
  expect((await rowsOf(service.databaseUrl)).map(({ status }) => status)).toEqual(["created", ...each.told]);
  const { runs } = await api.listRuns({});
  const own = runs.filter(({ session_id }) => session_id === sessionId);
  expect(own.map(({ state }) => state)).toEqual(each.told.slice(-1));
  // The id is free again.
  expect(await api.createSession({ sessionId, agent: { name: "next" } })).toMatchObject({ session_id: sessionId });
  if (own.length > 0) {
    await expectInvariants(service.databaseUrl);
  }
});

test.each([rest, findSurface("gRPC")])("an expired session cannot be deleted ($name)", async (kind) => {
  const { api, service } = await setStage(kind);
  await api.createSession({ sessionId, agent: { name: "old" } });
  await query(service.databaseUrl, "update session set create_time = create_time - interval '1 day'");
  await startService({ databaseUrl: service.databaseUrl, sessionsTtlMinutes: 30 });
  await until("it to expire", async () => (await api.listSessions({})).sessions.length === 0);
  await expectRefused(api.deleteSession(sessionId), sessionNotFound);
});

async function setScene({ kind, flags = {} }: { kind: SurfaceKind; flags?: Partial<Config> }): Promise<Scene> {
  const host = await startCallbackHost({ secret: keyOf() });
  onTestFinished(() => host[Symbol.asyncDispose]());
  const stage = await setStage(kind, { securityCallbackAllow: ["127.0.0.1@127.0.0.1/32"], ...flags });
  const builtin = ["grep", ...(inject("hasJail") ? ["bash"] : [])];
  const remote = [{ name: "ask_host", description: "Asks." }];
  await stage.api.createSession({
    sessionId,
    workDir: await workDirWithLongLine(),
    callback: { baseUrl: host.baseUrl },
    agent: { name: "tester", tools: { builtin, remote } },
  });
  return { ...stage, host };
}

/** Makes a file with one line of a million letters, in no order. */
async function workDirWithLongLine(): Promise<string> {
  const directory = await openFolder();
  let bits = 1;
  const line = Array.from({ length: 1_000_000 }, () => {
    bits = (bits * 48_271) % 2_147_483_647;
    return bits % 2 === 0 ? "a" : "b";
  });
  await writeFile(join(directory, "line"), line.join(""));
  return directory;
}

/**
 * Resolves when the stream is open, with a function that reads it to its proper end: names of events, and the data of `done`.
 */
type Reader = () => Promise<string[]>;

async function openSse({ url }: TestService): Promise<Reader> {
  const { status, body } = await fetch(`${url}/v1/sessions/${sessionId}/stream`, { headers: credentialsOf() });
  expect(status).toBe(200);
  return async () => {
    const events = await Array.fromAsync(readEvents(body ?? expect.fail("a stream has a body")));
    return events.map(({ event, data }) => (event === "done" ? `done ${JSON.parse(data).status}` : event));
  };
}

async function openGrpc({ target }: TestService): Promise<Reader> {
  const stream = new GrpcClient(target).stream(SessionService.method.streamSession, { sessionId });
  const events = stream[Symbol.asyncIterator]();
  const opening = await events.next();
  expect(opening.value.event.case).toBeUndefined();
  return async () => {
    const told = await Array.fromAsync({ [Symbol.asyncIterator]: () => events });
    return told.map(({ event }) => (event.case === "done" ? `done ${wordOf(event.value.status)}` : nameOf(event.case)));
  };
}

function wordOf(status: Session_State): string {
  return Session_State[status].toLowerCase();
}

/** Returns the name that the contract gives the event in SSE. */
function nameOf(member: string | undefined): string {
  return String(member).replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function statusesOf({ told }: CallbackHost): string[] {
  return told.map(({ body }) => JSON.parse(body).status);
}
