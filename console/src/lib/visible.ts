// Whether a person can see the page. Streams are open only then: a browser opens six connections to an HTTP/1.1 origin, for all
// tabs together, so hidden tabs must not hold any.

import { Store } from "./store.ts";

const isShown = (): boolean => document.visibilityState === "visible";

/** True while the page can be seen. */
export const pageVisible = new Store(isShown());

document.addEventListener("visibilitychange", () => pageVisible.set(isShown()));
