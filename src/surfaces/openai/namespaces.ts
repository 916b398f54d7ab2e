// The names under which models know tools: they have no namespaces.

import { toolNameOf } from "../in-process/tool-names.ts";
import type { Fields } from "./fields.ts";

/** Returns the name under which models know a tool: `crm__find` for `find` of the namespace `crm`. */
export function modelNameOf(name: string, namespace?: string): string {
  if (namespace === undefined || namespace === "") {
    return name;
  }
  const whole = `${namespace}${namespace.endsWith("__") ? "" : "__"}${name}`.replaceAll(/[^A-Za-z0-9_-]/g, "_");
  return toolNameOf(whole);
}

/** Returns the names of tools and of those in namespaces. */
export function namesIn(tools: readonly Fields[], namespace?: string): string[] {
  return tools.flatMap((tool) => {
    const name = tool.findText("name") ?? "";
    return tool.find("type") === "namespace"
      ? namesIn(tool.findObjects("tools") ?? [], name)
      : [modelNameOf(name, namespace)];
  });
}
