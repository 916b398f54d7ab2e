// The views of the console. A new view is a folder, a line here and a style sheet in `main.tsx`.

import { type ComponentType, lazy } from "react";
import { PendingCount } from "./approvals/pending-count.tsx";
import { RunView } from "./run/run-view.tsx";
import { RunsView } from "./runs/runs-view.tsx";
import type { IconName } from "./ui/icon.tsx";

/** A view at a path below the console. */
export interface View {
  readonly path: string;
  readonly title: string;
  readonly component: ComponentType<{ readonly params: Readonly<Record<string, string | undefined>> }>;
  /** The view's place in the navigation; a view without one is reached from others. */
  readonly navigation?: { readonly icon: IconName; readonly key: string; readonly badge?: ComponentType };
}

/** All views, in the order of the navigation. Views that few people open first are loaded on demand. */
export const views: readonly View[] = [
  { path: "/runs", title: "Runs", component: RunsView, navigation: { icon: "runs", key: "g r" } },
  { path: "/runs/:runId", title: "Run", component: RunView },
  { path: "/runs/:runId/receipt", title: "Receipt", component: lazy(() => import("./receipt/receipt-view.tsx")) },
  {
    path: "/new",
    title: "New run",
    component: lazy(() => import("./new-run/new-run-view.tsx")),
    navigation: { icon: "plus", key: "g n" },
  },
  {
    path: "/approvals",
    title: "Approvals",
    component: lazy(() => import("./approvals/approvals-view.tsx")),
    navigation: { icon: "hand", key: "g a", badge: PendingCount },
  },
  {
    path: "/approvals/:approvalId",
    title: "Approval",
    component: lazy(() => import("./approvals/approvals-view.tsx")),
  },
  {
    path: "/exchanges",
    title: "Exchanges",
    component: lazy(() => import("./exchanges/exchanges-view.tsx")),
    navigation: { icon: "swap", key: "g x" },
  },
  {
    path: "/exchanges/:exchangeId",
    title: "Exchange",
    component: lazy(() => import("./exchanges/exchanges-view.tsx")),
  },
  {
    path: "/runners",
    title: "Runners",
    component: lazy(() => import("./runners/runners-view.tsx")),
    navigation: { icon: "plug", key: "g u" },
  },
  { path: "/runners/:runnerId", title: "Runner", component: lazy(() => import("./runners/runners-view.tsx")) },
  {
    path: "/runners/bindings/:bindingId",
    title: "Binding",
    component: lazy(() => import("./runners/runners-view.tsx")),
  },
  {
    path: "/jobs",
    title: "Jobs",
    component: lazy(() => import("./jobs/jobs-view.tsx")),
    navigation: { icon: "job", key: "g j" },
  },
  { path: "/jobs/submit", title: "Submit a JobSpec", component: lazy(() => import("./jobs/submit-view.tsx")) },
  { path: "/jobs/keys", title: "Trust keys", component: lazy(() => import("./jobs/keys-view.tsx")) },
  { path: "/jobs/:jobId", title: "Job", component: lazy(() => import("./jobs/jobs-view.tsx")) },
  {
    path: "/signatures",
    title: "Signatures",
    component: lazy(() => import("./signatures/signatures-view.tsx")),
    navigation: { icon: "seal", key: "g s" },
  },
  {
    path: "/callbacks",
    title: "Callbacks",
    component: lazy(() => import("./callbacks/callbacks-view.tsx")),
    navigation: { icon: "send", key: "g c" },
  },
  {
    path: "/forum",
    title: "Forum",
    component: lazy(() => import("./forum/forum-view.tsx")),
    navigation: { icon: "speech", key: "g f" },
  },
  { path: "/forum/:communityId/*?", title: "Community", component: lazy(() => import("./forum/forum-view.tsx")) },
  {
    path: "/usage",
    title: "Usage",
    component: lazy(() => import("./usage/usage-view.tsx")),
    navigation: { icon: "chart", key: "g y" },
  },
  {
    path: "/service",
    title: "Service",
    component: lazy(() => import("./service/service-view.tsx")),
    navigation: { icon: "server", key: "g o" },
  },
];
