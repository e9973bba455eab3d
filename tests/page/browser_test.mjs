// Opens pages in a real browser. node browser_test.mjs TOOL ARCHIVE-WRITER EXAMPLES SHARED OUTPUT
// Screenshots stay in OUTPUT. Ends with 77 (skipped), and says why, where there is no browser.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
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

// `make test` looks at most pages in two ways of four, and not at traces beside the project.
const everything = Boolean(process.env.ENTRAIN_EVERY_REPETITION);
const views = [[1400, "light"], [400, "light"], [700, "light"], [1400, "dark"]];

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
const frames = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

/** Opens a page by file://, and holds it to what every page must do. */
async function open(path, { width = 1400, theme = "light", hash = "" } = {}) {
  const page = await browser.newPage();
  const problems = [], requests = [];
  page.on("console", (m) => { if (["error", "warn", "warning"].includes(m.type())) problems.push(m.text()); });
  page.on("pageerror", (e) => problems.push(String(e)));
  page.on("request", (r) => { if (!r.url().startsWith("data:")) requests.push(r.url()); });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }]);
  await page.setViewport({ width, height: 900, deviceScaleFactor: 1 });
  const url = pathToFileURL(path).href;
  await page.goto(url + hash, { waitUntil: "load" });
  await page.waitForSelector("html[data-ready=yes]", { timeout: 30000 });
  await frames(page);
  expect(requests.length === 1 && requests[0].split("#")[0] === url, `${path} at ${width}: requests only itself, not ${requests}`);
  return { page, problems };
}
const dataOf = (page) => page.$eval("#data", (n) => JSON.parse(n.textContent));
const press = async (page, selector) => { await page.$eval(selector, (n) => n.dispatchEvent(new MouseEvent("click", { bubbles: true }))); await frames(page); };

const focus = (page, selector) => page.$eval(selector, (n) => n.focus());

/** Sections show something, nothing is cut off, and no page is wider than its window. */
async function checkViews(page, label) {
  const seen = await page.evaluate(() => ({
    wide: document.documentElement.scrollWidth - innerWidth,
    sections: [...document.querySelectorAll("main > section")].map((n) => ({ id: n.id, height: n.getBoundingClientRect().height, text: n.textContent.length })),
    plots: [...document.querySelectorAll(".plot")].filter((n) => n.querySelectorAll("svg rect, svg circle, svg path, svg line").length < 2).map((n) => n.parentElement.id),
    cut: [...document.querySelectorAll(".plot svg text")].filter((n) => { const t = n.getBoundingClientRect(), s = n.closest("section").getBoundingClientRect(); return t.width > 0 && (t.left < s.left || t.right > s.right); }).map((n) => `${n.closest("figure").id}: ${n.textContent}`),
    void: /\b(undefined|NaN|null|Infinity)\b/.exec(document.querySelector("main").innerText.replaceAll("NULL", ""))?.[0],
  }));
  for (const s of seen.sections) expect(s.height > 50 && s.text > 40, `${label}: section ${s.id} is empty: ${JSON.stringify(s)}`);
  expect(seen.plots.length === 0, `${label}: empty plots: ${seen.plots}`);
  expect(seen.wide <= 0, `${label}: the page is ${seen.wide} pixels wider than the window`);
  expect(seen.cut.length === 0, `${label}: texts that leave their section: ${seen.cut.slice(0, 5).join("; ")}`);
  expect(seen.void === undefined, `${label}: the page says ${seen.void}`);
  return seen.sections.map((s) => s.id);
}

const at = (json, path) => path.split(".").reduce((value, key) => value?.[key], json);

