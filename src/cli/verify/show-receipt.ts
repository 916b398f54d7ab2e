// Prints a verified receipt for people: valid parts, invalid parts, and mere claims.

import type { Paint } from "../output.ts";
import { shorten } from "../shorten.ts";
import type { FoundLog, FoundStatement, ReceiptFinding } from "./receipt-finding.ts";
import { showRow } from "./verdict.ts";

/** Prints the findings about a receipt. */
export function showReceipt(
  { error, kid, publicKey, key, statement, copy, log }: ReceiptFinding,
  paint: Paint,
): string {
  return [
    error === undefined ? good("the receipt's signature is right", paint) : bad(error, paint),
    ...(kid === undefined ? [] : [showRow("signed by", `kid ${kid}, key ${publicKey}`, paint)]),
    ...(statement === undefined ? [] : showStatement(statement, paint)),
    ...showKey(key, paint),
    ...(copy === "different"
      ? [warning("the statement beside the signed one differs: this output shows the signed one", paint)]
      : []),
    ...(log === undefined ? [] : showLog(log, paint)),
  ].join("\n");
}

/** Prints the statement. Signed text may still hold characters that act on a terminal, so `shorten` removes them. */
function showStatement(statement: FoundStatement, paint: Paint): string[] {
  const { iss, run_id, job_id, region, job_spec_sha256, entries, first_hash, last_hash, counts, status, code } =
    statement;
  const { started_at, ended_at, issued_at } = statement;
  const row = (title: string, text: string): string => showRow(title, shorten(text), paint);
  const types = Object.entries(counts).map(([type, count]) => `${count} ${type}`);
  return [
    ...(iss === undefined ? [] : [row("issuer", iss)]),
    row("run", run_id),
    ...(job_id === undefined ? [] : [row("job", region === undefined ? job_id : `${job_id} in region ${region}`)]),
    ...(job_spec_sha256 === undefined ? [] : [row("job spec", `sha256 ${job_spec_sha256}`)]),
    row("status", code === undefined || code === "" ? status : `${status} (${code})`),
    row("time", `${started_at} to ${ended_at}, receipt of ${issued_at}`),
    row("entries", String(entries)),
    ...types.map((text) => row("", text)),
    row("first hash", first_hash),
    row("last hash", last_hash),
  ];
}

function showKey(key: ReceiptFinding["key"], paint: Paint): string[] {
  switch (key) {
    case undefined:
      return [];
    case "published":
      return [good("the key is one that the service publishes", paint)];
    case "not_published":
      return [bad("the key is not in the given key set: another party may have signed", paint)];
    case "claimed":
      return [
        warning(
          "whose key it is only the receipt itself says; to know, fetch the service's keys and add --jwks:",
          paint,
        ),
        "  curl <url of the service>/.well-known/jwks.json > jwks.json",
      ];
    default:
      return key satisfies never;
  }
}

function showLog({ file, bad: entry, misquoted }: FoundLog, paint: Paint): string[] {
  if (entry !== undefined) {
    const { first, last, problem, message } = entry;
    const place = first === last ? `entry ${first}` : `entries ${first} to ${last}`;
    return [bad(`${file}, ${place}: ${shorten(message)} (${problem})`, paint)];
  }
  return [
    good(`${file} is the log that was signed`, paint),
    ...(misquoted.length === 0
      ? []
      : [
          bad(
            `${file}: the decoded text differs from the stored bytes in entry ${misquoted.join(", ")} (misquoted)`,
            paint,
          ),
        ]),
  ];
}

function good(text: string, paint: Paint): string {
  return `${paint("green", "✓")} ${text}`;
}

function bad(text: string, paint: Paint): string {
  return `${paint("red", "✗")} ${text}`;
}

function warning(text: string, paint: Paint): string {
  return `${paint("yellow", "!")} ${text}`;
}
