// Chooses a server: one of the settings, or the URL of another one.

import { type FormEvent, useId, useState } from "react";
import { type KnownMcpServer, KnownMcpServer_Transport } from "#gen/runnel/v1/mcp_service_pb.js";
import { visibleText } from "../lib/visible-text.ts";
import { Icon } from "../ui/icon.tsx";

/** A server as the calls take it. */
export interface AskedServer {
  readonly name: string;
  readonly url?: string;
  readonly headers?: { readonly name: string; readonly value: string }[];
}

/** A token is in no address, so a reload forgets it. */
export interface ChosenServer {
  readonly name: string;
  readonly url: string;
  readonly token: string;
}

export function ServerForm({
  known,
  chosen,
  onChoose,
}: {
  readonly known: readonly KnownMcpServer[];
  readonly chosen: ChosenServer;
  readonly onChoose: (server: ChosenServer) => void;
}) {
  const id = useId();
  const [name, setName] = useState(chosen.name);
  const [url, setUrl] = useState(chosen.url);
  const [token, setToken] = useState(chosen.token);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onChoose(name === "" ? { name, url: url.trim(), token } : { name, url: "", token: "" });
  };
  return (
    <search aria-label="Choose a server">
      <form className="filter" onSubmit={submit}>
        <label htmlFor={`${id}name`}>Server</label>
        <select
          id={`${id}name`}
          className="input"
          value={name}
          onChange={({ currentTarget: { value } }) => {
            setName(value);
            if (value !== "") {
              onChoose({ name: value, url: "", token: "" });
            }
          }}
        >
          {known.map((server) => (
            <option key={server.name} value={server.name}>
              {`${server.name}, ${placeOf(server)}`}
            </option>
          ))}
          <option value="">another one, by its URL</option>
        </select>
        {name === "" && (
          <>
            <label className="unseen" htmlFor={`${id}url`}>
              URL of the server
            </label>
            <input
              id={`${id}url`}
              className="input"
              type="url"
              required
              value={url}
              placeholder="https://docs.example/mcp"
              maxLength={2000}
              autoComplete="off"
              spellCheck={false}
              onInput={(event) => setUrl(event.currentTarget.value)}
            />
            <label className="unseen" htmlFor={`${id}token`}>
              Bearer token, if the server wants one
            </label>
            <input
              id={`${id}token`}
              className="input"
              type="password"
              value={token}
              placeholder="bearer token (optional)"
              maxLength={8000}
              autoComplete="off"
              onInput={(event) => setToken(event.currentTarget.value)}
            />
            <button type="submit" className="button">
              <Icon name="plug" />
              Connect
            </button>
          </>
        )}
      </form>
    </search>
  );
}

function placeOf({ transport, origin }: KnownMcpServer): string {
  return transport === KnownMcpServer_Transport.STDIO ? "a program" : visibleText(origin);
}
