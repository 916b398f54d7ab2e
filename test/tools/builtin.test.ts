import { expect, test } from "vitest";
import { builtinToolNames, builtinTools, createSelectBuiltin } from "../../src/agent/tools/builtin.ts";
import { memoryToolNames } from "../../src/agent/tools/memory.ts";
import { faultOf } from "../harness/fault-of.ts";

const selectTools = createSelectBuiltin([{ name: "bash", why: "there is no jail (no bwrap): install it" }]);

test("tools keep the order in which they were requested", () => {
  expect(selectTools(["list_dir", "read_file"]).map((tool) => tool.name)).toEqual(["list_dir", "read_file"]);
  expect(selectTools([])).toEqual([]);
});

test("an unknown name is refused", () => {
  const fault = faultOf(() => selectTools(["read_file", "zap"]));
  expect(fault.reason).toBe("TOOL_UNKNOWN");
  expect(fault.message).toBe("failed to build registry: unknown builtin tool: zap");
  expect(faultOf(() => selectTools(["write_fil"])).message).toBe(
    "failed to build registry: unknown builtin tool: write_fil; did you mean write_file?",
  );
});

test("a name given twice is refused", () => {
  const fault = faultOf(() => selectTools(["list_dir", "list_dir"]));
  expect(fault.reason).toBe("INVALID_ARGUMENT");
  expect(fault.message).toBe("failed to build registry: register builtin list_dir: tool already registered: list_dir");
});

test("an unavailable tool is refused with the reason", () => {
  const fault = faultOf(() => selectTools(["read_file", "bash"]));
  expect(fault.reason).toBe("TOOL_UNSUPPORTED");
  expect(fault.message).toBe("failed to build registry: create builtin bash: there is no jail (no bwrap): install it");
});

test("metrics know every tool that can be available", () => {
  expect(builtinToolNames).toEqual([...builtinTools.map(({ name }) => name), "bash", ...memoryToolNames]);
});

test("every tool tells the model what it does and which arguments it needs", () => {
  expect(builtinTools.length).toBeGreaterThan(0);
  for (const tool of builtinTools) {
    expect(tool.description).not.toBe("");
    expect(tool.parameters).toMatchObject({ type: "object", properties: expect.anything() });
  }
});
