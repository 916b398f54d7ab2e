// The views of jobs and of trusted keys.

import { lazy } from "react";
import type { View } from "../view.ts";

/** The views of jobs and of trusted keys. */
export const jobViews: readonly View[] = [
  {
    path: "/jobs",
    title: "Jobs",
    component: lazy(() => import("./jobs-view.tsx")),
    navigation: { icon: "job", key: "g j", isFolded: true },
  },
  { path: "/jobs/submit", title: "Submit a JobSpec", component: lazy(() => import("./submit-view.tsx")) },
  { path: "/jobs/keys", title: "Trust keys", component: lazy(() => import("./keys-view.tsx")) },
  { path: "/jobs/:jobId", title: "Job", component: lazy(() => import("./jobs-view.tsx")) },
];
