// Bundles src/ into one file that stands alone: node build.mjs OUTPUT.html
import { readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const output = process.argv[2] ?? "report.html";
const bundle = async (entry) => {
  const result = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    target: ["es2020", "chrome90", "firefox90", "safari14"],
    legalComments: "none",
    logLevel: "warning",
  });
  return result.outputFiles[0].text;
};
const script = await bundle("src/main.ts");
const style = await bundle("src/style.css");
if (script.includes("</script") || style.includes("</style")) {
  throw new Error("the bundle would end its own element");
}
// Replacement functions: "$&" in the bundle means nothing.
const page = readFileSync("src/page.html", "utf8")
  .replace("/*STYLE*/", () => style)
  .replace("/*SCRIPT*/", () => script);
writeFileSync(output, page);
