// Wakes the senders of status callbacks. The callback itself is written in the transaction of its transition.

import { failpoint } from "../../platform/base/failpoint.ts";
import type { Wakeup } from "../log/wakeup.ts";

/** Wakes the senders. Call it after the commit of a transition; without a URL it does nothing. */
export function announceCallback(wakeup: Wakeup, callbackUrl: string | null | undefined): void {
  if (callbackUrl === null || callbackUrl === undefined) {
    return;
  }
  failpoint("callback.written");
  wakeup.publish({ topic: "callback", key: "", value: 0 });
}
