// Opens pages in a real browser. node browser_test.mjs TOOL ARCHIVE-WRITER EXAMPLES SHARED OUTPUT
// Screenshots stay in OUTPUT. Ends with 77 (skipped), and says why, where there is no browser.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [tool, archiveWriter, examples, shared, output] = process.argv.slice(2).map((p) => resolve(p));
const browsers = ["chromium", "chromium-browser", "google-chrome"].flatMap((name) => ["/usr/bin", "/usr/local/bin"].map((folder) => join(folder, name)));
const browserPath = browsers.find((path) => existsSync(path));
if (!browserPath) {
  console.log("skipped: no chromium (Debian: chromium; scripts/install-deps installs it)");
  process.exit(77);
}
let puppeteer;
try {
  puppeteer = (await import("puppeteer-core")).default;
} catch {
  console.log("skipped: puppeteer-core is not installed (npm could not reach its packages)");
  process.exit(77);
}

if (spawnSync(tool, ["report", "no such archive", "-o", join(output, "..", "none.html")], { encoding: "utf8" }).stderr.includes("built without")) {
  console.log("skipped: the tool was built without the page (npm could not bundle it)");
  process.exit(77);
}

let failures = 0;
function expect(condition, what) {
  if (condition) return;
  failures++;
  console.log(`FAILED: ${what}`);
}

rmSync(output, { recursive: true, force: true });
mkdirSync(output, { recursive: true });

/** Runs the tool; returns what it printed. */
function entrain(codes, ...args) {
  const done = spawnSync(tool, args, { encoding: "utf8", maxBuffer: 1 << 28 });
  if (!codes.includes(done.status)) throw new Error(`entrain ${args.join(" ")} ended with ${done.status}: ${done.stderr}`);
  return done.stdout;
}

const browser = await puppeteer.launch({ executablePath: browserPath, headless: true, args: ["--no-sandbox", "--disable-gpu", "--force-color-profile=srgb"] });

/** Opens a page by file://, and holds it to what every page must do. */
async function open(path, { width = 1400, theme = "light" } = {}) {
  const page = await browser.newPage();
  const problems = [], requests = [];
  page.on("console", (m) => { if (["error", "warn", "warning"].includes(m.type())) problems.push(m.text()); });
  page.on("pageerror", (e) => problems.push(String(e)));
  page.on("request", (r) => { if (!r.url().startsWith("data:")) requests.push(r.url()); });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }]);
  await page.setViewport({ width, height: 900, deviceScaleFactor: 1 });
  const url = pathToFileURL(path).href;
  const begin = Date.now();
  await page.goto(url, { waitUntil: "load" });
  await page.waitForSelector("html[data-ready=yes]", { timeout: 30000 });
  await settle(page);
  const took = Date.now() - begin;
  expect(requests.length === 1 && requests[0] === url, `${path} at ${width}: requests only itself, not ${requests}`);
  return { page, problems, took };
}
const settle = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

/** Views that are there, show something, and are no wider than the window. */
async function checkViews(page, label) {
  const views = await page.evaluate(() => ["verdict", "offsets", "matrix", "margins", "clocks", "timelines", "collectives", "left-out"].map((id) => {
    const node = document.getElementById(id);
    const inked = [...(node?.querySelectorAll("canvas") ?? [])].some((c) => {
      const data = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
      for (let i = 3; i < data.length; i += 4) if (data[i] !== 0) return true;
      return false;
    });
    const marks = node ? node.querySelectorAll("svg rect, svg circle, svg path, tbody tr, dl dt, .tile, .empty").length : 0;
    return { id, height: node?.getBoundingClientRect().height ?? 0, text: node?.textContent.length ?? 0, marks, inked };
  }));
  for (const v of views) {
    expect(v.height > 80 && v.text > 40 && (v.marks > 0 || v.inked), `${label}: view ${v.id} is empty: ${JSON.stringify(v)}`);
  }
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  expect(wide <= 0, `${label}: the page is ${wide} pixels wider than the window`);
}

