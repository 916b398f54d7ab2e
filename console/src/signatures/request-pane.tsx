// A request signature of version 2, made step by step. The secret stays in this page: it is in no store, no call and no example.

import { type ReactNode, useEffect, useId, useState } from "react";
import { encodeText, hmacSha256, sha256, toHex } from "../../../clients/typescript/src/crypto.ts";
import { serviceUrl } from "../api/transport.ts";
import { CodeBlock } from "../ui/code-block.tsx";

interface Request {
  readonly secret: string;
  readonly client: string;
  readonly method: string;
  readonly target: string;
  readonly timestamp: string;
  readonly nonce: string;
  readonly body: string;
}

interface Steps {
  /** The request that was signed: the form may be newer for a moment. */
  readonly request: Request;
  readonly digest: string;
  readonly text: string;
  /** Undefined without a secret. */
  readonly mac: string | undefined;
}

const nonceBytes = 16;

export function RequestPane() {
  const [request, setRequest] = useState<Request>(() => ({
    secret: "",
    client: "billing",
    method: "GET",
    target: "/v1/usage",
    body: "",
    ...stamp(),
  }));
  const steps = useSteps(request);
  const change = (name: keyof Request) => (value: string) => setRequest((current) => ({ ...current, [name]: value }));
  const field = (name: keyof Request) => ({ value: request[name], onChange: change(name) });
  return (
    <>
      <form className="panel form" onSubmit={(event) => event.preventDefault()}>
        <div className="field-row">
          <Field label="Client" {...field("client")} />
          <Field label="Secret" type="password" {...field("secret")} />
        </div>
        <div className="field-row">
          <Field label="Method" {...field("method")} />
          <Field label="Path and query" {...field("target")} />
        </div>
        <div className="field-row">
          <Field label="Timestamp" {...field("timestamp")} />
          <Field label="Nonce" {...field("nonce")} />
        </div>
        <label className="field">
          Body
          <textarea
            className="input mono"
            rows={3}
            spellCheck={false}
            value={request.body}
            onChange={({ currentTarget }) => change("body")(currentTarget.value)}
          />
        </label>
        <p className="hint">
          The secret never leaves this page, and the page forgets it when you leave. A signature works once, within 120
          seconds of its timestamp.
        </p>
        <div className="actions">
          <button
            type="button"
            className="button"
            onClick={() => setRequest((current) => ({ ...current, ...stamp() }))}
          >
            New timestamp and nonce
          </button>
        </div>
      </form>
      {steps !== undefined && <ShownSteps request={steps.request} steps={steps} />}
    </>
  );
}

function Field({
  label,
  value,
  type = "text",
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  readonly type?: "text" | "password";
  readonly onChange: (value: string) => void;
}) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        type={type}
        className="input mono"
        autoComplete="off"
        spellCheck={false}
        value={value}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
    </div>
  );
}

function ShownSteps({ request, steps }: { readonly request: Request; readonly steps: Steps }) {
  const { digest, text, mac } = steps;
  return (
    <section className="panel">
      <Step title="1. Hash the body">
        <CodeBlock label="SHA-256 of the body" text={digest} />
      </Step>
      <Step title="2. Write the text to sign: seven lines, without a line feed at the end">
        <CodeBlock label="text to sign" text={text} />
      </Step>
      <Step title="3. Authenticate the text with the secret">
        {mac === undefined ? <p>Enter the secret.</p> : <CodeBlock label="HMAC-SHA256" text={mac} />}
      </Step>
      {mac !== undefined && (
        <Step title="4. Send the request with four headers">
          <CodeBlock label="signed call for curl" text={writeCurl(request, mac)} />
        </Step>
      )}
    </section>
  );
}

function Step({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <>
      <h2>{title}</h2>
      {children}
    </>
  );
}

/** Computes the steps again with each change. An older computation that ends late changes nothing. */
function useSteps(request: Request): Steps | undefined {
  const [steps, setSteps] = useState<Steps | undefined>(undefined);
  useEffect(() => {
    let isCurrent = true;
    void sign(request).then((made) => {
      if (isCurrent) {
        setSteps(made);
      }
    });
    return () => {
      isCurrent = false;
    };
  }, [request]);
  return steps;
}

async function sign(request: Request): Promise<Steps> {
  const { secret, client, method, target, timestamp, nonce, body } = request;
  const digest = toHex(await sha256(encodeText(body)));
  const text = ["v2", method, target, client, timestamp, nonce, digest].join("\n");
  return { request, digest, text, mac: secret === "" ? undefined : toHex(await hmacSha256(secret, encodeText(text))) };
}

function stamp(): Pick<Request, "timestamp" | "nonce"> {
  const random = crypto.getRandomValues(new Uint8Array(nonceBytes));
  return { timestamp: String(Math.floor(Date.now() / 1_000)), nonce: toHex(random) };
}

function writeCurl({ client, method, target, timestamp, nonce, body }: Request, mac: string): string {
  const headers = {
    "X-Client-ID": client,
    "X-Timestamp": timestamp,
    "X-Nonce": nonce,
    "X-Signature": `sha256=${mac}`,
    ...(body !== "" && { "Content-Type": "application/json" }),
  };
  return [
    `curl -s -X ${quote(method)} ${quote(serviceUrl + target)}`,
    ...Object.entries(headers).map(([name, value]) => `  -H ${quote(`${name}: ${value}`)}`),
    ...(body === "" ? [] : [`  --data-binary ${quote(body)}`]),
  ].join(" \\\n");
}

function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
