// What `serve` requires of the settings of models.

import { keys, type SettingsTable } from "../../platform/config/keys.ts";
import { demoModelName } from "./demo/demo-model.ts";
import { hasService, isAnyConfigured, providers, settingsThatConfigure } from "./providers.ts";

const configuring = providers.map(settingsThatConfigure);
const [first, ...others] = configuring.map(([name]) => keys[name].variables[0]);
const shortened = others.map((variable) => variable.replace(/^RUNNEL_PROVIDERS/, "…"));

/** The requirements of models, for the table of settings. */
export const modelRequirements: Pick<SettingsTable, "requirements" | "serverKeys"> = {
  requirements: [
    {
      name: "at least one provider key/url",
      isMet: (config) => isAnyConfigured(config) || config.defaultModel === demoModelName,
      keys: configuring.flat(),
      fix:
        `Runs need a model: set ${[first, ...shortened.slice(0, -1)].join(", ")} or ${shortened.at(-1)}, ` +
        "or RUNNEL_DEFAULTS_MODEL=demo.",
    },
  ],
  serverKeys: [
    ...providers.filter((provider) => !hasService(provider)).map(({ key, baseUrl }) => [key, baseUrl] as const),
    ["rerankKey", "rerankBaseUrl"],
  ],
};