const at = (json, path) => path.split(".").reduce((value, key) => value?.[key], json);

/** Numbers in the page equal those of --json. */
async function checkNumbers(page, json, label, least = 9) {
  const shown = await page.evaluate(() => [...document.querySelectorAll("[data-json]")].map((n) => [n.dataset.json, n.dataset.value, n.textContent]));
  let compared = 0;
  for (const [path, value, text] of shown) {
    const wanted = at(json, path);
    if (wanted === undefined) continue;
    compared++;
    expect(Number(value) === (wanted ?? 0), `${label}: ${path} is ${value} in the page, ${wanted} in --json`);
    if (Number.isInteger(wanted)) expect(text.replace(/,/g, "") === String(wanted) || path.endsWith("share"), `${label}: ${path} reads ${text}, not ${wanted}`);
  }
  expect(compared >= least, `${label}: only ${compared} numbers could be compared`);
}

async function drawn(page, selector) {
  return page.$eval(selector, (n) => n.dataset.sum ?? n.dataset.total ?? n.innerHTML);
}
const press = async (page, selector) => { await page.$eval(selector, (n) => n.click()); await settle(page); };

async function checkSwitch(page, label) {
  const plots = ["#offsets .plot", "#margins .plot", ".matrix-plot", "#collectives .scatter"];
  const before = [];
  for (const plot of plots) before.push(await drawn(page, plot));
  await press(page, "header [data-value=after]");
  for (const [i, plot] of plots.entries()) expect((await drawn(page, plot)) !== before[i], `${label}: before and after look the same in ${plot}`);
  const total = await drawn(page, ".matrix-plot");
  expect(total === "0", `${label}: ${total} violations in the matrix after the correction`);
  await press(page, "header [data-value=before]");
  for (const [i, plot] of plots.entries()) expect((await drawn(page, plot)) === before[i], `${label}: ${plot} does not come back`);
}

async function checkCell(page, label) {
  const [from, to] = await page.$eval("#matrix .pair", (n) => [Number(n.dataset.from), Number(n.dataset.to)]);
  // By the mouse, in the matrix itself.
  await page.$eval("#matrix", (n) => n.scrollIntoView());
  const rows = await page.evaluate(() => JSON.parse(document.getElementById("data").textContent).matrix.names.length);
  const box = await (await page.$(".matrix-plot canvas")).boundingBox();
  await page.focus(".matrix-plot canvas");
  for (let i = 0; i < rows; i++) { await page.keyboard.press("ArrowUp"); await page.keyboard.press("ArrowLeft"); }
  for (let i = 0; i < from; i++) await page.keyboard.press("ArrowDown");
  for (let i = 0; i < to; i++) await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await settle(page);
  const edges = await page.$$eval("#matrix .edges tbody tr", (list) => list.length);
  expect(edges > 0, `${label}: a picked cell shows no edges`);
  const picked = await page.$eval(".picked-clock", (n) => !n.hidden);
  expect(picked, `${label}: a picked cell picks its clock`);
  await page.keyboard.press("Enter");
  await press(page, ".picked-clock");
  await page.mouse.click(box.x + box.width - 12, box.y + box.height - 12);
  await settle(page);
  expect((await page.$("#matrix .detail-head")) !== null, `${label}: a click on the matrix opens a pair`);
  await press(page, "#matrix .close");
  if (await page.$eval(".picked-clock", (n) => !n.hidden)) await press(page, ".picked-clock");
}

