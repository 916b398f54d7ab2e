// The MCP servers that agents may have: the tools of one, and a form that calls a tool. The address names the server and the tool.

import { Code, ConnectError } from "@connectrpc/connect";
import { useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { useSearchParams } from "wouter";
import { type KnownMcpServer, McpService, type McpTool } from "#gen/runnel/v1/mcp_service_pb.js";
import { failureText, isUnanswered } from "../lib/failure-text.ts";
import { withParameter } from "../lib/parameters.ts";
import { visibleText } from "../lib/visible-text.ts";
import { Inbox, InboxTitle } from "../ui/inbox.tsx";
import { EmptyState, Failure, Loading } from "../ui/notice.tsx";
import { type AskedServer, type ChosenServer, ServerForm } from "./server-form.tsx";
import { ToolPane } from "./tool-pane.tsx";

// `lazy` takes the default export.
// biome-ignore lint/style/noDefaultExport: see above.
export default function McpView() {
  const { data, error, refetch } = useQuery(McpService.method.listMcpServers, {});
  if (data === undefined) {
    return (
      <div className="view">
        <header className="view-head">
          <h1>MCP servers</h1>
        </header>
        {error === null ? <Loading what="the servers" /> : <Failure error={error} onRetry={() => void refetch()} />}
      </div>
    );
  }
  return <Servers known={data.servers} />;
}

function Servers({ known }: { readonly known: readonly KnownMcpServer[] }) {
  const [parameters, setParameters] = useSearchParams();
  const [token, setToken] = useState("");
  const url = parameters.get("url") ?? "";
  const chosen: ChosenServer = {
    ...{ url, token },
    name: url === "" ? (parameters.get("server") ?? known[0]?.name ?? "") : "",
  };
  const tool = parameters.get("tool") ?? undefined;
  const choose = (next: ChosenServer): void => {
    setToken(next.token);
    setParameters(next.name === "" ? { url: next.url } : { server: next.name });
  };
  const server = askedOf(chosen);
  return (
    <div className="view">
      <header className="view-head">
        <InboxTitle
          title="MCP servers"
          href={`/mcp?${withParameter(parameters, "tool", "")}`}
          isChosen={tool !== undefined}
        />
      </header>
      <ServerForm key={`${chosen.name} ${url}`} known={known} chosen={chosen} onChoose={choose} />
      {server === undefined ? (
        <EmptyState title="The settings name no servers" lines={firstServer}>
          <p>
            Agents use the servers of this setting by their names. Above, connect to any server that agents may reach.
          </p>
        </EmptyState>
      ) : (
        <Tools key={JSON.stringify(server)} server={server} chosen={tool} parameters={parameters} />
      )}
    </div>
  );
}

function askedOf({ name, url, token }: ChosenServer): AskedServer | undefined {
  if (name === "" && url === "") {
    return undefined;
  }
  const headers = token === "" ? [] : [{ name: "authorization", value: `Bearer ${token}` }];
  return name === "" ? { name: "server", url, headers } : { name };
}

function Tools({
  server,
  chosen,
  parameters,
}: {
  readonly server: AskedServer;
  readonly chosen: string | undefined;
  readonly parameters: URLSearchParams;
}) {
  // Each look connects: one that failed waits for a person, and one that did not lasts as long as the page.
  const once = { retry: false, staleTime: Number.POSITIVE_INFINITY, gcTime: 0 };
  const list = useQuery(McpService.method.listMcpTools, { server }, once);
  const { data, error, isFetching, refetch } = list;
  if (isFetching || (data === undefined && error === null)) {
    return <Loading what="the tools" />;
  }
  if (data === undefined) {
    return <ServerFailure error={error} onRetry={() => void refetch()} />;
  }
  const { tools, problems } = data;
  return (
    <>
      {problems.map((problem) => (
        <p key={problem} className="hint">
          {visibleText(problem)}
        </p>
      ))}
      {tools.length === 0 ? (
        <p className="hint">The server has no tools.</p>
      ) : (
        <Inbox
          label="Tools"
          items={tools}
          chosen={chosen}
          idOf={({ name }) => name}
          hrefOf={(name) => `/mcp?${withParameter(parameters, "tool", name)}`}
          row={(tool) => <ToolRow tool={tool} />}
          onEnd={() => {}}
          oneLabel="The chosen tool"
          one={(name) => <Chosen key={name} server={server} tools={tools} name={name} />}
        />
      )}
    </>
  );
}

function ToolRow({ tool: { name, title, description, annotations } }: { readonly tool: McpTool }) {
  return (
    <>
      <b className="mono">{visibleText(name)}</b>
      <span>{annotations?.readOnly === true && "changes nothing"}</span>
      <span dir="auto">{visibleText(description || title)}</span>
    </>
  );
}

function Chosen({
  server,
  tools,
  name,
}: {
  readonly server: AskedServer;
  readonly tools: readonly McpTool[];
  readonly name: string;
}) {
  const tool = tools.find((each) => each.name === name);
  return tool === undefined ? (
    <EmptyState title="The server has no such tool" />
  ) : (
    <ToolPane server={server} tool={tool} />
  );
}

/** The service answers, and the server behind it does not. */
function ServerFailure({ error, onRetry }: { readonly error: unknown; readonly onRetry: () => void }) {
  if (ConnectError.from(error).code !== Code.Unavailable || isUnanswered(error)) {
    return <Failure error={error} onRetry={onRetry} />;
  }
  return (
    <section className="notice" role="alert">
      <h2>The server gave no tools</h2>
      <p>{visibleText(failureText(error))}</p>
      <div className="actions">
        <button type="button" className="button" onClick={onRetry}>
          Try again
        </button>
      </div>
    </section>
  );
}

const firstServer = `RUNNEL_MCP_SERVERS='docs={"url": "https://docs.example/mcp"}' runnel dev`;
