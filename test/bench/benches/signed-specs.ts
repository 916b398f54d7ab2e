// Signed JobSpecs, in this process: from received bytes to a verdict, beside only the check of the same signature by
// node:crypto; and from received bytes to the canonical text, beside JSON.parse and JSON.stringify of them.

import { type KeyObject, verify } from "node:crypto";
import { importPublicKey } from "../../../src/platform/base/public-key.ts";
import { canonicalText } from "../../../src/protocols/jobspec/verification/canonical-v1.ts";
import { readDocument } from "../../../src/protocols/jobspec/verification/json.ts";
import { newKeyPair } from "../../../src/protocols/jobspec/verification/key-file.ts";
import { signSpec } from "../../../src/protocols/jobspec/verification/sign.ts";
import { isSignatureRight, readSignedSpec } from "../../../src/protocols/jobspec/verification/signature.ts";
import * as independent from "../../external/signers/canonical.ts";
import type { Bench, Variant } from "../bench.ts";
import { takeTurns } from "../harness/turns.ts";

/** A spec of the usual size of portals, and the same spec with so many questions that it is large. */
const sizes: Readonly<Record<string, number>> = { "2 KB": 2_048, "100 KB": 102_400 };
/** The bytes that each side processes in a turn. */
const bytesOfTurn = 8_000_000;
const checksOfTurn = 1_000;

interface SignedBody {
  readonly name: string;
  readonly body: Buffer;
  readonly canonical: Buffer;
  readonly key: KeyObject;
  readonly signature: Uint8Array;
}

export const signedSpecs: Bench = {
  name: "specs",
  title: "JobSpecs of 2 KB and 100 KB: signature check and canonical text",
  notMeasured:
    "a job's HTTP, trust, nonce and database; the first spec of a key, whose import costs about as much as a check; specs with many escapes or with scripts other than Latin.",
  roundsMax: 5,
  async *measure() {
    const bodies = Object.entries(sizes).map(([name, bytes]) => makeBody(name, bytes));
    for (let isWarm = false; ; isWarm = true) {
      const variants: Variant[] = [];
      for (const body of bodies) {
        variants.push(await compareChecks(body), await compareTexts(body));
      }
      if (isWarm) {
        yield variants;
      }
    }
  },
};

async function compareChecks({ name, body, canonical, key, signature }: SignedBody): Promise<Variant> {
  const faults = new Set<string>();
  const check = (): void => {
    if (!isSignatureRight(readSignedSpec(readDocument(body)))) {
      faults.add("a signature that is right was not taken");
    }
  };
  const read = readSignedSpec(readDocument(body));
  const [whole, alone, raw] = await takeTurns(checksOfTurn, [
    check,
    () => void isSignatureRight(read),
    () => void verify(null, canonical, key, signature),
  ]);
  return {
    name: `check, ${name}`,
    metrics: {
      "checks/s": 1 / whole,
      "node:crypto, checks/s": 1 / raw,
      "checks/s, ratio to node:crypto": raw / whole,
      "checks/s of a spec that was read, ratio to node:crypto": raw / alone,
    },
    faults: [...faults],
  };
}

async function compareTexts({ name, body, canonical }: SignedBody): Promise<Variant> {
  const faults = new Set<string>();
  const [ours, theirs] = await takeTurns(Math.ceil(bytesOfTurn / body.length), [
    () => {
      if (canonicalText(readDocument(body).object).length !== canonical.length) {
        faults.add("the canonical text is another one");
      }
    },
    () => void JSON.stringify(JSON.parse(body.toString())),
  ]);
  const megabytes = body.length / 1_000_000;
  return {
    name: `canonical text, ${name}`,
    metrics: {
      "MB/s": megabytes / ours,
      "JSON, MB/s": megabytes / theirs,
      "MB/s, ratio to JSON": theirs / ours,
    },
    faults: [...faults],
  };
}

function makeBody(name: string, bytes: number): SignedBody {
  const pair = newKeyPair();
  const { text, canonical, publicKey, signature } = signSpec(readDocument(Buffer.from(makeSpec(bytes))), pair, {});
  if (canonical !== independent.canonicalText(independent.parse(text))) {
    throw new Error(`the canonical text of the spec of ${name} differs from the contract`);
  }
  return {
    name,
    body: Buffer.from(text),
    canonical: Buffer.from(canonical),
    key: importPublicKey(publicKey),
    signature,
  };
}

/** The bytes that signing adds. */
const signatureBytes = 170;

function makeSpec(bytes: number): string {
  const questions: string[] = [];
  const print = (): string => JSON.stringify({ ...spec, questions });
  while (print().length + signatureBytes < bytes) {
    questions.push(
      `Question ${questions.length}: who wrote "A History of the River", and when? Answer in one sentence.`,
    );
  }
  return print();
}

const spec = {
  version: "v1",
  jobspec_id: "bias-detection-1",
  benchmark: {
    name: "who-are-you",
    version: "1.2.0",
    description: "Asks models who they are",
    container: {
      image: "registry.example/beacon/text-gen",
      tag: "latest",
      command: ["python", "-m", "run"],
      environment: { LOG: "info" },
      resources: { cpu: "1000m", memory: "512Mi" },
    },
    input: { type: "prompt", data: { prompt: "Who are you?" }, hash: "sha256:placeholder" },
    scoring: { method: "similarity", parameters: { threshold: 0.85 } },
    metadata: {},
  },
  constraints: {
    regions: ["US", "EU", "ASIA"],
    min_regions: 1,
    min_success_rate: 0.67,
    timeout: 600_000_000_000,
    provider_timeout: 300_000_000_000,
  },
  metadata: {
    created_by: "portal",
    timestamp: "2025-10-10T12:00:00.000Z",
    nonce: "Q2xhc3NpY05vbmNlMTIzNA",
    execution_type: "cross-region",
    estimated_cost: 0.0123,
  },
  models: [
    {
      id: "llama-1b",
      name: "Llama 1B",
      provider: "modal",
      container_image: "registry.example/llama:1",
      regions: ["US"],
    },
    {
      id: "qwen-1.5b",
      name: "Qwen 1.5B",
      provider: "modal",
      container_image: "registry.example/qwen:1",
      regions: ["EU"],
    },
  ],
  runs: 1,
  created_at: "2025-10-10T12:00:00Z",
};
