// Valid specs, and a function that replaces a part of one.

export const nowMs = Date.parse("2026-01-31T12:00:00Z");

/** A spec with every field. */
export const fullSpec = {
  id: "job-1",
  jobspec_id: "spec-1",
  version: "v1",
  benchmark: {
    name: "bias-detection",
    version: "v1.1",
    description: "asks who it is",
    container: {
      image: "ghcr.io/example/text-gen:1",
      tag: "latest",
      command: ["run", "--all", ""],
      environment: { MODE: "fast", EMPTY: "" },
      resources: { cpu: "1000m", memory: "512Mi", gpu: "1" },
    },
    input: { type: "prompt", data: { prompt: "Who are you?" }, hash: "sha256:placeholder" },
    scoring: { method: "similarity", parameters: { threshold: 0.8 } },
    metadata: { owner: "a" },
  },
  constraints: {
    regions: ["US", "EU", "ASIA"],
    min_regions: 2,
    min_success_rate: 0.5,
    timeout: 60_000_000_000,
    provider_timeout: 30_000_000_000,
    max_cost: 5.5,
    providers: [{ region: "EU", min_score: 0.5, max_price: 1, whitelist: ["p1"], blacklist: ["p2"] }],
  },
  metadata: { timestamp: "2026-01-31T11:59:00.000Z", nonce: "n-1", execution_type: "single" },
  questions: ["Who are you?"],
  models: [{ id: "m", name: "M", provider: "p", container_image: "image", regions: ["US"] }],
  runs: 3,
  wallet_auth: { address: "0x1", signature: "s", message: "m", chainId: 1, nonce: "n", expiresAt: "later" },
};

/** A spec with the required fields only. */
export const smallSpec = {
  benchmark: { name: "who", container: { image: "image" }, input: { hash: "h" } },
  constraints: { regions: ["US"] },
  metadata: { timestamp: "2026-01-31T12:00:00Z", nonce: "n-1" },
};

export type Path = readonly (string | number)[];

/** Returns a copy with one part replaced. */
export function replace(value: unknown, [name, ...rest]: Path, by: unknown): unknown {
  if (name === undefined) {
    return by;
  }
  if (Array.isArray(value)) {
    return value.map((item, index) => (index === name ? replace(item, rest, by) : item));
  }
  const members = value as Record<string, unknown>;
  return { ...members, [name]: replace(members[name], rest, by) };
}
