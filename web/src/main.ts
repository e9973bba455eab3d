// The page of entrain: reads the data block and builds the views.
import { clocks } from "./clocks";
import { collectives } from "./collectives";
import { curves } from "./curves";
import { load } from "./data";
import { leftOut } from "./leftout";
import { margins } from "./margins";
import { matrix } from "./matrix";
import { stragglers } from "./stragglers";
import { timeLines } from "./timelines";
import { Store, drawForPaper, el, name } from "./ui";
import { archiveOf, verdict } from "./verdict";

function start(): void {
  const page = load(), store = new Store(), root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  // The choice of the reader counts, else that of the system; style.css knows the result only.
  const wanted = (): string => store.get("theme") || (dark.matches ? "dark" : "light");
  const show = (theme = wanted()): void => { root.dataset.theme = theme; };
  show();
  store.listen(["theme"], () => show());
  dark.addEventListener("change", () => show());
  const theme = el("button", { type: "button", class: "theme", "aria-label": "Dark or light", onclick: () => store.set({ theme: wanted() === "dark" ? "light" : "dark" }) }, "\u25D0");
  const chip = el("button", { type: "button", class: "chip picked-clock", "aria-label": "Drop the picked clock", onclick: () => store.set({ clock: "" }) });
  const mark = (): void => { chip.hidden = !store.get("clock"); chip.replaceChildren(name(store.get("clock")), " \u00D7"); };
  store.listen(["clock"], mark);
  mark();
  const archive = archiveOf(page).split("/").pop() || archiveOf(page);
  document.title = `Entrain: ${archive.slice(0, 80)}`;
  const views: [string, HTMLElement | null][] = [["Verdict", verdict(page, store)], [page.before.violations > 0 ? "Worst" : "Tightest", timeLines(page, store)], ["Clocks", clocks(page, store)], ["Curves", curves(page, store)],
    ["Pairs", matrix(page, store)], ["Margins", margins(page, store)], ["Stragglers", stragglers(page, store)], ["Collectives", collectives(page, store)], ["Left out", leftOut(page)]];
  const there = views.filter((v): v is [string, HTMLElement] => v[1] !== null);
  const go = (): void => there.find(([, node]) => node.id === store.get("view"))?.[1].scrollIntoView();
  const links = there.map(([text, node]) => el("a", { href: `#${node.id}`, onclick: (e: Event) => { e.preventDefault(); store.set({ view: node.id }); go(); } }, text));
  document.getElementById("page")!.append(
    el("header", {}, el("span", { class: "brand" }, "Entrain"), el("span", { class: "archive" }, name(archive)), el("nav", { "aria-label": "Views" }, ...links), el("span", { class: "spring" }), chip, theme),
    el("main", {}, ...there.map(([, node]) => node)),
    el("footer", {}, `Entrain ${page.raw.version}. The data of this page are in its source, as JSON (schema ${page.raw.schema}).`));
  // Printed pages are light, whatever the screen is.
  addEventListener("beforeprint", () => { show("light"); drawForPaper(true); });
  addEventListener("afterprint", () => { show(); drawForPaper(false); });
  requestAnimationFrame(() => { go(); root.dataset.ready = "yes"; });
}

start();