async function checkPicking(page, label) {
  const clock = await page.$eval("#clocks tbody tr", (n) => n.dataset.clock);
  await press(page, `#clocks tbody tr[data-clock="${clock}"] .link`);
  const seen = await page.evaluate((c) => ({
    row: document.querySelector(`#clocks tr[data-clock="${c}"]`).className,
    chip: document.querySelector(`#offsets .chip[data-clock="${c}"]`)?.getAttribute("aria-pressed"),
    header: document.querySelector(".picked-clock").textContent,
    marked: document.querySelectorAll("#timelines .marked").length,
  }), clock);
  expect(seen.row === "picked" && seen.chip === "true" && seen.header.length > 2, `${label}: a clock picked in the table is picked in all views: ${JSON.stringify(seen)}`);
  await press(page, `#offsets .chip[data-clock="${clock}"]`);
  const left = await page.$$eval("#clocks tr.picked", (list) => list.length);
  expect(left === 0, `${label}: a clock that the plot drops is dropped in the table`);
}

async function checkTable(page, label) {
  await press(page, "#clocks thead button[data-key=drift_ppm]");
  const rates = await page.evaluate(() => {
    const column = [...document.querySelectorAll("#clocks thead button")].findIndex((b) => b.dataset.key === "drift_ppm");
    return [...document.querySelectorAll("#clocks tbody tr")].map((r) => Math.abs(Number(r.cells[column].dataset.value ?? 0)));
  });
  expect(rates.every((r, i) => i === 0 || r <= rates[i - 1]), `${label}: the table is not sorted by drift: ${rates}`);
}

/** The command under the time lines writes what it says. */
async function checkCommand(page, label) {
  const command = await page.$eval("#timelines code", (n) => n.textContent);
  const done = spawnSync("sh", ["-c", command.replace(/^entrain/, `'${tool}'`).replace(/worst\.pftrace$/, `'${output}/${label}.pftrace'`)], { encoding: "utf8" });
  expect(command.includes("--around worst:") && done.status === 0, `${label}: ${command} ended with ${done.status}: ${done.stderr}`);
}

async function shoot(path, name) {
  for (const width of [1400, 400]) for (const theme of ["light", "dark"]) {
    const { page, problems } = await open(path, { width, theme });
    await checkViews(page, `${name} ${width} ${theme}`);
    expect(problems.length === 0, `${name} ${width} ${theme}: console: ${problems.join("; ")}`);
    await page.screenshot({ path: join(output, `${name}-${width}-${theme}.png`), fullPage: true });
    await page.close();
  }
}

/** A trace through `report`, in every respect. */
async function checkReport(trace, name, { clean = false, bounds = [] } = {}) {
  const path = join(output, `${name}.html`);
  const json = JSON.parse(entrain([0, 1, 3], "report", trace, "-o", path, "--json", ...bounds));
  await shoot(path, name);
  const { page, problems } = await open(path);
  await checkNumbers(page, json, name);
  if (!clean) {
    await checkSwitch(page, name);
    await checkCell(page, name);
    await checkPicking(page, name);
    await checkTable(page, name);
    await checkCommand(page, name);
  }
  expect(problems.length === 0, `${name}: console: ${problems.join("; ")}`);
  await page.close();
  return path;
}

async function checkCheckAndCorrect() {
  const checked = join(output, "check.html"), corrected = join(output, "correct.html"), lulesh = join(examples, "lulesh-8");
  const json = JSON.parse(entrain([1], "check", lulesh, "--report", checked, "--json"));
  let { page } = await open(checked);
  await checkViews(page, "check");
  await checkNumbers(page, { before: json }, "check");
  expect((await page.$("header [data-value=after]")) === null, "check: there is nothing to switch to");
  await page.close();
  const all = JSON.parse(entrain([0], "correct", lulesh, "-o", join(output, "corrected"), "--report", corrected, "--json"));
  ({ page } = await open(corrected));
  await checkNumbers(page, all, "correct");
  await page.close();
}

