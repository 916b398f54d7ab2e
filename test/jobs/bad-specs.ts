// Faults of a submitted JobSpec, one per row, and the documented error for each ("Portal ↔ Runner Signing Contract").

import { addMembers, makeSigner, type Signer } from "../jobspec/signer.ts";
import { specOf, stamp, trustEntry } from "./stage.ts";

export interface BadSpec {
  readonly name: string;
  readonly body: string | Uint8Array;
  readonly code: string;
  readonly text: string;
  /** The fault precedes the spec: `error` holds the code, and `message` holds the text. */
  readonly isOfBody?: boolean;
  readonly details?: Readonly<Record<string, string>>;
}

/** Signers by the service's verdict on their keys, with the trust list; `unknown` is not in the list. */
export interface Keys {
  readonly trusted: Signer;
  readonly revoked: Signer;
  readonly expired: Signer;
  readonly notYetValid: Signer;
  readonly unknown: Signer;
  readonly json: string;
}

export function makeKeys(): Keys {
  const [trusted, revoked, expired, notYetValid, unknown] = [
    makeSigner(),
    makeSigner(),
    makeSigner(),
    makeSigner(),
    makeSigner(),
  ];
  const json = JSON.stringify([
    trustEntry(trusted),
    trustEntry(revoked, { kid: "revoked", status: "revoked" }),
    trustEntry(expired, { kid: "expired", not_after: "2020-01-01T00:00:00Z" }),
    trustEntry(notYetValid, { kid: "future", not_before: "2999-01-01T00:00:00Z" }),
  ]);
  return { trusted, revoked, expired, notYetValid, unknown, json };
}

export const bodyBytesMax = 1_048_576;

/** Each call gives specs with fresh nonces. */
export function badSpecs(keys: Keys): BadSpec[] {
  return [
    ...badBodies(),
    ...badJson(),
    ...badWrappers(keys),
    ...badShapes(keys),
    ...badTrust(keys),
    ...badStamps(keys),
    ...badFields(keys),
    ...badVersion2(keys),
  ];
}

function ofBody(name: string, body: string | Uint8Array, code: string, text: string): BadSpec {
  return { name, body, code, text, isOfBody: true };
}

function badBodies(): BadSpec[] {
  const full = `{"x":"${"y".repeat(bodyBytesMax - 8)}"}`;
  return [
    ofBody("nothing", "", "invalid_body", "the body is empty: send a signed JobSpec as JSON"),
    ofBody("a byte too much", `${full} `, "invalid_body", "the body has 1048577 bytes: maximum 1048576"),
    { name: "as much as may be", body: full, code: "missing_field:signature", text: "signature is required" },
  ];
}

function badJson(): BadSpec[] {
  const invalid = (name: string, body: string | Uint8Array, text: string) => ofBody(name, body, "invalid_json", text);
  const nest = (depth: number): string => `{"a":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}`;
  return [
    invalid("no UTF-8", Buffer.from('{"a":"\xff"}', "latin1"), "body is not UTF-8"),
    invalid("a byte order mark", "\ufeff{}", "unexpected byte order mark instead of a value, at line 1, column 1"),
    invalid("half an object", '{"a":', "unexpected EOF"),
    invalid("an array", "[]", "a JSON object is expected, at line 1, column 1"),
    invalid("something after it", "{} {}", 'unexpected character "{" after the value, at line 1, column 4'),
    invalid("a number beyond a float64", '{"a":1e400}', "the number is too large for a float64, at line 1, column 6"),
    invalid("513 levels", nest(513), "nested deeper than 512 levels"),
    { name: "512 levels", body: nest(512), code: "missing_field:signature", text: "signature is required" },
  ];
}

function badWrappers({ trusted }: Keys): BadSpec[] {
  const invalid = (name: string, body: string, text: string) => ofBody(name, body, "validation_error", text);
  const wrap = (wishes: object): string =>
    JSON.stringify(wishes).replace(/\}$/, () => `,"jobspec":${trusted.signV1(specOf())}}`);
  return [
    invalid("a wrapper around text", '{"jobspec":"{}"}', "jobspec must be an object: the signed JobSpec"),
    invalid(
      "a wrapper that wants half a region",
      wrap({ min_regions: 0.5 }),
      "min_regions must be an integer of at least 1, not 0.5",
    ),
    invalid(
      "a wrapper with regions as text",
      wrap({ target_regions: "US" }),
      "target_regions must be a list, not text",
    ),
    invalid(
      "a wrapper with an analysis of 1",
      wrap({ enable_analysis: 1 }),
      "enable_analysis must be true or false, not 1",
    ),
    {
      name: "a wrapper that wants what nobody signed",
      body: wrap({ target_regions: ["APAC"] }),
      code: "validation_error",
      text: "target_regions[0] must be among the signed constraints.regions: US, EU",
    },
  ];
}

