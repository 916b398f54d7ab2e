// The views of runners.

import { lazy } from "react";
import type { View } from "../view.ts";

/** The views of runners. */
export const runnerViews: readonly View[] = [
  {
    path: "/runners",
    title: "Runners",
    component: lazy(() => import("./runners-view.tsx")),
    navigation: { icon: "plug", key: "g u" },
  },
  { path: "/runners/:runnerId", title: "Runner", component: lazy(() => import("./runners-view.tsx")) },
  {
    path: "/runners/bindings/:bindingId",
    title: "Binding",
    component: lazy(() => import("./runners-view.tsx")),
  },
];
