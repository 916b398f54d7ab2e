// The call of the form in other languages, to paste.

import { useState } from "react";
import { serviceUrl } from "../api/transport.ts";
import { CodeBlock } from "../ui/code-block.tsx";
import { Tabs } from "../ui/tabs.tsx";
import type { Draft } from "./draft.ts";
import { type Language, languages, writeCall } from "./write-call.ts";

const codeLanguages = {
  curl: "bash",
  grpc: "bash",
  typescript: "typescript",
  python: "python",
  go: "go",
  openai: "typescript",
} as const satisfies Record<Language, string>;

export function CallExamples({ draft }: { readonly draft: Draft }) {
  const [language, setLanguage] = useState<Language>("curl");
  return (
    <section className="examples" aria-label="The same call as code">
      <h2>The same call</h2>
      <Tabs label="Language" tabs={languages} chosen={language} onChoose={setLanguage}>
        <CodeBlock
          label={languages[language]}
          text={writeCall(language, draft, serviceUrl)}
          language={codeLanguages[language]}
        />
      </Tabs>
      <p className="hint">
        With credentials, send the key as <code>Authorization: Bearer …</code>. The lines contain no key.
      </p>
    </section>
  );
}
