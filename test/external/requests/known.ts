// Differences between our requests and those of the SDKs that are meant to be.

import type { SdkName } from "./sdks.ts";

/** A known difference, and why it stays. */
export interface Known {
  /** Matches `<model>: <case>: <difference>`. */
  readonly says: RegExp;
  readonly why: string;
}

/** The known differences of the format that an SDK judges. */
export interface KnownDifferences {
  /** From the types of the SDK. */
  readonly types: readonly Known[];
  /** From what the SDK sends when it is given our bodies. */
  readonly resendings: readonly Known[];
}

/** All known differences. The tests fail when one of them is no longer there. */
export const knownDifferences: Readonly<Record<SdkName, KnownDifferences>> = {
  chat: { types: [], resendings: [] },
  mistral: {
    types: [
      {
        says: /: after .*"(?:reasoning_content|reasoning_details|extra_content)"' does not exist/,
        why: "a server wants back what it sent",
      },
      { says: /"top_k"' does not exist/, why: "many compatible servers have it, OpenAI does not" },
    ],
    resendings: [
      { says: /: \.stream_options: .* the SDK: nothing$/, why: "other servers need it to count tokens" },
      { says: /\.(?:prefix: nothing, the SDK: false|index: nothing, the SDK: 0)$/, why: "defaults" },
      {
        says: /: \.(?:top_k|logit_bias|verbosity|(?:top_)?logprobs): .* the SDK: nothing$/,
        why: "Mistral does not have these settings",
      },
      { says: /: \.seed: .* the SDK: nothing$/, why: "Mistral calls it random_seed" },
      {
        says: /: after .*\.(?:reasoning_content|reasoning_details|extra_content): .* the SDK: nothing$/,
        why: "a server wants back what it sent, and Mistral sends none of them",
      },
      { says: /: (?:serviceTier|all settings).*: refuses: .*"standard_only"/s, why: "Mistral has other tiers" },
      { says: /\bfiles\b.*: refuses: .*"invalid_union"/s, why: "Mistral wants files as document_url" },
    ],
  },
  responses: {
    types: [
      {
        says: /: after .*missing the following properties from type 'ResponseOutputMessage': id, status/s,
        why: "the service refuses a message with an id that comes without the reasoning before it",
      },
    ],
    resendings: [],
  },
  anthropic: {
    types: [
      {
        says: /: after a search of the web .*"file_id"' does not exist in type '\w*Citation\w*'/,
        why: "citations of responses have it, and the SDK's users send the content of responses back as it is",
      },
      {
        says: /Messages1\): .*"(?:temperature|top_p|top_k)"' does not exist/,
        why: "version 2026-10-21 of the API has no sampling; we send version 2023-06-01, which has it for older models",
      },
    ],
    resendings: [{ says: /\bfiles\b.*: headers\.anthropic-beta: "pdfs-2024-09-25"/, why: "older servers need it" }],
  },
  google: {
    types: [],
    resendings: [
      {
        says: /an empty text: refuses: Error: contents are required/,
        why: "a conversation of one empty text has nothing to send, which the service refuses in its own words",
      },
    ],
  },
};