function badShapes({ trusted }: Keys): BadSpec[] {
  const signed = trusted.signV1(specOf());
  const replace = (member: string, value: string): string =>
    signed.replace(new RegExp(`"${member}":"[^"]*"`), `"${member}":${value}`);
  const spec = (name: string, body: string, code: string, text: string): BadSpec => ({ name, body, code, text });
  const noSignature = ["missing_field:signature", "signature is required"] as const;
  const noKey = ["missing_field:public_key", "public key is required"] as const;
  const unreadable = "illegal base64 data at input byte";
  return [
    spec("an object", "{}", ...noSignature),
    spec("no signature", replace("signature", "null"), ...noSignature),
    spec("an empty signature", replace("signature", '""'), ...noSignature),
    spec("no key", replace("public_key", "null"), ...noKey),
    spec("an empty key", replace("public_key", '""'), ...noKey),
    spec(
      "a signature that is not base64",
      replace("signature", '"AA-A"'),
      "invalid_encoding:signature",
      `failed to decode signature: ${unreadable} 2`,
    ),
    spec(
      "a key that is not base64",
      replace("public_key", '"A===" '),
      "invalid_encoding:public_key",
      `invalid public key: failed to decode public key: ${unreadable} 1`,
    ),
    spec(
      "a key of three bytes",
      replace("public_key", '"AAAA"'),
      "invalid_encoding:public_key",
      "invalid public key: invalid public key size: expected 32, got 3",
    ),
    spec(
      "a key with which anything is signed",
      replace("public_key", JSON.stringify(Buffer.from([1, ...Array(31).fill(0)]).toString("base64"))),
      "weak_public_key",
      "weak public key: with it one signature fits any text; make a new key pair",
    ),
  ];
}

function badTrust({ trusted, revoked, expired, notYetValid, unknown }: Keys): BadSpec[] {
  const untrusted = (name: string, signer: Signer, status: string, reason: string): BadSpec => ({
    name,
    // The trust check precedes the signature check.
    body: signer.signV1(specOf()).replace("bias-42", "bias-43"),
    code: `trust_violation:${status}`,
    text: `untrusted signing key: ${reason}`,
  });
  const mismatch = { code: "signature_mismatch", text: "signature verification failed" };
  const signed = trusted.signV1(specOf());
  return [
    untrusted("a key that nobody knows", unknown, "unknown", "no match in allowlist"),
    untrusted("a revoked key", revoked, "revoked", "explicitly revoked"),
    untrusted("a key that was good once", expired, "expired", "after not_after"),
    untrusted("a key that will be good", notYetValid, "not_yet_valid", "before not_before"),
    { name: "another text than was signed", body: signed.replace("bias-42", "bias-43"), ...mismatch },
    {
      name: "a signature of three bytes",
      body: signed.replace(/"signature":"[^"]*"/, '"signature":"AAAA"'),
      ...mismatch,
    },
  ];
}

function badStamps({ trusted }: Keys): BadSpec[] {
  const minuteMs = 60_000;
  const with_ = (metadata: unknown): string => trusted.signV1(specOf({ metadata, questions: [] }));
  const spec = (name: string, metadata: unknown, code: string, text: string): BadSpec => ({
    name,
    body: with_(metadata),
    code,
    text,
  });
  const late = (name: string, metadata: unknown, reason: string, text: string): BadSpec => ({
    ...spec(name, metadata, "timestamp_invalid", `metadata.timestamp ${text}`),
    details: { reason },
  });
  const { timestamp, nonce } = stamp();
  const nonceForm = "metadata.nonce must be text of 1 to 128 characters, without U+0000";
  return [
    spec(
      "no metadata",
      undefined,
      "missing_field:metadata",
      "metadata is required: an object with timestamp and nonce",
    ),
    spec("metadata as text", "x", "validation_error", "metadata must be an object with timestamp and nonce"),
    spec("no timestamp", { nonce }, "missing_field:timestamp", "metadata.timestamp is required: the time of signing"),
    spec("no nonce", { timestamp }, "missing_field:nonce", "metadata.nonce is required: text that is used once"),
    spec(
      "a timestamp as a number",
      { timestamp: 1_760_000_000, nonce },
      "invalid_field:timestamp",
      "metadata.timestamp must be text such as 2026-01-31T12:00:00Z",
    ),
    spec("a nonce as a number", { timestamp, nonce: 7 }, "invalid_field:nonce", nonceForm),
    spec("a nonce of 129 characters", { timestamp, nonce: "n".repeat(129) }, "invalid_field:nonce", nonceForm),
    late(
      "a timestamp without a zone",
      { timestamp: "2026-01-31T12:00:00", nonce },
      "format_invalid",
      "must be a time with a zone, such as 2026-01-31T12:00:00.000Z",
    ),
    late("an old spec", stamp(11 * minuteMs), "too_old", "is more than 10 minutes ago: sign the spec again"),
    late(
      "a spec from the future",
      stamp(-6 * minuteMs),
      "too_far_in_future",
      "is more than 5 minutes ahead: set the signer's clock",
    ),
  ];
}

