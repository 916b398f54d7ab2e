// State: small JSON values of the conversation, the actor, the subject or the runner, which outlive the run.

import type {
  DeleteStateRequest,
  GetStateRequest,
  ListStateRequest,
  SetStateRequest,
} from "#gen/runnel/host/v1/host_storage_service_pb.js";
import { findKeyProblem, findValueProblem, trimValue } from "../../../engine/memory/state-text.ts";
import {
  deleteStateValue,
  findStateValue,
  listStateKeys,
  type StateKey,
  setStateValue,
} from "../../../engine/storage/state-value.ts";
import { invalidField } from "../../../platform/base/fault.ts";
import { stateValueBytesMax } from "../runners/limits.ts";
import { isStateScope, stateKey, stateScopes } from "../runners/scope.ts";
import { type HostContext, type HostDeps, type HostRun, withHostRun, withHostWrite } from "./access.ts";
import { countOf, pageItemsMax } from "./page.ts";

/** Returns a value. `found` distinguishes a stored `null` from a missing value. */
export async function getState(
  deps: HostDeps,
  context: HostContext,
  { runId, scope, key }: GetStateRequest,
): Promise<{ found: boolean; value?: string }> {
  const call = { runId, action: "state_get", needs: { stateScope: scope }, resource: key, scope } as const;
  return await withHostRun(deps, context, call, async (run) => {
    const value = await findStateValue(deps.db, requireKey(run, scope, key));
    return value === undefined ? { found: false } : { found: true, value: value.value };
  });
}

/** Stores a value. Throws Fault INVALID_ARGUMENT for an invalid key or value, PAYLOAD_TOO_LARGE for a large one. */
export async function setState(deps: HostDeps, context: HostContext, request: SetStateRequest): Promise<void> {
  const { runId, scope, key } = request;
  const value = trimValue(request.value);
  const size = { field: "value", bytes: Buffer.byteLength(value), bytesMax: stateValueBytesMax };
  const call = { runId, action: "state_set", needs: { stateScope: scope }, resource: key, scope, size } as const;
  await withHostWrite(deps, context, call, async (run, trx) => {
    const whose = requireKey(run, scope, key);
    const problem = findValueProblem(value);
    if (problem !== undefined) {
      throw invalidField("value", problem);
    }
    await setStateValue(trx, { ...whose, client: run.scope.client, value });
  });
}

/** Deletes a value. `deleted` is false when it was missing. */
export async function deleteState(
  deps: HostDeps,
  context: HostContext,
  { runId, scope, key }: DeleteStateRequest,
): Promise<{ deleted: boolean }> {
  const call = { runId, action: "state_delete", needs: { stateScope: scope }, resource: key, scope } as const;
  return await withHostWrite(deps, context, call, async (run, trx) => ({
    deleted: await deleteStateValue(trx, requireKey(run, scope, key)),
  }));
}

/** Lists the keys that start with a prefix. */
export async function listState(
  deps: HostDeps,
  context: HostContext,
  { runId, scope, prefix, limit: asked }: ListStateRequest,
): Promise<{ keys: string[]; hasMore: boolean }> {
  const call = { runId, action: "state_list", needs: { stateScope: scope }, resource: prefix, scope } as const;
  return await withHostRun(deps, context, call, async (run) => {
    const owner = requireOwner(run, scope);
    const limit = countOf("limit", asked, { usual: pageItemsMax });
    const keys = await listStateKeys(deps.db, { owner, prefix, limit: limit + 1 });
    return { keys: keys.slice(0, limit), hasMore: keys.length > limit };
  });
}

function requireKey(run: HostRun, scope: string, key: string): StateKey {
  const owner = requireOwner(run, scope);
  const known = scope === "conversation" && key === conversationAlias ? conversationIdKey : key;
  const problem = findKeyProblem(known);
  if (problem !== undefined) {
    throw invalidField("key", problem);
  }
  return { owner, key: known };
}

/** The runners' name for the id by which another program knows the conversation, and the key of that id. */
const conversationAlias = "conversation_id";
const conversationIdKey = "external.conversation_id";

function requireOwner(run: HostRun, scope: string): Buffer {
  if (!isStateScope(scope)) {
    throw invalidField("scope", `use one of ${stateScopes.join(", ")}`);
  }
  const owner = stateKey(run.scope, scope);
  if (owner === undefined) {
    throw invalidField("scope", `event has no ${scope}`);
  }
  return owner;
}
