// ReceiptService: signed statements about the logs of ended runs, and the public keys that verify them.

import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { type Jwk, JwkSchema } from "#gen/runnel/v1/receipt_pb.js";
import type { ReceiptService } from "#gen/runnel/v1/receipt_service_pb.js";
import { makeReceipt } from "../engine/receipts/receipt.ts";
import { listPublishedKeys } from "../engine/receipts/receipt-keys.ts";
import type { PublicReceiptKeyRow } from "../engine/storage/receipt-key.ts";
import { requireClient } from "../platform/auth/caller.ts";
import type { ServiceDeps } from "./deps.ts";
import { requireRunWithOutput } from "./run-service.ts";

/** Returns the handlers of ReceiptService. */
export function createReceiptService(deps: ServiceDeps): ServiceImpl<typeof ReceiptService> {
  return {
    getReceipt: async ({ runId }, { values }) => {
      const run = await requireRunWithOutput(deps.db, requireClient(values), runId);
      const details = await deps.findDriver(run.driver)?.describeForReceipt?.(deps.db, run.id);
      return await makeReceipt({ ...deps, issuer: deps.config.trustAudience }, run, details);
    },
    getJwks: async () => ({ keys: (await listPublishedKeys(deps.db)).map(jwkToProto) }),
  };
}

/** Converts a public receipt key to a JWK: `OKP`, `Ed25519`, with the key in base64url as `x`. */
export function jwkToProto({ kid, public_key }: PublicReceiptKeyRow): Jwk {
  const x = Buffer.from(public_key).toString("base64url");
  return create(JwkSchema, { kty: "OKP", crv: "Ed25519", x, kid, use: "sig", alg: "EdDSA" });
}
