// The benches, in the order in which they run.

import type { Bench } from "./bench.ts";
import { burstRuns, pacedRuns, shortRuns, streamRuns } from "./benches/agent-runs.ts";
import { appendPath } from "./benches/append-path.ts";
import { bashRoundTrip } from "./benches/bash-round-trip.ts";
import { consolePages } from "./benches/console-pages.ts";
import { createSessions } from "./benches/create-sessions.ts";
import { fanOut } from "./benches/fan-out.ts";
import { firstResult } from "./benches/first-result.ts";
import { logChain } from "./benches/log-chain.ts";
import { peer } from "./benches/peer.ts";
import { processes } from "./benches/processes.ts";
import { replayLog } from "./benches/replay-log.ts";
import { runQueue } from "./benches/run-queue.ts";
import { scale } from "./benches/scale.ts";
import { signedCalls } from "./benches/signed-calls.ts";
import { timeToReady } from "./benches/time-to-ready.ts";
import { toolCalls } from "./benches/tool-calls.ts";
import { trees } from "./benches/trees.ts";
import { unaryCalls } from "./benches/unary-calls.ts";
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
  streamRuns,
  fanOut,
  replayLog,
  appendPath,
  logChain,
  wakeUps,
  runQueue,
  scale,
  consolePages,
  bashRoundTrip,
  toolCalls,
  trees,
];
