// Starts Swagger UI over the service's own OpenAPI document. Credentials that a person enters stay in the memory of the page.

const isDark = matchMedia("(prefers-color-scheme: dark)");
const applyTheme = () => document.documentElement.classList.toggle("dark-mode", isDark.matches);
isDark.addEventListener("change", applyTheme);
applyTheme();

window.SwaggerUIBundle({
  dom_id: "#explorer",
  url: new URL("../openapi.json", document.baseURI).href,
  deepLinking: true,
  docExpansion: "list",
  filter: true,
  // Otherwise the page would send the document's address to a service on the internet.
  validatorUrl: null,
  plugins: [writeNoHtml, linkStreams],
});

/** Swagger UI writes descriptions as HTML, which the policy of the page forbids. Paragraphs and code are all that ours have. */
function writeNoHtml({ React }) {
  const code = (part, at) => (at % 2 === 1 ? React.createElement("code", null, part) : part);
  const paragraph = (text) => React.createElement("p", null, ...text.split("`").map(code));
  const Markdown = ({ source }) =>
    React.createElement("div", { className: "markdown" }, ...String(source ?? "").split(/\n{2,}/).map(paragraph));
  return { wrapComponents: { Markdown: () => Markdown } };
}

/** Swagger UI collects a stream to its end before it shows anything. The console follows it. */
function linkStreams({ React }) {
  return {
    wrapComponents: {
      responses: (Responses) => (props) =>
        React.createElement(
          React.Fragment,
          null,
          isStream(props.responses) &&
            React.createElement(
              "p",
              { className: "opblock-description-wrapper" },
              "This answer is a stream, which this page shows only at its end. ",
              React.createElement("a", { href: "../console/runs" }, "The console shows streams live."),
            ),
          React.createElement(Responses, props),
        ),
    },
  };
}

function isStream(responses) {
  return responses.some((response) => response.hasIn(["content", "text/event-stream"]));
}
