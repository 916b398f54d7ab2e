// The entry of `@runnel/chat/react`: the element as a component.

import { createElement, type HTMLAttributes, type ReactElement, useEffect, useRef } from "react";
import type { Backend, RunnelChat as ChatElement, WaitingDetail, Words } from "./index.ts";
import "./index.ts";

export interface RunnelChatProps extends Omit<HTMLAttributes<HTMLElement>, "onWaiting"> {
  /** URL of the service. */
  readonly endpoint: string;
  /** Where the messages go. A function may be another one in each render: the newest one is called. */
  readonly backend: Backend;
  /** Name of the conversation; another name shows another conversation. */
  readonly conversation?: string;
  /** Words of the site in place of the English ones: an object that stays the same from render to render. */
  readonly words?: Partial<Words>;
  /** The run waits for a person. */
  readonly onWaiting?: (detail: WaitingDetail) => void;
}

/** Shows a chat. */
export function RunnelChat({ backend, words, onWaiting, className, ...attributes }: RunnelChatProps): ReactElement {
  const element = useRef<ChatElement>(null);
  const newest = useRef({ backend, onWaiting });
  useEffect(() => {
    newest.current = { backend, onWaiting };
  });
  const url = typeof backend === "string" ? backend : undefined;
  useEffect(() => {
    if (element.current !== null) {
      element.current.backend = url ?? ((request, signal) => callNewest(newest.current.backend, request, signal));
    }
  }, [url]);
  useEffect(() => {
    if (element.current !== null && words !== undefined) {
      element.current.words = words;
    }
  }, [words]);
  useEffect(() => {
    const chat = element.current;
    const tell = (event: Event): void => newest.current.onWaiting?.((event as CustomEvent<WaitingDetail>).detail);
    chat?.addEventListener("runnel-chat-waiting", tell);
    return () => chat?.removeEventListener("runnel-chat-waiting", tell);
  }, []);
  // Before version 19, React does not know the attribute of a custom element by the name of the property.
  return createElement("runnel-chat", {
    ...attributes,
    ...(className !== undefined && { class: className }),
    ref: element,
  });
}

type BackendFunction = Exclude<Backend, string>;

async function callNewest(backend: Backend, ...call: Parameters<BackendFunction>): Promise<Response> {
  if (typeof backend === "string") {
    throw new TypeError("the backend is a URL now: the next call goes there");
  }
  return await backend(...call);
}
