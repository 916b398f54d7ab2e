// The handlers of TrustService: trusted keys, the diagnosis of signatures, and the rotation of the key that signs receipts.

import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { type TrustedKey, TrustedKeySchema } from "#gen/runnel/job/v1/trust_pb.js";
import type { TrustService } from "#gen/runnel/job/v1/trust_service_pb.js";
import { nextPageToken, pageSize } from "../../../api/page.ts";
import { jwkToProto } from "../../../api/receipt-service.ts";
import { readUpdate } from "../../../api/update-mask.ts";
import { rotateReceiptKey } from "../../../engine/receipts/receipt-keys.ts";
import { networkOfCall } from "../../../platform/auth/caller.ts";
import { RateLimit } from "../../../platform/auth/rate-limit.ts";
import { Fault, invalidField } from "../../../platform/base/fault.ts";
import { recordKeyChange } from "../jobs/audit.ts";
import { addKey, changeKey, readNewKey, revokeKey } from "../jobs/trusted-keys.ts";
import { listTrustEvents } from "../storage/trust-event.ts";
import { listTrustedKeys } from "../storage/trusted-key.ts";
import type { JobDeps } from "./deps.ts";
import { configuredKeyToProto, eventToProto, keyToProto, termsOf } from "./trust-to-proto.ts";
import { verifyJobSpec } from "./verify-job-spec.ts";

/** Creates the handlers of TrustService. */
export function createTrustService(deps: JobDeps): ServiceImpl<typeof TrustService> {
  const { db, cursors, trust } = deps;
  const limit = openVerifyLimit(deps);
  return {
    verifyJobSpec: (request, { values }) => {
      // There is only one admin credential, so the network of the call is what distinguishes callers.
      limit.take(networkOfCall(values));
      return verifyJobSpec(deps, request);
    },
    createTrustedKey: async ({ key }) => {
      const wanted = requireKey(key);
      const publicKey = readNewKey(wanted.publicKey);
      assertRegions(deps, wanted);
      return { key: keyToProto(await addKey(deps, { kid: wanted.kid, publicKey, terms: termsOf(wanted) })) };
    },
    listTrustedKeys: async ({ pageSize: requested, pageToken }) => {
      const scope = ["trusted keys"];
      const rowsMax = pageSize(requested);
      const after = cursors.decode(scope, pageToken);
      const rows = await listTrustedKeys(db, { after, limit: rowsMax });
      const configured = after === undefined ? trust.configured.toSorted(byName).map(configuredKeyToProto) : [];
      return {
        keys: [...configured, ...rows.map(keyToProto)],
        nextPageToken: nextPageToken(rows, rowsMax, ({ kid }) => cursors.encode(scope, kid)),
      };
    },
    updateTrustedKey: async ({ key, updateMask }) => {
      const wanted = requireKey(key);
      const change = readUpdate(TrustedKeySchema, wanted, updateMask, changeable);
      assertRegions(deps, change);
      return { key: keyToProto(await changeKey(deps, wanted.kid, termsOf(change))) };
    },
    revokeTrustedKey: async ({ kid }) => ({ key: keyToProto(await revokeKey(deps, kid)) }),
    listTrustEvents: async ({ type, pageSize: requested, pageToken }) => {
      const scope = ["trust events", type];
      const rowsMax = pageSize(requested);
      const before = cursors.decode(scope, pageToken);
      const rows = await listTrustEvents(db, { type: type === "" ? undefined : type, before, limit: rowsMax });
      return {
        events: rows.map(eventToProto),
        nextPageToken: nextPageToken(rows, rowsMax, ({ id }) => cursors.encode(scope, id)),
      };
    },
    rotateReceiptKey: async () => {
      const made = await rotateReceiptKey(deps.db, (trx, { kid, public_key }) =>
        recordKeyChange(trx, deps.clock, { type: "receipt_key.rotated", kid, publicKey: public_key }),
      );
      return { key: jwkToProto(made), createTime: timestampFromDate(made.create_time) };
    },
  };
}

const changeable = ["notBefore", "notAfter", "clientIds", "regions", "runners"] as const;

function openVerifyLimit({ clock, config }: JobDeps): RateLimit {
  const intervalSec = config.trustVerifyIntervalSec;
  return new RateLimit({
    clock,
    requestsPerSecond: intervalSec === 0 ? 0 : 1 / intervalSec,
    burst: 1,
    message: "Admin operations are rate limited",
  });
}

/** The contract's validation ensures that the key is set. */
function requireKey(key: TrustedKey | undefined): TrustedKey {
  if (key === undefined) {
    throw new Fault("INTERNAL", "the request has no key after its validation");
  }
  return key;
}

/** Refuses a scope with a region that no JobSpec may name: the key could sign nothing there. */
function assertRegions({ config }: JobDeps, { regions = [] }: Partial<TrustedKey>): void {
  const unknown = regions.find((region) => !config.jobsRegions.includes(region));
  if (unknown !== undefined) {
    throw invalidField(
      "key.regions",
      `${JSON.stringify(unknown)} is not a known region: use ${config.jobsRegions.join(", ")}`,
    );
  }
}

/** Compares names by their bytes, as the database does. */
function byName(one: { readonly kid: string }, other: { readonly kid: string }): number {
  return Buffer.compare(Buffer.from(one.kid), Buffer.from(other.kid));
}
