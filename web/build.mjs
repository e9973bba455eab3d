// Bundles src/ into one file that stands alone: node build.mjs OUTPUT.html
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const output = process.argv[2] ?? "report.html";
const packages = new Set();
const bundle = async (entry) => {
  const result = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    target: ["es2020", "chrome90", "firefox90", "safari14"],
    legalComments: "none",
    logLevel: "warning",
  });
  for (const path of Object.keys(result.metafile.inputs)) {
    const found = path.match(/node_modules\/((?:@[^/]+\/)?[^/]+)\//);
    if (found) packages.add(found[1]);
  }
  return result.outputFiles[0].text;
};
/** The licences of what is bundled, each text once. A comment must not hold "--". */
function licences() {
  const texts = new Map();
  for (const name of [...packages].sort()) {
    const folder = `node_modules/${name}`, file = readdirSync(folder).find((f) => /^licen[cs]e/i.test(f));
    const text = file ? readFileSync(`${folder}/${file}`, "utf8").trim() : JSON.parse(readFileSync(`${folder}/package.json`, "utf8")).license;
    texts.set(text, [...(texts.get(text) ?? []), name]);
  }
  return [...texts].map(([text, names]) => `${names.join(", ")}:\n${text}`).join("\n\n").replace(/--+/g, "-");
}
const script = await bundle("src/main.ts");
const style = await bundle("src/style.css");
if (script.includes("</script") || style.includes("</style")) {
  throw new Error("the bundle would end its own element");
}
// Replacement functions: "$&" in the bundle means nothing.
const page = readFileSync("src/page.html", "utf8")
  .replace("LICENCES", licences)
  .replace("/*STYLE*/", () => style)
  .replace("/*SCRIPT*/", () => script);
writeFileSync(output, page);
