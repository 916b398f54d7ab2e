// The entry of `@runnel/chat`: defines the element `<runnel-chat>`.

import { RunnelChat } from "./chat-element.ts";

// biome-ignore-start lint/performance/noBarrelFile: this is the list of what the package offers.
export type { Backend, ChatRequest } from "./backend.ts";
export { RunnelChat, type WaitingDetail } from "./chat-element.ts";
export type { Words } from "./words.ts";

// biome-ignore-end lint/performance/noBarrelFile: see above.

if (globalThis.customElements !== undefined && customElements.get("runnel-chat") === undefined) {
  customElements.define("runnel-chat", RunnelChat);
}
