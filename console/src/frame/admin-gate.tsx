// What only the operator may see. Without the admin token, the page asks for it there and keeps nothing of what it showed.

import { Code, ConnectError } from "@connectrpc/connect";
import type { ReactNode } from "react";
import { adminToken, hasAdminTokenExpired, setAdminToken } from "../api/access.ts";
import { adminTransport } from "../api/transport.ts";
import { useStore } from "../lib/store.ts";
import { Failure } from "../ui/notice.tsx";
import { AdminForm } from "./access-dialog.tsx";

/** The options of the operator's queries. Their answers are forgotten with the view that showed them. */
export const adminQuery = { transport: adminTransport, gcTime: 0 } as const;

/** Shows `children` to the operator. `what` begins the sentence that asks for the token: `The settings`. */
export function AdminGate({ what, children }: { readonly what: string; readonly children?: ReactNode }) {
  const token = useStore(adminToken);
  const hasExpired = useStore(hasAdminTokenExpired);
  if (token !== undefined) {
    return children;
  }
  return (
    <section className="notice" role={hasExpired ? "alert" : undefined}>
      <h2>{hasExpired ? "The admin token has expired in this page" : `${what} need the admin token`}</h2>
      <p>
        {hasExpired ? (
          "15 minutes have passed since you entered it. The page has forgotten the token and what was shown here."
        ) : (
          <>
            The operator sets it with <code>RUNNEL_AUTH_ADMIN_TOKEN</code>. The page sends it to this service only, and
            forgets it after 15 minutes.
          </>
        )}
      </p>
      <AdminForm />
    </section>
  );
}

/** An operator's call that failed. A refused token can be replaced. */
export function AdminFailure({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  const { code, rawMessage } = ConnectError.from(error);
  if (code !== Code.Unauthenticated && code !== Code.PermissionDenied) {
    return <Failure error={error} {...(onRetry && { onRetry })} />;
  }
  return (
    <section className="notice" role="alert">
      <h2>The service refuses this admin token</h2>
      <p>{rawMessage}</p>
      <div className="actions">
        <button type="button" className="button primary" onClick={() => setAdminToken(undefined)}>
          Enter another token
        </button>
      </div>
    </section>
  );
}