function badFields({ trusted }: Keys): BadSpec[] {
  const { benchmark } = specOf() as { benchmark: { container: object; input: object } };
  const spec = (name: string, changes: Record<string, unknown>, text: string): BadSpec => ({
    name,
    body: trusted.signV1(specOf(changes)),
    code: "validation_error",
    text,
  });
  const { container, input } = benchmark;
  return [
    spec("no name", { benchmark: { ...benchmark, name: "" } }, "benchmark name is required"),
    spec("no image", { benchmark: { ...benchmark, container: { tag: "1" } } }, "container image is required"),
    spec("no region", { constraints: { regions: [] } }, "at least one region constraint is required"),
    spec(
      "no hash",
      { benchmark: { ...benchmark, input: { ...input, hash: "" } } },
      "input hash is required for integrity verification",
    ),
    spec("no question", { questions: [] }, "questions are required for bias-detection v1 jobspec"),
    spec(
      "a region on the moon",
      { constraints: { regions: ["US", "MOON"] } },
      'constraints.regions[1] must be one of US, EU, APAC, CA, SA, AF, ME, ASIA, not "MOON"',
    ),
    spec(
      "a tag with a slash",
      { benchmark: { ...benchmark, container: { ...container, tag: "a/b" } } },
      'benchmark.container.tag must be made of letters, digits, "_", "." and "-"',
    ),
    spec("an own name with a space", { id: "my job" }, 'id must be made of letters, digits, "_" and "-"'),
    spec(
      "a second for everything",
      { constraints: { regions: ["US"], timeout: 1e9 } },
      "constraints.timeout (in nanoseconds, 30 s to 60 min) must be an integer from 30000000000 to 3600000000000, not 1000000000",
    ),
    spec("questions as text", { questions: "Why?" }, "questions must be a list, not text"),
    spec(
      "more successes than regions",
      { constraints: { regions: ["US"], min_regions: 2 } },
      "the job must succeed in 2 regions but runs only in US: name more, or sign a lower minimum",
    ),
  ];
}

function badVersion2({ trusted }: Keys): BadSpec[] {
  const soon = Math.floor(Date.now() / 1_000) + 600;
  const claims = { exp: soon, aud: "runnel" };
  const spec = (name: string, changes: object, code: string, text: string): BadSpec => ({
    name,
    body: trusted.signV2({ ...specOf(), ...claims, ...changes }),
    code,
    text,
  });
  const good = trusted.signV2({ ...specOf(), ...claims });
  return [
    spec("no exp", { exp: undefined }, "missing_field:exp", "exp is required in version 2"),
    spec("no aud", { aud: undefined }, "missing_field:aud", "aud is required in version 2"),
    spec("no kid", { kid: undefined }, "missing_field:kid", "kid is required in version 2"),
    spec("no alg", { alg: undefined }, "missing_field:alg", "alg is required in version 2"),
    spec("another alg", { alg: "RS256" }, "invalid_field:alg", 'alg must be "Ed25519"'),
    spec("exp as text", { exp: "soon" }, "invalid_field:exp", "exp must be an integer: seconds since 1970"),
    spec("aud as a number", { aud: 7 }, "invalid_field:aud", "aud must be text, or a list of 1 to 16 texts"),
    spec("an exp that is over", { exp: 1 }, "expired", "the spec has expired (exp): sign it again with a later exp"),
    spec("another audience", { aud: ["other"] }, "wrong_audience", 'aud must name this service: "runnel"'),
    spec(
      "a third version",
      { sig_v: 3 },
      "invalid_field:sig_v",
      "sig_v must be 1 or 2: sign the spec by one of these versions",
    ),
    {
      name: "a name that occurs twice",
      body: addMembers(good, { version: "v1" }),
      code: "invalid_json",
      text: "/version has a name that occurs twice, which version 2 does not accept",
    },
    {
      name: "an integer that others read otherwise",
      body: addMembers(good, { n: 0 }).replace('"n":0', '"n":9007199254740993'),
      code: "invalid_json",
      text: "/n is an integer that other programs read as another number, which version 2 does not accept",
    },
    {
      name: "version 2 passed off as version 1",
      body: good.replace('"sig_v":2', '"sig_v":1'),
      code: "signature_mismatch",
      text: "signature verification failed",
    },
  ];
}