async function checkHostile() {
  const folder = join(output, "hostile-archive");
  execFileSync(archiveWriter, ["hostile", folder]);
  const path = await checkReport(folder, "hostile");
  const { page, problems } = await open(path);
  const state = await page.evaluate(() => ({ hostile: document.hostile, scripts: document.scripts.length, images: document.images.length, title: document.title,
    longest: Math.max(...[...document.querySelectorAll("bdi")].map((n) => n.textContent.length)) }));
  expect(state.hostile === undefined && state.scripts === 2 && state.images === 0, `hostile names became markup: ${JSON.stringify(state)}`);
  expect(state.longest <= 130, `a name of ${state.longest} characters is shown`);
  expect(problems.length === 0, `hostile: console: ${problems.join("; ")}`);
  await page.close();
}

/** Traces with nothing to draw, or too little to judge. */
async function checkOdd() {
  for (const [kind, verdict] of [["serial", "clean"], ["one", "clean"], ["unproven", "unproven"]]) {
    const folder = join(output, `${kind}-archive`), path = join(output, `${kind}.html`);
    execFileSync(archiveWriter, [kind, folder]);
    entrain([0, 3], "report", folder, "-o", path);
    await shoot(path, kind);
    const { page, problems } = await open(path);
    const said = await page.$eval("#verdict .pill", (n) => n.textContent.toLowerCase());
    expect(said === verdict, `${kind}: the verdict is ${said}, not ${verdict}`);
    await press(page, "header [data-value=after]");
    await press(page, "#clocks .link");
    expect(problems.length === 0, `${kind}: console: ${problems.join("; ")}`);
    await page.close();
  }
}

async function checkMany() {
  const folder = join(output, "many"), path = join(output, "many.html");
  entrain([0], "synth", "-o", folder, "--pattern", "stencil2d", "--locations", "600", "--events", "120000", "--seed", "7");
  entrain([0], "distort", folder, "-o", `${folder}-skewed`, "--seed", "7");
  entrain([1], "check", `${folder}-skewed`, "--report", path);
  expect(statSync(path).size < 3e6, `a page of 600 processes has ${statSync(path).size} bytes`);
  const { page, problems } = await open(path);
  await checkViews(page, "many");
  expect(problems.length === 0, `many: console: ${problems.join("; ")}`);
  await page.screenshot({ path: join(output, "many-1400-light.png"), fullPage: true });
  await page.close();
}

/** sweep3d-4 is not part of the project; its violations are known. */
async function checkSweep() {
  const trace = join(shared, "../field/sweep3d-4/otf2");
  if (!existsSync(trace)) { console.log("skipped: sweep3d-4 is not there"); return; }
  const path = await checkReport(trace, "sweep3d");
  const { page } = await open(path);
  const cells = await page.evaluate(() => {
    const data = JSON.parse(document.getElementById("data").textContent);
    const of = (cells) => Object.fromEntries(cells.filter((c) => c[2] === 0 && c[4] > 0).map((c) => [`${c[0]},${c[1]}`, c[4]]));
    return { before: of(data.matrix.before), after: of(data.matrix.after) };
  });
  const wanted = { "1,0": 719, "1,3": 720, "2,0": 720, "2,3": 720 };
  expect(JSON.stringify(cells.before) === JSON.stringify(wanted), `sweep3d: the matrix has ${JSON.stringify(cells.before)}`);
  expect(Object.keys(cells.after).length === 0, `sweep3d: after the correction ${JSON.stringify(cells.after)}`);
  await page.close();
}

