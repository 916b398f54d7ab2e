// A service whose clients name directories, the doors by which they do, and a folder with directories to name.

import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { ExchangeService } from "#gen/runnel/exchange/v1/exchange_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import type { Config } from "../../src/platform/config/keys.ts";
import { openGrpc } from "../conformance/grpc-surface.ts";
import { Refused } from "../conformance/surface.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { startService, type TestService } from "../harness/service.ts";

export const agent = { name: "namer", model: "demo", tools: { builtin: ["list_dir"] } };

/** Why a directory was refused, and the field that the error names; undefined when a session has it. */
export interface Naming {
  readonly refusal: string | undefined;
  readonly field?: string | undefined;
}

/** A way to make a session that names a directory. An empty name means none. */
export interface Door {
  readonly name: string;
  create(service: TestService, client: string, workDir: string): Promise<Naming>;
}

export const doors: readonly Door[] = [
  {
    name: "REST",
    create: async (service, client, workDir) => {
      const answer = await post(service, client, "/v1/sessions", {
        agent,
        ...(workDir !== "" && { work_dir: workDir }),
      });
      const { error } = (await answer.json()) as { error?: string };
      return answer.ok ? { refusal: undefined } : { refusal: error, field: /^invalid (\w+)/.exec(error ?? "")?.[1] };
    },
  },
  {
    name: "gRPC",
    create: (service, client, workDir) =>
      attempt(
        openGrpc(service.target, credentialsOf(client)).call(SessionService.method.createSession, { agent, workDir }),
      ),
  },
  {
    name: "an exchange",
    create: (service, client, workDir) =>
      attempt(
        openGrpc(service.target, credentialsOf(client)).call(ExchangeService.method.startExchange, {
          task: "t",
          workDir,
        }),
      ),
  },
  {
    name: "OpenAI's API",
    create: async (service, client, workDir) => {
      const answer = await post(service, client, "/v1/responses", {
        model: "demo",
        input: "hello pace=0",
        metadata: workDir === "" ? {} : { "runnel.work_dir": workDir },
      });
      const { error } = (await answer.json()) as { error?: { message: string; param: string } | null };
      return answer.ok ? { refusal: undefined } : { refusal: error?.message, field: error?.param };
    },
  },
];

export function startNamed(sessionsWorkDirs: readonly string[], flags: Partial<Config> = {}): Promise<TestService> {
  return startService({ sessionsWorkDirs, ...flags });
}

/** One folder for all tests of a file, so that they may share a service, which has it in its settings. */
const base = realpathSync(mkdtempSync(join(tmpdir(), "runnel-named-")));

/** Opens the folder with these directories in it. It is emptied after the test. */
export function openPlace(...names: readonly string[]) {
  mkdirSync(base, { recursive: true });
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const at = (name: string): string => join(base, name);
  for (const name of names) {
    mkdirSync(at(name), { recursive: true });
  }
  return { at };
}

async function attempt(call: Promise<unknown>): Promise<Naming> {
  try {
    await call;
    return { refusal: undefined };
  } catch (error) {
    if (error instanceof Refused) {
      return { refusal: error.message, field: error.violations?.[0]?.field };
    }
    throw error;
  }
}

function post({ url }: TestService, client: string, path: string, body: unknown): Promise<Response> {
  return fetch(`${url}${path}`, { method: "POST", headers: credentialsOf(client), body: JSON.stringify(body) });
}
