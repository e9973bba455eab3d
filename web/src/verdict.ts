// View 1: the verdict, and the numbers behind it.
import { type Json, type Page, count, duration, many, share } from "./data";
import { el, name } from "./ui";

const k_words: Record<string, string> = { violations: "Violations", clean: "Clean", unproven: "Unproven" };

function worst(check: Json): [string, Json] | null {
  let found: [string, Json] | null = null;
  for (const [kind, edges] of Object.entries<Json>(check.edges)) {
    if (edges.worst_s === null || (kind === "init_finalize" && edges.violations > 0 && check.violations === 0)) continue;
    if (!found || edges.worst_s < found[1].worst_s) found = [kind, edges];
  }
  return found;
}

/** The machines on which most violations end. */
function hosts(page: Page): string[] {
  const sums = new Map<number, number>();
  for (const [, to, , , violations] of page.raw.matrix.before) {
    const node = page.raw.matrix.nodes[to];
    if (violations > 0) sums.set(node, (sums.get(node) ?? 0) + violations);
  }
  return [...sums].sort((a, b) => b[1] - a[1]).map(([node]) => page.nodes[node]);
}

function tile(label: string, field: string, value: Node | string, note: Node | string, tone = ""): HTMLElement {
  return el("div", { class: `tile ${tone}`, "data-field": field }, el("div", { class: "tile-label" }, label), el("div", { class: "tile-value" }, value), el("div", { class: "tile-note" }, note));
}

export function verdict(page: Page): HTMLElement {
  const { before, after, raw } = page, said = before.verdict as string;
  const sentence = raw.sentence as string, colon = sentence.indexOf(":");
  const violated = hosts(page), edge = worst(before), bounds = raw.check?.bounds ?? page.done?.bounds ?? page.done?.before?.bounds;
  const number = (value: number, field: string) => el("span", { "data-json": field, "data-value": value }, count(value));
  const arrow = el("span", { class: "arrow", "aria-label": "after the correction" }, " \u2192 ");
  const widest = page.clocks.bounds.reduce<number>((at, b, i, all) => ((b ?? -1) > (all[at] ?? -1) ? i : at), 0);
  const tiles = [
    tile("violations", "violations", after ? el("span", {}, number(before.violations, "before.violations"), arrow, number(after.violations, "after.violations")) : number(before.violations, "before.violations"),
      el("span", {}, "of ", number(before.checked_edges, "before.checked_edges"), " edges"), before.violations > 0 && !after ? "bad" : ""),
    tile("coverage", "coverage", el("span", { "data-json": "before.coverage.share", "data-value": before.coverage.share ?? "" }, share(before.coverage.share)),
      raw.align ? "of the edges given" : `of ${many(before.coverage.receives, "receive", "receives")} and ${many(before.coverage.collective_calls, "collective call", "collective calls")}`),
    tile("worst edge", "worst", edge ? el("span", { "data-json": "worst_s", "data-value": edge[1].worst_s }, duration(edge[1].worst_s)) : "none",
      edge ? el("span", {}, name(edge[1].worst.send.process), " \u2192 ", name(edge[1].worst.receive.process)) : "nothing to compare"),
    tile("largest bound", "bound", bounds?.worst ? el("span", { "data-json": "bound_s", "data-value": bounds.worst.bound_s }, duration(bounds.worst.bound_s)) : "not proved",
      bounds?.worst ? el("span", {}, name(page.clocks.names[widest]), " is at most this wrong") : bounds?.reason ? "see What was left out" : "use --bounds"),
    tile("clocks", "clocks", count(page.clocks.used.filter((u) => u).length), `on ${many(page.nodes.length, "machine", "machines")}, ${many(before.locations, "location", "locations")}`),
    tile("moved", "moved", page.corrected ? duration(Math.max(0, ...page.clocks.moved) / page.hz) : "nothing", page.corrected ? "largest change of a time" : "a check changes nothing"),
  ];
  const list = (names: string[]): Node[] => names.slice(0, 3).flatMap((n, i) => [...(i ? [document.createTextNode(", ")] : []), name(n)]);
  const where = violated.length === 0 ? null : el("p", { class: "hosts" }, "Violations end on ", ...list(violated), violated.length > 3 ? ` and ${count(violated.length - 3)} more machines.` : ".");
  return el("section", { id: "verdict", class: `verdict ${said}` },
    el("div", { class: "said" }, el("span", { class: `pill ${said}` }, k_words[said] ?? said),
      el("p", { class: "sentence" }, sentence.slice(colon + 2).replace(/^./, (c) => c.toUpperCase()))),
    raw.sentence_after ? el("div", { class: "said after" }, el("span", { class: `pill ${page.done!.verdict}` }, raw.align ? "Aligned" : page.corrected ? `Corrected: ${(k_words[page.done!.verdict] ?? "").toLowerCase()}` : "Corrected"), el("p", {}, (raw.sentence_after as string).replace(/^[A-Z][a-z ]*: /, "").replace(/^./, (c) => c.toUpperCase()))) : null,
    where, el("div", { class: "tiles" }, ...tiles),
    Object.values<Json>(before.edges).some((e) => e.count > 0) ? el("div", { class: "scroll" }, kinds(page)) : null);
}

function kinds(page: Page): HTMLElement {
  const { before, after } = page;
  const rows = Object.entries<Json>(before.edges).filter(([, e]) => e.count > 0);
  const sum = rows.reduce((all, [, e]) => all + e.count, 0);
  const n = (v: number, field: string, bad = false) => el("td", { class: bad && v > 0 ? "num bad" : "num", "data-json": field, "data-value": v }, count(v));
  return el("table", { class: "kinds" },
    el("thead", {}, el("tr", {}, ...["kind of edge", "edges", "violations", after ? "after" : null, "worst margin", after ? "after" : null].filter((t) => t).map((t, i) => el("th", { class: i ? "num" : "", scope: "col" }, t!)))),
    el("tbody", {}, ...rows.map(([kind, e]) => el("tr", {}, el("th", { scope: "row" }, kind === "init_finalize" && before.checked_edges === sum - e.count ? "(init finalize: not counted)" : kind.replace(/_/g, " ")), n(e.count, `before.edges.${kind}.count`), n(e.violations, `before.edges.${kind}.violations`, true),
      after ? n(after.edges[kind].violations, `after.edges.${kind}.violations`, true) : null,
      el("td", { class: "num" }, duration(e.worst_s)), after ? el("td", { class: "num" }, duration(after.edges[kind].worst_s)) : null))));
}