/** Traces that hold edges and times, but no calls around them. */
async function checkRecordings() {
  const skewed = join(output, "training-skewed");
  entrain([0], "distort", join(examples, "../training"), "-o", skewed, "--offset-s", "0.01", "--drift-ppm", "50", "--seed", "7");
  for (const [trace, name, family] of [[skewed, "training", 1], [join(examples, "../services/ascend.json"), "services", 0]]) {
    const path = join(output, `${name}.html`);
    const json = JSON.parse(entrain([1], "report", trace, "-o", path, "--json"));
    await shoot(path, name);
    const { page, problems } = await open(path);
    await checkNumbers(page, json, name, 7); // edges of one kind only
    await checkCell(page, name);
    await checkPicking(page, name);
    await checkTable(page, name);
    const seen = await page.evaluate(() => ({ text: document.getElementById("timelines").textContent, collectives: document.getElementById("collectives").textContent, cells: JSON.parse(document.getElementById("data").textContent).matrix }));
    expect(seen.text.includes("No calls are known around it."), `${name}: the worst edges say that no calls are known`);
    expect(seen.collectives.includes("has no collective operation") === (family === 0), `${name}: collectives: ${seen.collectives}`);
    const violations = (cells) => cells.filter((c) => c[2] === family).reduce((sum, c) => sum + c[4], 0);
    expect(violations(seen.cells.before) > 0 && violations(seen.cells.after) === 0, `${name}: violations before and after: ${JSON.stringify(seen.cells)}`);
    const before = await drawn(page, ".matrix-plot");
    await press(page, "header [data-value=after]");
    expect(before !== "0" && (await drawn(page, ".matrix-plot")) === "0", `${name}: the matrix shows the violations of before only`);
    expect(problems.length === 0, `${name}: console: ${problems.join("; ")}`);
    await page.close();
  }
}

/** Edges without an archive: the same page, but nothing to export. */
async function checkAlign() {
  const edges = join(output, "edges.csv"), path = join(output, "align.html");
  entrain([0], "edges", join(examples, "lulesh-8"), "-o", edges);
  const json = JSON.parse(entrain([0, 1], "align", edges, "--report", path, "--bounds", "--json"));
  await shoot(path, "align");
  const { page, problems } = await open(path);
  await checkNumbers(page, json, "align");
  await checkCell(page, "align");
  await checkPicking(page, "align");
  const seen = await page.evaluate(() => ({ command: document.querySelector("#timelines code"), verdict: document.getElementById("verdict").textContent, bound: document.querySelector("[data-json=bound_s]")?.dataset.value }));
  expect(seen.command === null, "align: a table of edges cannot be exported, so no command is told");
  expect(seen.verdict.includes("by the clocks as measured") && /by these clock maps/i.test(seen.verdict), `align: the verdict is ${seen.verdict}`);
  expect(Number(seen.bound) === json.bounds.worst.bound_s, `align: the bound is ${seen.bound}, not ${json.bounds.worst.bound_s}`);
  const text = await page.evaluate(() => document.body.textContent);
  expect(text.includes(`within ${json.bounds.mean_rate_ppm} ppm of `), "align: what is assumed of mean rates is not told");
  expect(problems.length === 0, `align: console: ${problems.join("; ")}`);
  await page.close();
}

/** Recorded traces that are not part of the project. */
async function checkShared() {
  for (const [trace, name] of [["allops-4", "allops"], ["amg-8", "amg"], ["../field/sst-10", "sst"]]) {
    const from = join(shared, trace), path = join(output, `${name}.html`);
    if (!existsSync(from)) { console.log(`skipped: ${trace} is not there`); continue; }
    const json = JSON.parse(entrain([0, 1, 3], "report", from, "-o", path, "--json"));
    await shoot(path, name);
    const { page, problems } = await open(path);
    await checkNumbers(page, json, name);
    await checkPicking(page, name);
    expect(problems.length === 0, `${name}: console: ${problems.join("; ")}`);
    await page.close();
  }
}

try {
  await checkReport(join(examples, "lulesh-8"), "lulesh");
  await checkReport(join(examples, "lulesh-8.truth"), "clean", { clean: true });
  await checkCheckAndCorrect();
  await checkHostile();
  await checkOdd();
  await checkMany();
  await checkRecordings();
  await checkAlign();
  await checkSweep();
  await checkShared();
} catch (error) {
  failures++;
  console.log(error.stack);
} finally {
  await browser.close();
}
console.log(failures === 0 ? `all well; screenshots are in ${output}` : `${failures} failures`);
process.exit(failures === 0 ? 0 : 1);
