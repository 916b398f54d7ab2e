// The views of exchanges.

import { lazy } from "react";
import type { View } from "../view.ts";

/** The views of exchanges. */
export const exchangeViews: readonly View[] = [
  {
    path: "/exchanges",
    title: "Exchanges",
    component: lazy(() => import("./exchanges-view.tsx")),
    navigation: { icon: "swap", key: "g x", isFolded: true },
  },
  {
    path: "/exchanges/:exchangeId",
    title: "Exchange",
    component: lazy(() => import("./exchanges-view.tsx")),
  },
];