/** Numbers and names in the page equal those of --json. */
async function checkNumbers(page, json, label, least = 7) {
  const shown = await page.evaluate(() => [...document.querySelectorAll("[data-json]")].map((n) => [n.dataset.json, n.dataset.value, n.textContent]));
  let compared = 0;
  for (const [path, value, text] of shown) {
    const wanted = at(json, path);
    if (wanted === undefined) continue;
    compared++;
    expect(Number(value) === (wanted ?? 0), `${label}: ${path} is ${value} in the page, ${wanted} in --json`);
    if (Number.isInteger(wanted)) expect(text.replace(/,/g, "") === String(wanted) || (text === "none" && wanted === 0) || path.endsWith("share"), `${label}: ${path} reads ${text}, not ${wanted}`);
  }
  expect(compared >= least, `${label}: only ${compared} numbers could be compared`);
  const data = await dataOf(page), headline = await page.$eval("h1", (n) => n.textContent), plain = (text) => text.replaceAll("\u00a0", " ").replaceAll("\u00b5", "u");
  const check = data.check ?? (data.correct ?? data.align).before, all = Object.values(check.edges).reduce((sum, e) => sum + e.count, 0);
  const counted = Object.entries(check.edges).filter(([kind, e]) => e.worst_s !== null && (kind !== "init_finalize" || all === check.checked_edges)).map(([, e]) => e.worst_s);
  const worst = await page.$eval("[data-json=worst_s]", (n) => Number(n.dataset.value)).catch(() => null);
  expect(worst === null || counted.length === 0 || worst === Math.min(...counted), `${label}: the worst is ${worst}, not ${Math.min(...counted)}`);
  if (data.table.sentence) expect(plain(headline) === data.table.sentence, `${label}: the headline is ${headline}, not ${data.table.sentence}`);
  expect(JSON.stringify(data.table.clocks.map((r) => [r.offset_s, r.state])) === JSON.stringify((json.clocks ?? []).map((r) => [r.offset_s, r.state])), `${label}: the clocks differ from --json`);
}

/** A bar per clock: never empty, before and after at once (up to 24 clocks; more are dots too). */
async function checkBars(page, label) {
  const seen = await page.evaluate(() => ({ offsets: [...document.querySelectorAll("#offsets-picture .m-offset rect")].map((n) => n.getBoundingClientRect().width),
    after: document.querySelectorAll("#offsets-picture .m-after rect").length, rows: document.querySelectorAll("#offsets-picture .m-row rect").length, dots: document.querySelectorAll("#offsets-picture .m-dots circle").length }));
  const { table } = await dataOf(page), known = table.clocks.filter((r) => r.offset_s !== null).length;
  expect(Math.max(...seen.offsets) > 60 && seen.after > 0, `${label}: the bars are ${JSON.stringify(seen)}`);
  expect(seen.rows === table.clocks.length || seen.dots === known, `${label}: of ${known} clocks ${seen.rows} have bars and ${seen.dots} dots`);
}

/** Squares larger than their borders, counts whole and inside of theirs. */
async function checkMatrix(page, label) {
  const seen = await page.evaluate(() => {
    const { names } = JSON.parse(document.getElementById("data").textContent).matrix, cells = [...document.querySelectorAll("#pairs-picture .m-cells rect")].map((n) => n.getBoundingClientRect());
    return { rows: names.length, least: Math.min(...cells.map((c) => c.width)), cell: cells[0].width,
      counts: [...document.querySelectorAll("#pairs-picture .m-counts text")].map((n) => [n.textContent, n.getBoundingClientRect().width]) };
  });
  expect(seen.rows <= 64 && seen.least >= 4, `${label}: ${seen.rows} rows, squares of ${seen.least} pixels`);
  for (const [text, width] of seen.counts) expect(/^(\d{1,3}|\d\.\d[kMG]|\d{2,3}[kMG])$/.test(text) && width <= seen.cell, `${label}: a count reads ${text}, ${width} pixels in a square of ${seen.cell}`);
}

async function checkCell(page, label) {
  await press(page, "#matrix .pair");
  expect((await page.$$("#matrix .edges tbody tr")).length > 0 && (await page.$("#matrix .opened")) !== null, `${label}: a picked pair shows no edges`);
  await press(page, "#matrix .close");
  await press(page, "#pairs-picture .m-cells rect:last-child");
  expect((await page.$("#matrix .detail-head")) !== null, `${label}: a click on the matrix opens a pair`);
  await press(page, "#matrix .close");
  await focus(page, "[data-key=matrix]");
  for (const key of ["ArrowDown", "ArrowRight", "ArrowRight", "ArrowLeft", "Enter"]) await page.keyboard.press(key);
  await frames(page);
  expect((await page.$("#matrix .detail-head")) !== null, `${label}: the keyboard opens a pair`);
  await press(page, "#matrix .close");
  if (!(await page.$("#matrix [data-value=after]"))) return;
  const total = () => page.$eval("[data-key=matrix]", (n) => Number(n.dataset.total)), before = await total();
  await press(page, "#matrix [data-value=after]");
  expect(before > 0 && (await total()) === 0, `${label}: the matrix has ${before} violations before, ${await total()} after`);
  await press(page, "#matrix [data-value=before]");
}

