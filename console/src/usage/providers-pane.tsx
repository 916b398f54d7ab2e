// The model providers with their circuit breakers, for the operator, and the models that are known in advance.

import { Code, type ConnectError } from "@connectrpc/connect";
import { useQuery } from "@connectrpc/connect-query";
import { type Provider, Provider_Circuit, ProviderService } from "#gen/runnel/v1/provider_service_pb.js";
import { AdminFailure, AdminGate, adminQuery } from "../frame/admin-gate.tsx";
import { useNow } from "../lib/clock.ts";
import { formatCount, formatCountdown, msOf } from "../lib/format.ts";
import { visibleText } from "../lib/visible-text.ts";
import { Icon } from "../ui/icon.tsx";
import { Failure, Loading } from "../ui/notice.tsx";
import { TableHead } from "../ui/table-head.tsx";
import { refreshMs } from "./usage-data.ts";

export function ProvidersPane() {
  return (
    <section className="panel" aria-labelledby="usage-providers">
      <h2 id="usage-providers">Model providers</h2>
      <AdminGate what="The states of the providers">
        <Providers />
      </AdminGate>
      <KnownModels />
    </section>
  );
}

function Providers() {
  const { data, error, refetch } = useQuery(
    ProviderService.method.listProviders,
    {},
    {
      ...adminQuery,
      refetchInterval: ({ state }) => (isRefused(state.error) ? false : refreshMs),
    },
  );
  const nowMs = useNow(data?.providers.some(({ retryTime }) => retryTime !== undefined) === true);
  return (
    <>
      {error !== null && <AdminFailure error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Loading what="providers" />}
      {data !== undefined && (
        <>
          <ul className="checks providers" aria-label="Providers">
            {data.providers.map((provider) => (
              <Line key={provider.name} provider={provider} nowMs={nowMs} />
            ))}
          </ul>
          <p className="hint">
            Each replica has its own circuit breakers. A line shows the worst one of the replica that answered this
            page: of one model, for one client or for all. On another replica, the same provider can be in another
            state.
          </p>
        </>
      )}
    </>
  );
}

/** A repetition of the call would be refused too, and each refusal counts against the address of this browser. */
function isRefused(error: ConnectError | null): boolean {
  return error !== null && refusals.has(error.code);
}

const refusals: ReadonlySet<Code> = new Set([Code.Unauthenticated, Code.PermissionDenied, Code.FailedPrecondition]);

function Line({ provider, nowMs }: { readonly provider: Provider; readonly nowMs: number }) {
  const { name, configured, circuit, failures } = provider;
  const { word, look, about } = configured ? (circuits[circuit] ?? unknownCircuit) : notConfigured;
  const retryMs = (msOf(provider.retryTime) ?? nowMs) - nowMs;
  return (
    <li>
      <b>{visibleText(name)}</b>
      <span className="state" data-state={look}>
        {word}
      </span>
      <span>
        {about}
        {failures > 0 && ` ${formatCount(failures)} ${failures === 1 ? "failure" : "failures in a row"}.`}
        {circuit === Provider_Circuit.OPEN &&
          (retryMs > 0 ? ` The next try is in ${formatCountdown(retryMs)}.` : " The next request tries again.")}
      </span>
    </li>
  );
}

interface Words {
  readonly word: string;
  /** The state of runs with the same look. */
  readonly look: string;
  readonly about: string;
}

const notConfigured: Words = {
  word: "not configured",
  look: "cancelled",
  about: "The service has neither a key nor a base URL for it.",
};
const unknownCircuit: Words = {
  word: "unknown",
  look: "queued",
  about: "A newer service has states that this page does not know.",
};
const circuits: Readonly<Record<Provider_Circuit, Words>> = {
  [Provider_Circuit.UNSPECIFIED]: unknownCircuit,
  [Provider_Circuit.CLOSED]: { word: "closed", look: "completed", about: "Requests are sent." },
  [Provider_Circuit.OPEN]: { word: "open", look: "failed", about: "Requests of this circuit are refused at once." },
  [Provider_Circuit.HALF_OPEN]: {
    word: "half open",
    look: "waiting",
    about: "One request tests whether the provider has recovered.",
  },
};

function KnownModels() {
  const { data, error, refetch } = useQuery(ProviderService.method.listModels, {});
  if (error !== null) {
    return <Failure error={error} onRetry={() => void refetch()} />;
  }
  if (data === undefined) {
    return <Loading what="models" />;
  }
  const { models } = data;
  return (
    <details className="fold">
      <summary>
        <Icon name="chevron" />
        {formatCount(models.length)} known models
      </summary>
      <div className="fold-body">
        <p className="hint">
          Other names work too. Agents without a model use {visibleText(models[0]?.name ?? "none")}.
        </p>
        <table className="numbers">
          <caption className="unseen">Known models</caption>
          <TableHead names={["Model", "Provider", "Context"]} />
          <tbody>
            {models.map(({ name, provider, contextTokens }) => (
              <tr key={name}>
                <th scope="row">{visibleText(name)}</th>
                <td>{visibleText(provider)}</td>
                <td>{formatCount(contextTokens)} tokens</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
