// The state of the replica that answers this page, and the versions of its software. Needs no credentials.

import { ConnectError } from "@connectrpc/connect";
import { useQuery } from "@connectrpc/connect-query";
import { type ReactNode, useEffect } from "react";
import { SystemService } from "#gen/runnel/v1/system_service_pb.js";
import { probe, type ServiceState, serviceState } from "../api/service-state.ts";
import { serviceUrl } from "../api/transport.ts";
import { useStore } from "../lib/store.ts";
import { visibleText } from "../lib/visible-text.ts";
import { Icon } from "../ui/icon.tsx";

const refreshMs = 15_000;

const states = {
  asking: ["asking", "queued"],
  ready: ["ready", "completed"],
  "not-ready": ["not ready", "waiting"],
  unreachable: ["unreachable", "failed"],
} as const satisfies Record<ServiceState["name"], readonly [string, string]>;

export function Health() {
  const state = useStore(serviceState);
  const { data, error, refetch } = useQuery(
    SystemService.method.getVersion,
    {},
    // A failure is news here, and the next call is soon.
    { refetchInterval: refreshMs, retry: false },
  );
  // A service that is ready again may have another version.
  useEffect(() => {
    if (state.name === "ready") {
      void refetch({ cancelRefetch: false });
    }
  }, [state.name, refetch]);
  const [name, look] = states[state.name];
  const check = (): void => {
    void probe();
    void refetch();
  };
  return (
    <section className="panel health" aria-labelledby="health">
      <h2 id="health">Health</h2>
      <span className="state" data-state={look} role="status">
        {name}
      </span>
      <button type="button" className="button quiet" onClick={check}>
        <Icon name="again" />
        Check now
      </button>
      {state.name === "not-ready" && <p className="problem">{visibleText(state.reason)}</p>}
      {error !== null && (
        <p className="problem">The versions are not known: {visibleText(ConnectError.from(error).rawMessage)}</p>
      )}
      <dl className="facts">
        <Fact name="Runnel">{data?.version}</Fact>
        <Fact name="Postgres">{error === null && data?.postgresVersion}</Fact>
        <Fact name="Node.js">{data?.nodeVersion}</Fact>
        <Fact name="address">{serviceUrl}</Fact>
        <div>
          <dt>limits</dt>
          <dd>
            <a href={`${serviceUrl}/v1/limits`}>/v1/limits</a>
          </dd>
        </div>
      </dl>
      <p className="hint">
        All of this page is about the replica that answers it. Behind a proxy, another replica may be in another state
        and have other settings.
      </p>
    </section>
  );
}

/** A fact that is not known is left out. */
function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    children !== undefined &&
    children !== false && (
      <div>
        <dt>{name}</dt>
        <dd>{children}</dd>
      </div>
    )
  );
}