/** What is picked by the keyboard is picked in all views, survives a reload, and comes back. */
async function checkState(page, label) {
  await focus(page, "[data-key=row-1]");
  await page.keyboard.press("Enter");
  await press(page, "#clocks thead button[data-key=drift_ppm]");
  await press(page, "#timelines .edge-list button:last-child");
  await press(page, "#matrix .pair");
  await press(page, ".theme");
  const state = () => page.evaluate(() => [document.documentElement.dataset.theme, document.querySelector("#clocks tr.picked")?.dataset.clock, document.querySelector(".picked-clock").textContent, document.querySelector("#clocks [aria-sort=descending]")?.textContent,
    document.querySelector("#matrix .detail-head h3")?.textContent, document.querySelector("#timelines [aria-pressed=true]").textContent, document.querySelectorAll("#timelines .edge-list button").length]);
  const before = await state();
  const rates = await page.$$eval("#clocks tbody [data-column=drift_ppm]", (list) => list.map((n) => Math.abs(Number(n.dataset.value ?? 0))));
  expect(rates.every((r, i) => i === 0 || r <= rates[i - 1]), `${label}: the table is not sorted by drift: ${rates}`);
  await page.reload();
  await page.waitForSelector("html[data-ready=yes]");
  await frames(page);
  const after = await state();
  expect(JSON.stringify(before) === JSON.stringify(after) && before.every((v) => v), `${label}: after a reload ${JSON.stringify(after)}, not ${JSON.stringify(before)}`);
  await press(page, ".picked-clock");
  expect((await page.$("#clocks tr.picked")) === null, `${label}: a clock that is dropped is dropped in the table`);
}

/** Pictures are saved as files that need nothing else. */
async function checkSaving(page, label) {
  const saved = await page.evaluate(async () => {
    const urls = [], click = HTMLAnchorElement.prototype.click;
    HTMLAnchorElement.prototype.click = function () { urls.push([this.download, this.href]); };
    for (const button of document.querySelectorAll("[data-save]")) button.click();
    for (let i = 0; i < 100 && urls.length < document.querySelectorAll("[data-save]").length; i++) await new Promise((done) => setTimeout(done, 50));
    HTMLAnchorElement.prototype.click = click;
    return urls;
  });
  expect(saved.length >= 6 && saved.length % 2 === 0, `${label}: ${saved.length} pictures are saved`);
  for (const [name, url] of saved) {
    const text = name.endsWith(".svg") ? decodeURIComponent(url.slice(url.indexOf(",") + 1)) : "";
    expect(text ? text.startsWith("<svg") && !text.includes("var(--") && text.includes("<text") : url.startsWith("data:image/png;base64,iVBOR") && url.length > 5000, `${label}: ${name} is not a whole picture: ${url.slice(0, 80)}`);
  }
}

/** One sheet of A4 that holds the answer, without anything to press. */
async function checkPaper(page, label) {
  const pdf = Buffer.from(await page.pdf({ preferCSSPageSize: true, printBackground: true })).toString("latin1"), pages = (pdf.match(/\/Type\s*\/Page[^s]/g) ?? []).length;
  await page.emulateMediaType("print");
  const buttons = await page.$$eval("button, input", (list) => list.filter((n) => n.checkVisibility() && !n.classList.contains("link") && !n.closest("thead")).length), shown = await page.$eval("h1", (n) => n.checkVisibility());
  await page.emulateMediaType("screen");
  expect(pages === 1 && buttons === 0 && shown, `${label}: ${pages} pages are printed, with ${buttons} buttons`);
}

/** The command under the time lines writes what it says. */
async function checkCommand(page, label) {
  const command = await page.$eval("#timelines code", (n) => n.textContent);
  const done = spawnSync("sh", ["-c", command.replace(/^entrain/, `'${tool}'`).replace(/worst\.pftrace$/, `'${output}/${label}.pftrace'`)], { encoding: "utf8" });
  expect(command.includes("--around worst:") && done.status === 0, `${label}: ${command} ended with ${done.status}: ${done.stderr}`);
}

