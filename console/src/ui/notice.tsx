// What a view shows in place of its content: nothing yet, still loading, or a failure.

import { Code, ConnectError } from "@connectrpc/connect";
import { lazy, type ReactNode, Suspense } from "react";
import { askForKey } from "../api/access.ts";
import { failureText, isUnanswered } from "../lib/failure-text.ts";

const CodeBlock = lazy(() => import("./code-block.tsx").then(({ CodeBlock }) => ({ default: CodeBlock })));

/** Nothing to show. An empty view says what to do about it, as lines to paste. */
export function EmptyState({
  title,
  lines,
  children,
}: {
  readonly title: string;
  readonly lines?: string;
  readonly children?: ReactNode;
}) {
  return (
    <section className="notice">
      <h2>{title}</h2>
      {children}
      <Suspense>{lines !== undefined && <CodeBlock label="paste into a terminal" text={lines} />}</Suspense>
    </section>
  );
}

/** A call that failed, with the way to try again. */
export function Failure({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  const { code } = ConnectError.from(error);
  const title = isUnanswered(error) ? titles[Code.Unavailable] : titles[code];
  return (
    <section className="notice" role="alert">
      <h2>{title ?? "This did not work"}</h2>
      <p>{failureText(error)}</p>
      <div className="actions">
        {code === Code.Unauthenticated && (
          <button type="button" className="button primary" onClick={() => askForKey()}>
            Enter an API key
          </button>
        )}
        {onRetry !== undefined && (
          <button type="button" className="button" onClick={onRetry}>
            Try again
          </button>
        )}
      </div>
    </section>
  );
}

const titles: Readonly<Partial<Record<Code, string>>> = {
  [Code.NotFound]: "Not found",
  [Code.Unauthenticated]: "The service asks for credentials",
  [Code.PermissionDenied]: "Not allowed",
  [Code.Unavailable]: "The service is not reachable",
  [Code.ResourceExhausted]: "Too many at once",
};

export function Loading({ what }: { readonly what: string }) {
  return (
    <p className="loading" role="status">
      Loading {what} …
    </p>
  );
}
