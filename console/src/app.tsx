// The page: its providers, its frame, and the view of the current address.

import { Code, ConnectError } from "@connectrpc/connect";
import { TransportProvider } from "@connectrpc/connect-query";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { lazy, Suspense, useLayoutEffect } from "react";
import { Redirect, Route, Router, Switch } from "wouter";
import { onOtherKey } from "./api/access.ts";
import { consoleBase, transport } from "./api/transport.ts";
import { Frame } from "./frame/frame.tsx";
import { setTitle } from "./lib/title.ts";
import { askForRuns } from "./runs/runs-view.tsx";
import { forgetDrafts } from "./sessions/forget-drafts.ts";
import { EmptyState, Loading } from "./ui/notice.tsx";
import { views } from "./views.ts";

const SharedView = lazy(() => import("./share/shared-view.tsx"));
const retriesMax = 2;

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (failures, error) => failures < retriesMax && mayRepeat(ConnectError.from(error).code),
    },
  },
});

onOtherKey((isSameClient) => {
  if (isSameClient) {
    void queries.invalidateQueries();
    return;
  }
  forgetDrafts();
  void queries.resetQueries();
});

/** Asks for what the page of this address shows first. Resolves when the answer is there, and at once where nothing was asked. */
export async function askFirst(): Promise<void> {
  const path = location.pathname.slice(consoleBase.length);
  if (path === "/" || path === "/runs") {
    await askForRuns(queries, location.search);
  }
}

export function App() {
  return (
    <TransportProvider transport={transport}>
      <QueryClientProvider client={queries}>
        <Router base={consoleBase}>
          <Suspense fallback={<Loading what="this view" />}>
            <Switch>
              {/* Outside of the frame: it shows one log to a reader without a key, and makes no call. */}
              <Route path="/shared">
                <SharedView />
              </Route>
              <Route>
                <Frame>
                  <Views />
                </Frame>
              </Route>
            </Switch>
          </Suspense>
        </Router>
      </QueryClientProvider>
    </TransportProvider>
  );
}

function Views() {
  return (
    <Suspense fallback={<Loading what="this view" />}>
      <Switch>
        <Route path="/">
          <Redirect to="/runs" replace />
        </Route>
        {views.map(({ path, title, component: Component }) => (
          <Route key={path} path={path}>
            {(params) => (
              <Titled title={title}>
                <Component params={params} />
              </Titled>
            )}
          </Route>
        ))}
        <Route>
          <EmptyState title="There is no such page">
            <p>The address may be of a newer version of the console.</p>
          </EmptyState>
        </Route>
      </Switch>
    </Suspense>
  );
}

function Titled({ title, children }: { readonly title: string; readonly children: React.ReactNode }) {
  // Before the effects of the view, which may know a better one.
  useLayoutEffect(() => {
    setTitle(title);
  }, [title]);
  return children;
}

function mayRepeat(code: Code): boolean {
  return code === Code.Unavailable || code === Code.Unknown || code === Code.DeadlineExceeded;
}
