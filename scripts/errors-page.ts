// Writes docs/reference/errors.md: every reason of failure with its codes, its cause and its fix.

import { Code } from "@connectrpc/connect";
import { protocols } from "../src/app/protocols.ts";
import { coreReasons, type Reason } from "../src/platform/base/reasons.ts";

export const errorsPagePath = "docs/reference/errors.md";

const opening = `# Errors

Every failure has a reason: a name for programs, which stays the same when the message changes. Over gRPC, gRPC-Web and Connect it
is the \`reason\` of the detail \`google.rpc.ErrorInfo\`, with the domain \`runnel.dev\`. Over REST it is the member \`reason\` of the body,
except where a protocol's own document describes the body. The message says what was wrong in this case.

A failure may say when to retry: in the detail \`google.rpc.RetryInfo\`, and over REST in the header \`Retry-After\`. An error without a
reason comes from the transport or from a proxy: its gRPC code says what happened.
[Resume a stream](../resuming.md) has the rule for streams.

\`npm run generate\` writes this page.
`;

export function printErrorsPage(): string {
  const sections = [
    printSection("The core", Object.values(coreReasons)),
    ...protocols.flatMap(({ name, reasons }) =>
      reasons === undefined ? [] : [printSection(`The protocol \`${name}\``, Object.values(reasons))],
    ),
  ];
  return `${[opening, ...sections].join("\n")}\nNext: [RPCs and routes](rpcs.md)\n`;
}

function printSection(title: string, reasons: readonly Reason[]): string {
  return `## ${title}\n\n${reasons.map(printReason).join("\n\n")}\n`;
}

function printReason({ name, code, httpStatus, about, fix }: Reason): string {
  return `### ${name}\n\n\`${codeName(code)}\`, HTTP ${httpStatus}. ${about}\n\nTo fix it: ${lowerFirst(fix)}`;
}

/** Returns the name as gRPC's documents write it: `NOT_FOUND`. */
function codeName(code: Code): string {
  return Code[code].replace(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase();
}

function lowerFirst(sentence: string): string {
  return `${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`;
}
