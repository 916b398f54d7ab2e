// A call of the forum that failed. The token that was refused is the administrator's, not the page's API key.

import { Code, ConnectError } from "@connectrpc/connect";
import { EmptyState, Failure } from "../ui/notice.tsx";

export function AdminFailure({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  const { code } = ConnectError.from(error);
  return code === Code.Unauthenticated || code === Code.PermissionDenied ? (
    <EmptyState title="The service refused the admin token">
      <p>Forget it under Credentials, the key at the foot of the navigation, and enter the right one.</p>
    </EmptyState>
  ) : (
    <Failure error={error} {...(onRetry !== undefined && { onRetry })} />
  );
}
