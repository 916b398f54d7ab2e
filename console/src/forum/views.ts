// The views of the forum.

import { lazy } from "react";
import type { View } from "../view.ts";

/** The views of the forum. */
export const forumViews: readonly View[] = [
  {
    path: "/forum",
    title: "Forum",
    component: lazy(() => import("./forum-view.tsx")),
    navigation: { icon: "speech", key: "g f", isFolded: true },
  },
  { path: "/forum/:communityId/*?", title: "Community", component: lazy(() => import("./forum-view.tsx")) },
];
