// The views of the console. A new view is a folder, a line here and a style sheet in `main.tsx`. A protocol has its views in
// `views.ts` of its folder; to delete them, remove its lines here, its style sheet and its folder.

import { lazy } from "react";
import { exchangeViews } from "./exchanges/views.ts";
import { forumViews } from "./forum/views.ts";
import { jobViews } from "./jobs/views.ts";
import { runnerViews } from "./runners/views.ts";
import { RunsView } from "./runs/runs-view.tsx";
import type { View } from "./view.ts";

/** All views, in the order of the navigation. The list of runs comes with the page; the others are loaded on demand. */
export const views: readonly View[] = [
  { path: "/runs", title: "Runs", component: RunsView, navigation: { icon: "runs", key: "g r" } },
  { path: "/runs/:runId", title: "Run", component: lazy(() => import("./run/run-view.tsx")) },
  { path: "/runs/:runId/receipt", title: "Receipt", component: lazy(() => import("./receipt/receipt-view.tsx")) },
  { path: "/compare", title: "Compare", within: "/runs", component: lazy(() => import("./compare/compare-view.tsx")) },
  {
    path: "/evaluate",
    title: "Evaluate runs",
    within: "/runs",
    component: lazy(() => import("./evaluate/new-evaluation-view.tsx")),
  },
  {
    path: "/evaluations/:evaluationId",
    title: "Evaluation",
    within: "/runs",
    component: lazy(() => import("./evaluate/evaluation-view.tsx")),
  },
  {
    path: "/sessions",
    title: "Sessions",
    component: lazy(() => import("./sessions/sessions-view.tsx")),
    navigation: { icon: "talk", key: "g t" },
  },
  {
    path: "/sessions/:sessionId",
    title: "Session",
    component: lazy(() => import("./sessions/sessions-view.tsx")),
  },
  {
    path: "/new-session",
    title: "New session",
    within: "/sessions",
    component: lazy(() => import("./sessions/new-session-view.tsx")),
  },
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
    navigation: { icon: "hand", key: "g a", badge: lazy(() => import("./approvals/pending-count.tsx")) },
  },
  {
    path: "/approvals/:approvalId",
    title: "Approval",
    component: lazy(() => import("./approvals/approvals-view.tsx")),
  },
  {
    path: "/queue",
    title: "Queue",
    component: lazy(() => import("./queue/queue-view.tsx")),
    navigation: { icon: "queue", key: "g q" },
  },
  {
    path: "/memory",
    title: "Memory",
    component: lazy(() => import("./memory/memory-view.tsx")),
    navigation: { icon: "book", key: "g m" },
  },
  {
    path: "/mcp",
    title: "MCP servers",
    component: lazy(() => import("./mcp/mcp-view.tsx")),
    navigation: { icon: "tool", key: "g v", guard: lazy(() => import("./mcp/known-servers.tsx")) },
  },
  ...exchangeViews,
  ...runnerViews,
  ...jobViews,
  {
    path: "/signatures",
    title: "Signatures",
    component: lazy(() => import("./signatures/signatures-view.tsx")),
    navigation: { icon: "seal", key: "g s", isFolded: true },
  },
  {
    path: "/callbacks",
    title: "Callbacks",
    component: lazy(() => import("./callbacks/callbacks-view.tsx")),
    navigation: { icon: "send", key: "g c" },
  },
  ...forumViews,
  {
    path: "/plots",
    title: "Plots",
    component: lazy(() => import("./plots/plots-view.tsx")),
    navigation: { icon: "plot", key: "g p" },
  },
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
    navigation: { icon: "server", key: "g o", isFolded: true },
  },
];
