// The page of entrain: reads the data block and builds the views.
import { clocks } from "./clocks";
import { collectives } from "./collectives";
import { load } from "./data";
import { leftOut } from "./leftout";
import { margins } from "./margins";
import { Matrix } from "./matrix";
import { Offsets } from "./offsets";
import { TimeLines } from "./timelines";
import { Store, el, name, segmented } from "./ui";
import { verdict } from "./verdict";

function start(): void {
  const page = load();
  const store = new Store({ when: "before", clock: null });
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  // The choice of the reader counts, else that of the system; style.css knows the result only.
  let chosen: string | null = null;
  const show = (theme: string): void => {
    root.dataset.theme = theme;
    store.tell("theme");
  };
  const wanted = (): string => chosen ?? (dark.matches ? "dark" : "light");
  show(wanted());
  const theme = el("button", { type: "button", class: "theme", "aria-label": "Dark or light",
    onclick: () => show((chosen = wanted() === "dark" ? "light" : "dark")) }, "\u25D0");
  dark.addEventListener("change", () => show(wanted()));
  const chip = el("button", { type: "button", class: "chip picked-clock", hidden: true, "aria-label": "Drop the picked clock", onclick: () => store.set({ clock: null }) });
  const archive = String(page.before.archive).replace(/\/traces\.otf2$/, "").split("/").pop() || String(page.before.archive);
  document.title = `Entrain: ${archive.slice(0, 80)}`;
  const both = page.corrected ? segmented("Before or after the correction", [["before", "Before"], ["after", "After"]], "before", (when) => store.set({ when })) : null;
  store.listen((state) => {
    chip.hidden = state.clock === null;
    if (state.clock !== null) chip.replaceChildren(name(page.clocks.names[state.clock]), " \u00D7");
  });
  const links = [["clocks", "Clocks"], ["offsets", "Offsets"], ["matrix", "Matrix"], ["margins", "Margins"], ["timelines", "Edges"], ["collectives", "Collectives"], ["left-out", "Left out"]];
  document.getElementById("page")!.append(
    el("header", {}, el("a", { class: "brand", href: "#verdict" }, "Entrain"), el("span", { class: "archive" }, name(archive)),
      el("nav", { "aria-label": "Views" }, ...links.map(([id, text]) => el("a", { href: `#${id}` }, text))),
      el("span", { class: "spring" }), chip, both, theme),
    el("main", {}, verdict(page), clocks(page, store), new Offsets(page, store).node, new Matrix(page, store).node, margins(page, store),
      new TimeLines(page, store).node, collectives(page, store), leftOut(page)),
    el("footer", {}, `Entrain ${page.raw.version}. The data of this page are in its source, as JSON (schema ${page.raw.schema}).`));
  // Printed pages are light, whatever the screen is.
  addEventListener("beforeprint", () => show("light"));
  addEventListener("afterprint", () => show(wanted()));
  root.dataset.ready = "yes";
}

start();
