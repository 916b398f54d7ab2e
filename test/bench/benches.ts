// The benches, in the order in which they run. The last one leaves its many sessions in the database that all benches share.

import type { Bench } from "./bench.ts";
import { burstRuns, pacedRuns, shortRuns } from "./benches/agent-runs.ts";
import { appendPath } from "./benches/append-path.ts";
import { bashRoundTrip } from "./benches/bash-round-trip.ts";
import { createSessions } from "./benches/create-sessions.ts";
import { exchangeParse } from "./benches/exchange-parse.ts";
import { fanOut } from "./benches/fan-out.ts";
import { fileTools } from "./benches/file-tools.ts";
import { firstResult } from "./benches/first-result.ts";
import { forum } from "./benches/forum.ts";
import { logChain } from "./benches/log-chain.ts";
import { longSession } from "./benches/long-session.ts";
import { pacedTools } from "./benches/paced-tools.ts";
import { peer } from "./benches/peer.ts";
import { processes } from "./benches/processes.ts";
import { providerStreams } from "./benches/provider-streams.ts";
import { replayLog } from "./benches/replay-log.ts";
import { retainedSessions } from "./benches/retained-sessions.ts";
import { runQueue } from "./benches/run-queue.ts";
import { runners } from "./benches/runners.ts";
import { signedCalls } from "./benches/signed-calls.ts";
import { signedSpecs } from "./benches/signed-specs.ts";
import { surfaces } from "./benches/surfaces.ts";
import { timeToReady } from "./benches/time-to-ready.ts";
import { unaryCalls } from "./benches/unary-calls.ts";
import { waitingExchanges } from "./benches/waiting-exchanges.ts";
import { wakeUps } from "./benches/wake-ups.ts";

export const benches: readonly Bench[] = [
  timeToReady,
  unaryCalls,
  signedCalls,
  createSessions,
  firstResult,
  peer,
  processes,
  burstRuns,
  shortRuns,
  pacedRuns,
  pacedTools,
  surfaces,
  fanOut,
  replayLog,
  appendPath,
  logChain,
  wakeUps,
  runQueue,
  providerStreams,
  fileTools,
  bashRoundTrip,
  signedSpecs,
  exchangeParse,
  runners,
  forum,
  longSession,
  waitingExchanges,
  retainedSessions,
];
