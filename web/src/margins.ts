// How long before or after its cause every effect comes; per kind of edge, and as a picture.
import * as Plot from "@observablehq/plot";
import { type Bins, type Json, type Page, count, duration, isCounted, kindText, shortCount } from "./data";
import { type Store, act, el, picture, section, segmented } from "./ui";

/** The bins of several kinds, added up. */
function sum(parts: Bins[]): Bins {
  const all = new Map<number, number>();
  for (const bins of parts) for (const [bin, n] of bins) all.set(bin, (all.get(bin) ?? 0) + n);
  return [...all].sort((a, b) => a[0] - b[0]);
}
/** Position of a value on the scale of the bins: its bin and the part of it. */
function positionOf(ticks: number): number {
  const size = Math.abs(ticks);
  return size < 8 ? size : 8 + 4 * (Math.log2(size) - 3);
}
interface Group { from: number; to: number; n: number }

/** Bars over a scale that grows with the size of values, to both sides of 0. `sides`: before, after. */
export function histogram(page: Page, sides: { before: Bins; after: Bins | null }, label: string, width: number): Element {
  const edges: number[] = page.raw.bin_edges_ticks, every = [...sides.before, ...(sides.after ?? [])];
  const skipped = Math.max(0, Math.min(...every.map((b) => Math.abs(b[0])).filter((s) => s > 0), 1e9) - 3) % 1e8;
  const place = (bin: number): number => Math.sign(bin) * Math.max(0, Math.abs(bin) - skipped);
  const low = Math.min(0, ...every.map((b) => place(b[0]))) - 1, high = Math.max(2, ...every.map((b) => place(b[0]))) + 2, merge = Math.max(1, Math.ceil((high - low) / (width / 7)));
  const groups = (bins: Bins): Group[] => {
    const found = new Map<number, number>();
    for (const [bin, n] of bins) { const g = Math.floor(place(bin) / merge); found.set(g, (found.get(g) ?? 0) + n); }
    return [...found].map(([g, n]) => ({ from: g * merge, to: (g + 1) * merge, n }));
  };
  const value = (p: number): number => (p === 0 ? 0 : (Math.sign(p) * edges[Math.min(edges.length - 1, Math.abs(p) + skipped)]) / page.hz);
  const ticks: [number, string][] = [[0, "0"]], apart = ((high - low) * 56) / width;
  for (let d = Math.ceil(Math.log10(edges[1] / page.hz)); d < 9; d++) for (const sign of [-1, 1]) {
    const p = sign * (positionOf(10 ** d * page.hz) - skipped);
    if (sign * p > 1 && p > low && p < high && ticks.every(([t]) => Math.abs(t - p) > apart)) ticks.push([p, duration(sign * 10 ** d, 1)]);
  }
  const first = groups(sides.before), second = sides.after ? groups(sides.after) : [], most = Math.max(2, ...[...first, ...second].map((g) => g.n)), at = new Map(ticks);
  const bars = (list: Group[], options: object): Plot.Markish => Plot.rect(list, { x1: "from", x2: "to", y1: 0.6, y2: "n", insetLeft: 0.5, insetRight: 0.5, ...options });
  const plot = Plot.plot({
    width, height: 240, marginLeft: 52, marginRight: 12, marginTop: 26, marginBottom: 42, className: "chart",
    x: { domain: [low, high], ticks: ticks.map(([p]) => p), tickFormat: (p: number) => at.get(p) ?? "", label, labelAnchor: "center", labelArrow: "none", labelOffset: 38 },
    y: { type: "log", domain: [0.6, most * 1.3], ticks: Array.from({ length: Math.floor(Math.log10(most)) + 1 }, (_, d) => 10 ** d), tickFormat: (t: number) => shortCount(t), label: null, grid: true },
    marks: [
      ...(low < -1 ? [Plot.rect([0], { x1: low, x2: 0, y1: 0.6, y2: most * 1.3, fill: "var(--bad-bg)" }), Plot.text(["stamped before its cause"], { x: 0, frameAnchor: "top", textAnchor: "end", dx: -6, dy: -14, fill: "var(--bad)" })] : []),
      bars(first, { fill: "var(--before)", fillOpacity: 0.8, className: "m-before" }), bars(second, { fill: "var(--after)", fillOpacity: 0.25, stroke: "var(--after)", strokeWidth: 1.5, className: "m-after" }), Plot.ruleX([0], { stroke: "var(--ink)" }),
    ],
  });
  for (const [side, list] of [["before", first], ["after", second]] as const) act(plot, side, (i) => [`${duration(value(list[i].from), 3)} to ${duration(value(list[i].to), 3)}`, `${sides.after ? side : "as it is"}: ${count(list[i].n)}`]);
  return plot;
}
export const bothKey = (page: Page): HTMLElement => el("div", { class: "legend" },
  ...(page.corrected ? [["--before", "before"], ["--after", "after"]] : [["--before", "as it is"]]).map(([c, text]) => el("span", { class: "key" }, el("span", { class: "swatch", style: `--swatch:var(${c})` }), text)));

function kinds(page: Page): HTMLElement {
  const { before, after } = page, rows = Object.entries<Json>(before.edges).filter(([, e]) => e.count > 0);
  const n = (v: number, field: string, bad = false) => el("td", { class: bad && v > 0 ? "num bad" : "num", "data-json": field, "data-value": v }, count(v));
  return el("div", { class: "scroll" }, el("table", { class: "kinds" },
    el("thead", {}, el("tr", {}, ...["kind", "checked", "violated", after ? "after" : null, "smallest margin", after ? "after" : null].filter((t) => t).map((t, i) => el("th", { class: i ? "num" : "", scope: "col" }, t!)))),
    el("tbody", {}, ...rows.map(([kind, e]) => el("tr", { class: isCounted(before, kind) ? "" : "uncounted" }, el("th", { scope: "row" }, isCounted(before, kind) ? kindText(page, kind) : "(init, finalize: not counted)"), n(e.count, `before.edges.${kind}.count`), n(e.violations, `before.edges.${kind}.violations`, true),
      after ? n(after.edges[kind].violations, `after.edges.${kind}.violations`, true) : null,
      el("td", { class: "num" }, duration(e.worst_s)), after ? el("td", { class: "num" }, duration(after.edges[kind].worst_s)) : null)))));
}

export function margins(page: Page, store: Store): HTMLElement | null {
  const before: Record<string, Bins> = page.raw.margins.before, after: Record<string, Bins> | null = page.raw.margins.after, names = Object.keys(before);
  if (names.length === 0) return null;
  const bins = (of: Record<string, Bins>): Bins => (names.includes(store.get("kind")) ? of[store.get("kind")] ?? [] : sum(Object.values(of)));
  return section("margins", "Margins", "How much later an effect comes than its cause. What stands left of 0 cannot have happened. Counts are logarithmic.", kinds(page),
    names.length > 1 ? el("div", { class: "controls" }, segmented(store, "kind", "Kind of edge", [["all", "All"], ...names.map((k) => [k, kindText(page, k)] as [string, string])])) : null,
    picture(store, "margins", () => "Margins: receive minus send", ["kind"], (width) => [histogram(page, { before: bins(before), after: after && bins(after) }, "margin: receive minus send", width)]), bothKey(page),
    names.some((k) => ["one_to_n", "n_to_one", "n_to_n", "scan"].includes(k)) ? el("p", { class: "note" }, "In the picture each one that leaves a collective counts with the last one that entered; the table counts all pairs.") : null);
}
