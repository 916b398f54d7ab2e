// Imported by a name that the bundler of settings does not see: Node runs the file as it is.
const { siteConfig } = await import(new URL("../../scripts/docs/site-config.ts", import.meta.url).href);

export default siteConfig;
