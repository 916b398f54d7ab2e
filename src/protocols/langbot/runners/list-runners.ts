// Lists the runners at an address where they are dialled. A failure is an error that says what to do, and changes nothing: the
// runners that were registered before stay as they are.

import { Code } from "@connectrpc/connect";
import { Fault, invalidField } from "../../../platform/base/fault.ts";
import type { Egress } from "../../../platform/egress/post.ts";
import { reasons } from "../reasons.ts";
import type { RunnerAddress } from "../storage/runner.ts";
import { type DialledRunner, dialRunner } from "./dialled-runner.ts";
import { type Era, isEra } from "./era.ts";
import { describeRunnerTrouble, type RunnerTrouble } from "./runner-trouble.ts";

/** The runners at an address. */
export interface ListedRunners {
  readonly manifests: readonly string[];
  readonly era: Era;
}

const listTimeoutMs = 10_000;
/** The maximum manifests: the same as in one registration of a worker. */
const manifestsMax = 100;

/**
 * Returns the runners at an address. Throws Fault INVALID_ARGUMENT for an address that may not be dialled, RUNNER_UNREACHABLE
 * when they cannot be listed.
 */
export async function listRunnersAt(
  egress: Egress,
  address: RunnerAddress,
  signal: AbortSignal,
): Promise<ListedRunners> {
  assertUrl(egress, address.url);
  const { manifests, era } = await ask(egress, address, signal);
  if (manifests.length > manifestsMax) {
    throw unreachable(`it lists ${manifests.length} runners`, `serve at most ${manifestsMax} at one address`);
  }
  if (era !== "" && !isEra(era)) {
    throw unreachable(`its era is ${JSON.stringify(era.slice(0, 64))}`, "use spec, ledger or 4.11");
  }
  return { manifests, era: era === "" ? "spec" : era };
}

function assertUrl(egress: Egress, text: string): void {
  const problem = egress.findProblem(text, "runner");
  if (problem !== undefined) {
    throw invalidField("url", problem);
  }
  if (text.includes("?")) {
    throw invalidField("url", "must have no query: the paths of the runner's methods are appended to it");
  }
}

async function ask(egress: Egress, address: RunnerAddress, signal: AbortSignal) {
  let runner: DialledRunner | undefined;
  try {
    runner = await dialRunner(egress, address, signal);
    return await runner.client.listAgentRunners({}, { signal, timeoutMs: listTimeoutMs });
  } catch (error) {
    signal.throwIfAborted();
    const trouble = describeRunnerTrouble(error);
    throw unreachable(trouble.words, fixOf(trouble));
  } finally {
    runner?.close();
  }
}

function unreachable(why: string, fix: string): Fault {
  return new Fault(reasons.RUNNER_UNREACHABLE, `the runners at url could not be listed: ${why}. To fix it: ${fix}`);
}

function fixOf({ kind, code }: RunnerTrouble): string {
  switch (kind) {
    case "blocked":
      return "name a host that this service may call (security.callback_allow), with a TLS certificate that it trusts";
    case "late":
      return `let ListAgentRunners answer within ${listTimeoutMs / 1_000} s`;
    case "refused":
      return code === Code.Unauthenticated || code === Code.PermissionDenied
        ? "register with the credential that the runner expects"
        : "serve runnel.runner.v1.AgentRunnerService at this URL";
    case "lost":
      return "check that the runner listens there and speaks gRPC over HTTP/2, then register again";
    default:
      return kind satisfies never;
  }
}