/** Without scripts the page tells the verdict and the clocks. */
async function checkWithoutScripts(path, label) {
  const page = await browser.newPage();
  await page.setJavaScriptEnabled(false);
  await page.goto(pathToFileURL(path).href);
  const text = await page.$eval("noscript", (n) => n.innerText), policy = readFileSync(path, "utf8").includes(`content="default-src 'none';`);
  expect(/edges|checked/.test(text) && /clock/.test(text) && policy, `${label}: without scripts the page says: ${text.slice(0, 200)}`);
  await page.close();
}

async function shoot(path, name) {
  let sections = [];
  for (const [width, theme] of everything || ["lulesh", "align"].includes(name) ? views : views.slice(0, 2)) {
    const { page, problems } = await open(path, { width, theme });
    sections = await checkViews(page, `${name} ${width} ${theme}`);
    expect(problems.length === 0, `${name} ${width} ${theme}: console: ${problems.join("; ")}`);
    await page.screenshot({ path: join(output, `${name}-${width}-${theme}.png`), fullPage: true });
    await page.close();
  }
  return sections;
}

/** A trace through `report`, in every respect. */
async function checkReport(trace, name, { without = [], words = [], never = null, least = 7 } = {}) {
  const path = join(output, `${name}.html`), json = JSON.parse(entrain([0, 1, 3], "report", trace, "-o", path, "--json", "--bounds"));
  const sections = await shoot(path, name), wrong = json.before.violations > 0;
  for (const id of without) expect(!sections.includes(id), `${name}: there is a section ${id}`);
  const { page, problems } = await open(path);
  await checkNumbers(page, json, name, least);
  const text = await page.$eval("main", (n) => n.innerText);
  for (const word of words) expect(text.includes(word), `${name}: the page does not say ${word}`);
  expect(!never || !never.test(text), `${name}: the page says ${never?.exec(text)?.[0]}`);
  if (wrong) {
    await checkBars(page, name);
    await checkMatrix(page, name);
    await checkCell(page, name);
    await checkState(page, name);
    await checkCommand(page, name);
  }
  await checkSaving(page, name);
  await checkPaper(page, name);
  await checkWithoutScripts(path, name);
  expect(problems.length === 0, `${name}: console: ${problems.join("; ")}`);
  await page.close();
  return path;
}

async function checkCheckAndCorrect() {
  const checked = join(output, "check.html"), corrected = join(output, "correct.html"), lulesh = join(examples, "lulesh-8");
  const json = JSON.parse(entrain([1], "check", lulesh, "--report", checked, "--json"));
  let { page } = await open(checked);
  await checkViews(page, "check");
  await checkNumbers(page, { before: json, clocks: json.clocks }, "check", 5);
  expect((await page.$("#matrix [data-value=after]")) === null, "check: there is nothing to switch to");
  await page.close();
  const all = JSON.parse(entrain([0], "correct", lulesh, "-o", join(output, "corrected"), "--report", corrected, "--json"));
  ({ page } = await open(corrected));
  await checkNumbers(page, all, "correct");
  expect((await page.$eval(".next code", (n) => n.textContent)).endsWith("corrected"), "correct: the page does not name what was written");
  await page.close();
}

async function checkHostile() {
  const folder = join(output, "hostile-archive");
  execFileSync(archiveWriter, ["hostile", folder]);
  const { page, problems } = await open(await checkReport(folder, "hostile"));
  const state = await page.evaluate(() => ({ hostile: document.hostile, scripts: document.scripts.length, images: document.images.length, longest: Math.max(...[...document.querySelectorAll("bdi, svg text")].map((n) => n.textContent.length)) }));
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
    const sections = await shoot(path, kind), { page, problems } = await open(path, { hash: "#view=matrix&clock=nobody&pair=a%0Ab&edge=99&range=x" });
    const said = await page.$eval("#verdict .pill", (n) => n.textContent.toLowerCase());
    expect(said === verdict, `${kind}: the verdict is ${said}, not ${verdict}`);
    expect(kind === "unproven" || !["timelines", "matrix", "margins", "collectives", "curves"].some((id) => sections.includes(id)), `${kind}: sections without content: ${sections}`);
    expect(problems.length === 0, `${kind}: console: ${problems.join("; ")}`);
    await page.close();
  }
}

