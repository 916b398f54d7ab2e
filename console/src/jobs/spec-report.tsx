// What the service says about a JobSpec that it was asked to verify: its checks, and how to correct what it would refuse.

import type { VerifyJobSpecResponse } from "#gen/runnel/job/v1/trust_service_pb.js";
import { visibleText } from "../lib/visible-text.ts";
import { type Check, CheckList } from "../ui/check-list.tsx";

export function SpecReport({ response }: { readonly response: VerifyJobSpecResponse }) {
  return (
    <section className="panel" aria-live="polite">
      <h2>{response.errorCode === "" ? "The service would accept this spec" : "The service would refuse this spec"}</h2>
      <CheckList label="Checks of the JobSpec" checks={checksOf(response)} />
      {response.advice.length > 0 && (
        <ul>
          {response.advice.map((each) => (
            <li key={each}>{visibleText(each)}</li>
          ))}
        </ul>
      )}
      {response.warnings.map((each) => (
        <p key={each} className="hint">
          {visibleText(each)}
        </p>
      ))}
    </section>
  );
}

function checksOf(response: VerifyJobSpecResponse): readonly Check[] {
  const { verify, trust: verdict, kid, errorCode, reason, pitfalls, signatureVersion } = response;
  const isSigned = verify === "ok";
  const why = pitfalls.length > 0 ? `explained by ${pitfalls.join(", ")}` : "it does not cover the canonical bytes";
  const keyName = kid === "" ? "" : `, named ${kid}`;
  return [
    { name: "Signature", verdict: isSigned ? "good" : "bad", detail: isSigned ? `version ${signatureVersion}` : why },
    {
      name: "Key",
      verdict: verdict === "trusted" ? "good" : "bad",
      detail: verdict === "" ? "the spec has no readable key" : `${verdict}${keyName}`,
    },
    {
      name: "Submission",
      verdict: errorCode === "" ? "good" : "bad",
      detail: errorCode === "" ? "signature, key, time and fields are accepted" : `${errorCode}: ${reason}`,
    },
  ];
}
