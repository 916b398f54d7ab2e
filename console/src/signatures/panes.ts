// What can be signed, each with its pane, in the order of the tabs.

import type { ComponentType } from "react";
import { JobSpecPane } from "../jobs/job-spec-pane.tsx";
import { RequestPane } from "./request-pane.tsx";

interface Pane {
  readonly tab: string;
  readonly title: string;
  readonly component: ComponentType;
}

/** All panes. The first one is shown unless the address names another. */
export const panes: readonly Pane[] = [
  { tab: "jobspec", title: "JobSpec", component: JobSpecPane },
  { tab: "request", title: "Request", component: RequestPane },
];
