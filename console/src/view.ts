// The interface of a view.

import type { ComponentType, ReactNode } from "react";
import type { IconName } from "./ui/icon.tsx";

/** A view at a path below the console. */
export interface View {
  readonly path: string;
  readonly title: string;
  readonly component: ComponentType<{ readonly params: Readonly<Record<string, string | undefined>> }>;
  /** The path of the view to whose link a view at another path belongs. */
  readonly within?: string;
  /** The view's place in the navigation; a view without one is reached from others. */
  readonly navigation?: {
    readonly icon: IconName;
    readonly key: string;
    readonly badge?: ComponentType;
    /** Whether the link is behind *More*: few people use the view, or it needs the admin token. */
    readonly isFolded?: boolean;
    /** Shows the link only where there is something to see. The link of the view that is shown is always there. */
    readonly guard?: ComponentType<{ readonly children: ReactNode }>;
  };
}
