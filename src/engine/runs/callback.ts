// What is told of a transition is written with it; those who send it hear of it after the commit.

import { failpoint } from "../../platform/base/failpoint.ts";
import type { Wakeup } from "../log/wakeup.ts";

/** Call it after the commit of a transition with where it is told; nobody is woken when that is nowhere. */
export function announceCallback(wakeup: Wakeup, callbackUrl: string | null | undefined): void {
  if (callbackUrl === null || callbackUrl === undefined) {
    return;
  }
  failpoint("callback.written");
  wakeup.publish({ topic: "callback", key: "", value: 0 });
}
