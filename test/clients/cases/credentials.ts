// Cases of credentials: each attempt proves anew who calls. The service's own code checks the signatures.

import { randomUUID } from "node:crypto";
import { isSignedBy, readSignature } from "../../../src/platform/auth/signature.ts";
import type { Case, Findings, Seen, Trial } from "../case.ts";
import { usualLog } from "../service/log.ts";
import type { RecordedCall } from "../service/scripted-service.ts";
import { cut, fail, lost, resume, upTo } from "../service/steps.ts";
import type { SubjectCredentials, SubjectRequest } from "../subject.ts";

type CheckCalls = (calls: readonly RecordedCall[], findings: Findings) => void;

/** Follows a run over three attempts, and checks what each of them sent. */
function following(name: string, says: string, credentials: SubjectCredentials, check: CheckCalls): Case {
  const prepare = (): Trial => {
    const log = usualLog();
    return {
      request: { credentials, call: "follow", run_id: log.runId, after: 0 },
      script: { runs: { [log.runId]: [[upTo(log, 3), cut("end")], [upTo(log, 5), fail(resume)], [upTo(log)]] } },
      check: (seen, findings) => {
        findings.equal("state", seen.lines.find(({ end }) => end !== undefined)?.end?.state, "completed");
        expectCalls(3, seen, findings);
        check(seen.calls, findings);
      },
    };
  };
  return { group: "credentials", name, says, prepare };
}

/** Sends a message whose first answer is lost. */
function sending(name: string, says: string, credentials: SubjectCredentials, check: CheckCalls): Case {
  const prepare = (): Trial => {
    const runId = randomUUID();
    const request: Omit<SubjectRequest, "url"> = {
      credentials,
      call: "send",
      session_id: "conformance",
      message: "Grüße, 世界 ✓",
    };
    return {
      request,
      script: { sends: [lost((turn) => turn.cut("reset")), async () => runId] },
      check: (seen, findings) => {
        findings.equal("run", seen.lines.find(({ run }) => run !== undefined)?.run?.run_id, runId);
        expectCalls(2, seen, findings);
        check(seen.calls, findings);
      },
    };
  };
  return { group: "credentials", name, says, prepare };
}

function expectCalls(least: number, { calls }: Seen, findings: Findings): void {
  findings.that(calls.length >= least, `expected ${least} calls, came ${calls.length}`);
}

function expectHeader(name: string, value: string | undefined): CheckCalls {
  return (calls, findings) => {
    const came = [...new Set(calls.map(({ headers }) => headers[name]))];
    findings.equal(`the header ${name} of all calls`, came, [value]);
  };
}

const signer = { client_id: "billing", secret: "a secret of thirty-two characters" };

const expectSignatures: CheckCalls = (calls, findings) => {
  for (const [index, call] of calls.entries()) {
    const problem = problemOf(call);
    findings.that(problem === undefined, `call ${index + 1} (${call.method}): ${problem}`);
  }
  const nonces = calls.map(({ headers }) => headers["x-nonce"]);
  findings.equal("the number of different nonces", new Set(nonces).size, calls.length);
  expectHeader("authorization", undefined)(calls, findings);
};

/** Returns why a call is not signed as version 2; undefined when it is. */
function problemOf({ headers, path, contents, realTimeMs }: RecordedCall): string | undefined {
  try {
    const received = {
      signature: headers["x-signature"],
      timestamp: headers["x-timestamp"],
      nonce: headers["x-nonce"],
    };
    const signature = readSignature(received, realTimeMs);
    const clientId = headers["x-client-id"] ?? "";
    if (clientId !== signer.client_id) {
      return `expected the client id ${signer.client_id}, came ${clientId || "nothing"}`;
    }
    const signed = { httpMethod: "POST", target: path, clientId, contents };
    const isValid = isSignedBy([signer.secret], signature, signed, { acceptV1: false });
    return isValid ? undefined : "the signature is not that of version 2 over this call";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

export const credentialCases: readonly Case[] = [
  following("none-follow", "without credentials no attempt sends any", {}, (calls, findings) => {
    expectHeader("authorization", undefined)(calls, findings);
    expectHeader("x-signature", undefined)(calls, findings);
  }),
  following(
    "key-follow",
    "an API key goes out as a bearer token with each attempt",
    { api_key: "rk_0123456789abcdef" },
    expectHeader("authorization", "Bearer rk_0123456789abcdef"),
  ),
  sending(
    "key-send",
    "an API key goes out as a bearer token with each attempt of a message",
    { api_key: "rk_0123456789abcdef" },
    expectHeader("authorization", "Bearer rk_0123456789abcdef"),
  ),
  following(
    "ticket-follow",
    "a ticket goes out as a bearer token with each attempt",
    { ticket: "st_0123456789abcdef" },
    expectHeader("authorization", "Bearer st_0123456789abcdef"),
  ),
  following(
    "signature-follow",
    "each attempt has a valid signature of version 2 with a new nonce",
    signer,
    expectSignatures,
  ),
  sending("signature-send", "a repeated message is signed anew, with a new nonce", signer, expectSignatures),
];
