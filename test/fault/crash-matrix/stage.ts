// The stage of a cell: a database, a model provider, a work folder, and no process yet.

import { onTestFinished } from "vitest";
import type { FakeProvider } from "../../fakes/provider.ts";
import { fail, type WireServer } from "../../fakes/wire-server.ts";
import { openFolder, openProvider, openWireServer } from "../../fixtures.ts";
import { testDatabase } from "../../harness/database.ts";
import { Crew } from "./crew.ts";
import { type Cell, scenarios } from "./scenarios.ts";

export interface Stage {
  readonly databaseUrl: string;
  readonly provider: FakeProvider;
  readonly providerKey: string;
  readonly crew: Crew;
  /** The host of the session's callbacks, if it has one. */
  readonly host: WireServer | undefined;
}

/** Above the longest pause during which a run stays in memory. */
const pauseSeconds = 6;

const firstAnswers = {
  wait: fail(429, '{"error":{"message":"slow down"}}', { "retry-after": String(pauseSeconds) }),
  refusal: fail(400, '{"error":{"message":"not like that"}}'),
};

export async function openStage({ failpoint, wrongClock }: Cell): Promise<Stage> {
  const databaseUrl = await testDatabase();
  const provider = await openProvider();
  const { firstAnswer, isTold } = scenarios[failpoint];
  if (firstAnswer !== undefined) {
    provider.respond(firstAnswers[firstAnswer]);
  }
  const workRoot = await openFolder();
  const host = isTold ? await openHost() : undefined;
  const providerKey = "a-key-that-no-log-line-holds";
  const environment = {
    RUNNEL_DATABASE_URL: databaseUrl,
    RUNNEL_SESSIONS_WORK_ROOT: workRoot,
    RUNNEL_DEFAULTS_MODEL: "openai:fake",
    RUNNEL_PROVIDERS_OPENAI_KEY: providerKey,
    RUNNEL_PROVIDERS_OPENAI_BASE_URL: provider.baseUrl,
    ...(host && { RUNNEL_CALLBACK_BASE_URL: host.origin, RUNNEL_SECURITY_ALLOW_PRIVATE_NETWORKS: "true" }),
  };
  const crew = new Crew(environment, wrongClock);
  onTestFinished(() => crew.close());
  return { databaseUrl, provider, providerKey, crew, host };
}

async function openHost(): Promise<WireServer> {
  const host = await openWireServer(() => (wire) => wire.reply(200, ""));
  return host;
}

/** The message that scripts the fake provider: two turns with two calls each, then words at a pace. */
export function messageOf({ failpoint }: Cell): string {
  const { words, gapMs } = scenarios[failpoint];
  return `tools=2 par=2 n=${words} gap=${gapMs}`;
}
