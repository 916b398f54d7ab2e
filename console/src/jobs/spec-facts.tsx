// The facts of a JobSpec that a person compares before it is sent and after it has run.

import { formatCount, formatTime } from "../lib/format.ts";
import { visibleText } from "../lib/visible-text.ts";
import { Fact } from "../ui/fact.tsx";
import { countAt, textAt, valueAt } from "./spec-text.ts";

/** What a spec asks for. */
export function AskedFacts({ spec }: { readonly spec: object }) {
  const say = (path: string): string => visibleText(textAt(spec, path));
  const [questions, models] = [countAt(spec, "questions"), countAt(spec, "models")];
  return (
    <dl className="facts">
      <Fact name="spec">{say("jobspec_id")}</Fact>
      <Fact name="benchmark">{say("benchmark.name")}</Fact>
      <Fact name="version">{say("version")}</Fact>
      <Fact name="container">{say("benchmark.container.image")}</Fact>
      <Fact name="regions">{say("constraints.regions")}</Fact>
      <Fact name="needs">{say("constraints.min_regions")}</Fact>
      <Fact name="questions">{questions > 0 && formatCount(questions)}</Fact>
      <Fact name="models">{models > 0 && formatCount(models)}</Fact>
      <Fact name="asked each">{say("runs")}</Fact>
    </dl>
  );
}

/** What keeps a spec from being sent late, twice or elsewhere. Version 1 has no expiry and no audience. */
export function StampFacts({ spec }: { readonly spec: object }) {
  const [nonce, expirySeconds] = [textAt(spec, "metadata.nonce"), valueAt(spec, "exp")];
  return (
    <>
      <Fact name="signed">{visibleText(textAt(spec, "metadata.timestamp"))}</Fact>
      <Fact name="nonce">{nonce !== "" && <Mono text={nonce} />}</Fact>
      <Fact name="expires">{typeof expirySeconds === "number" && formatTime(expirySeconds * 1_000)}</Fact>
      <Fact name="audience">{visibleText(textAt(spec, "aud"))}</Fact>
    </>
  );
}

export function Mono({ text }: { readonly text: string }) {
  return <span className="mono">{visibleText(text)}</span>;
}