/** Kinds of traces that are made here: spans, training runs, 600 locations. */
async function checkSynthetic() {
  const made = (name, synth, ...distort) => {
    const folder = join(output, `${name}-truth`);
    entrain([0], "synth", "-o", folder, "--seed", "7", ...synth);
    entrain([0], "distort", folder, "-o", join(output, `${name}-skewed`), "--seed", "7", ...distort);
    return join(output, `${name}-skewed`);
  };
  const services = { without: ["collectives"], words: ["host", "requests and replies", "span"], never: /\bMPI\b|collective|\brank\b|machine/i, least: 5 };
  await checkReport(made("hosts", ["--format", "otlp", "--locations", "20", "--events", "20000"]), "hosts", services);
  await checkReport(join(examples, "../services/ascend.json"), "services", { ...services, never: /collective/i });
  await checkReport(made("ranks", ["--format", "chrome", "--locations", "64", "--events", "40000"]), "ranks", { without: ["curves"], words: ["rank", "kernel launches", "ncclDevKernel"], never: /\bMPI\b|machine/ });
  const many = await checkReport(made("many", ["--pattern", "stencil2d", "--locations", "600", "--events", "120000"], "--sessions", "0"), "many", { words: ["600 on 75 machines"] });
  expect(statSync(many).size < 3e6, `a page of 600 processes has ${statSync(many).size} bytes`);
}

/** Edges without an archive: the same page, but nothing to export. */
async function checkAlign() {
  const edges = join(output, "edges.csv"), path = join(output, "align.html");
  entrain([0], "edges", join(examples, "lulesh-8"), "-o", edges);
  const json = JSON.parse(entrain([0, 1], "align", edges, "--report", path, "--bounds", "--json"));
  await shoot(path, "align");
  const { page, problems } = await open(path);
  await checkNumbers(page, json, "align", 5);
  await checkBars(page, "align");
  await checkCell(page, "align");
  const text = await page.evaluate(() => document.body.textContent), bound = await page.$eval("[data-json=bound_s]", (n) => n.dataset.value);
  expect((await page.$("#timelines code")) === null, "align: a table of edges cannot be exported, so no command is told");
  expect(text.includes("by the clocks as measured") && /by these clock maps/i.test(text), "align: the verdict is told");
  expect(Number(bound) === json.bounds.worst.bound_s, `align: the bound is ${bound}, not ${json.bounds.worst.bound_s}`);
  expect(text.includes(`within ${json.bounds.mean_rate_ppm} ppm of `), "align: what is assumed of mean rates is not told");
  expect(problems.length === 0, `align: console: ${problems.join("; ")}`);
  await page.close();
}

/** sweep3d-4 is not part of the project; its violations are known. */
async function checkSweep() {
  const trace = join(shared, "../field/sweep3d-4/otf2");
  if (!existsSync(trace)) { console.log("skipped: sweep3d-4 is not there"); return; }
  const { page } = await open(await checkReport(trace, "sweep3d"));
  const { before, after } = (await dataOf(page)).matrix, of = (cells) => Object.fromEntries(cells.filter((c) => c[2] === 0 && c[4] > 0).map((c) => [`${c[0]},${c[1]}`, c[4]]));
  const wanted = { "1,0": 719, "1,3": 720, "2,0": 720, "2,3": 720 };
  expect(JSON.stringify(of(before)) === JSON.stringify(wanted) && Object.keys(of(after)).length === 0, `sweep3d: the matrix has ${JSON.stringify(of(before))}, after ${JSON.stringify(of(after))}`);
  await page.close();
}

/** Recorded traces that are not part of the project. */
async function checkShared() {
  for (const [trace, name] of [["allops-4", "allops"], ["amg-8", "amg"], ["../field/sst-10", "sst"], ["../field/sst-10-nosessions", "sst-far"]]) {
    if (existsSync(join(shared, trace))) await checkReport(join(shared, trace), name);
    else console.log(`skipped: ${trace} is not there`);
  }
}

try {
  await checkReport(join(examples, "lulesh-8"), "lulesh", { words: ["MPI Rank 0", "messages and pairs in collectives", "MPI_Allreduce"] });
  await checkReport(join(examples, "lulesh-8.truth"), "clean", { words: ["8 clocks are right"] });
  await checkCheckAndCorrect();
  await checkHostile();
  await checkOdd();
  await checkSynthetic();
  await checkAlign();
  if (everything) {
    await checkSweep();
    await checkShared();
  }
} catch (error) {
  failures++;
  console.log(error.stack);
} finally {
  await browser.close();
}
console.log(failures === 0 ? `all well; screenshots are in ${output}` : `${failures} failures`);
process.exit(failures === 0 ? 0 : 1);
