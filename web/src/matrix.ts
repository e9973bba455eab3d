// Who violates what: row by row.
import * as Plot from "@observablehq/plot";
import { type Cell, type Edge, type Page, type When, count, cut, duration, isSingle, kindText, many, marginOf, shortCount } from "./data";
import { type Store, act, el, name, picture, section, segmented, svg } from "./ui";

/** Names without the part that all begin with; that part. Ranges of ranks become "0 to 15". */
function shortened(names: string[]): [string[], string] {
  let start = names[0] ?? "";
  for (const text of names) while (!text.startsWith(start)) start = start.slice(0, -1);
  start = start.replace(/\d+$/, "");
  if (names.length < 2 || start.length < 3 || names.some((text) => text.length === start.length)) return [names, ""];
  return [names.map((text) => text.slice(start.length).replace(` to ${start}`, "\u2013")), start.trim()];
}

export function matrix(page: Page, store: Store): HTMLElement | null {
  const raw = page.raw.matrix, names: string[] = raw.names, n = names.length, all: Cell[] = raw.before;
  if (n < 2 || all.length === 0) return null;
  const [short, prefix] = shortened(names), offsets = new Map(page.rows.map((r) => [r.clock, r.offset_s]));
  const bySpeed = page.rows.length > 0 && names.every((text) => typeof offsets.get(text) === "number");
  const order = names.map((_, i) => i);
  if (bySpeed) order.sort((a, b) => offsets.get(names[a]) - offsets.get(names[b]) || a - b);
  const violated = (family: number): boolean => all.some((c) => c[2] === family && c[4] > 0);
  const families = [0, 1].filter((family) => all.some((c) => c[2] === family));
  const firstFamily = String(families.find(violated) ?? families[0]);
  const family = (): number => Number(store.get("family", firstFamily) || firstFamily);
  const when = (): When => (page.corrected && store.get("when") === "after" ? "after" : "before");
  const cells = (of: When): Cell[] => ((of === "after" ? raw.after : raw.before) as Cell[]).filter((c) => c[2] === family());
  const key = (from: number, to: number): string => `${names[from]}\n${names[to]}`;
  const open = (): [number, number] | null => { const [from, to] = store.get("pair").split("\n").map((t) => names.indexOf(t)); return from >= 0 && to >= 0 ? [from, to] : null; };
  let cursor: [number, number] = [0, 0];
  const detail = el("div", { class: "detail", "aria-live": "polite" }), foot = el("p", { class: "note" });
  const draw = (width: number): Element[] => {
    const list = cells(when()), most = Math.max(1, ...cells("before").map((c) => c[4])), long = Math.max(...short.map((t) => t.length));
    const left = Math.min(Math.max(34, 7.2 * Math.min(long, width < 560 ? 11 : 20) + 16), width / 3), size = Math.min((width - left - 8) / n, n <= 4 ? 88 : n <= 12 ? 56 : 620 / n), room = Math.floor((left - 14) / 7);
    const turned = long * 7.2 > size - 2, top = (turned ? 7.2 * Math.min(long, 14) : 14) + 30, each = Math.ceil(13 / size);
    const heat = (c: Cell): number => Math.log(1 + c[4]) / Math.log(1 + most), picked = order.findIndex((i) => names[i] === store.get("clock"));
    const ticks = order.filter((_, i) => i % each === 0), plot = Plot.plot({
      width: left + size * n + 8, height: top + size * n + 4, marginLeft: left, marginTop: top, marginRight: 8, marginBottom: 4, className: "chart", padding: 0,
      x: { domain: order, axis: null, round: false }, y: { domain: order, axis: null, round: false },
      marks: [
        Plot.frame({ fill: "var(--no-cell)" }),
        Plot.cell(list, { x: "1", y: "0", inset: size >= 10 ? 0.5 : 0, fill: (c: Cell) => (c[4] === 0 ? "var(--fine-cell)" : `color-mix(in oklab, var(--heat-low), var(--heat-high) ${Math.round(100 * heat(c))}%)`), className: "m-cells" }),
        Plot.text(list.filter((c) => size >= 18 && shortCount(c[4]).length * 7.6 < size - 1), { x: "1", y: "0", text: (c: Cell) => shortCount(c[4]), fill: (c: Cell) => (c[4] === 0 ? "var(--muted)" : heat(c) > 0.55 ? "var(--on-heat)" : "var(--on-cool)"), className: "m-counts" }),
        Plot.axisY(ticks, { tickSize: 0, label: null, tickFormat: (i: number) => cut(short[i], room) }), Plot.axisX(ticks, { anchor: "top", tickSize: 0, label: null, tickRotate: turned ? -90 : 0, tickFormat: (i: number) => cut(short[i], 14) }),
        Plot.text([`${prefix || page.words.clock}: sender \u2193 receiver \u2192`], { frameAnchor: "top-left", textAnchor: "start", dx: -left + 4, dy: 2 - top, fill: "var(--muted)" }),
      ],
    });
    act(plot, "cells", (i) => [el("span", {}, name(names[list[i][0]]), " \u2192 ", name(names[list[i][1]])), `${count(list[i][4])} of ${many(list[i][3], "edge", "edges")} violated`, `smallest margin ${duration(list[i][5] / page.hz)}`],
      (i) => { cursor = [order.indexOf(list[i][0]), order.indexOf(list[i][1])]; store.toggle("pair", key(list[i][0], list[i][1])); });
    const at = (p: number): number => p * size, mark = (kind: string, from: number, to: number): SVGRectElement => svg("rect", { class: kind, x: left + at(to) - 0.5, y: top + at(from) - 0.5, width: Math.max(size, 4), height: Math.max(size, 4) });
    const opened = open(), here = mark("cursor", ...cursor);
    if (picked >= 0) plot.append(svg("rect", { class: "picked-line", x: left, y: top + at(picked), width: size * n, height: size }), svg("rect", { class: "picked-line", x: left + at(picked), y: top, width: size, height: size * n }));
    if (opened) plot.append(mark("opened", order.indexOf(opened[0]), order.indexOf(opened[1])));
    plot.append(here);
    plot.setAttribute("tabindex", "0"); plot.setAttribute("data-key", "matrix"); plot.setAttribute("role", "img");
    plot.setAttribute("aria-label", "Violations by sender (row) and receiver (column). Arrow keys move, Enter opens a pair.");
    (plot as unknown as SVGSVGElement).dataset.total = String(list.reduce((s, c) => s + c[4], 0));
    plot.addEventListener("keydown", (e: any) => {
      const moves: Record<string, [number, number]> = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }, move = moves[e.key];
      if (move) {
        cursor = [cursor[0] + move[0], cursor[1] + move[1]].map((v) => Math.min(Math.max(v, 0), n - 1)) as [number, number];
        here.setAttribute("x", String(left + at(cursor[1]) - 0.5)); here.setAttribute("y", String(top + at(cursor[0]) - 0.5));
      } else if (e.key === "Enter" || e.key === " ") store.toggle("pair", key(order[cursor[0]], order[cursor[1]]));
      else return;
      e.preventDefault();
    });
    tellPairs(list);
    return [plot];
  };
  const tellPairs = (list: Cell[]): void => {
    const bad = list.filter((c) => c[4] > 0).sort((a, b) => b[4] - a[4] || a[5] - b[5]), opened = open();
    foot.textContent = (family() === 0 ? "" : "Each that leaves a collective is held against the last one that entered it. ")
      + `${many(bad.length, "pair", "pairs")} of ${count(list.length)} with violations, ${many(bad.reduce((s, c) => s + c[4], 0), "violation", "violations")} in all${page.corrected ? `, ${when()} the correction` : ""}. `
      + (bySpeed ? `From the fastest ${page.words.clock} to the slowest. ` : "") + (raw.rows === "processes" ? "" : `Each row is ${raw.rows === "machines" ? "a machine" : "a group of neighbours"}.`);
    if (opened) return tellPair(opened, list.find((c) => c[0] === opened[0] && c[1] === opened[1]));
    detail.replaceChildren(el("h3", {}, bad.length ? "Pairs with most violations" : "No pair with violations"), el("p", { class: "note" }, `Pick a ${bad.length ? "pair, here or in the matrix," : "square"} to see its ${bad.length ? "worst" : "tightest"} edges.`),
      el("ol", { class: "pairs" }, ...bad.slice(0, 8).map((c) => el("li", {}, el("button", { type: "button", class: "pair", "data-from": c[0], "data-to": c[1], onclick: () => store.toggle("pair", key(c[0], c[1])) },
        el("span", {}, name(names[c[0]]), " \u2192 ", name(names[c[1]])), el("span", { class: "num" }, `${count(c[4])} of ${count(c[3])}`))))));
  };
  const tellPair = ([from, to]: [number, number], cell: Cell | undefined): void => {
    const s = (ticks: number): string => duration(ticks / page.hz);
    const edges: Edge[] = page.edges.filter((e) => page.places[e.from].row === from && page.places[e.to].row === to && isSingle(e.kind) === (family() === 0)).sort((a, b) => marginOf(a, when()) - marginOf(b, when())).slice(0, 6);
    const ends = (e: Edge): HTMLElement | null => raw.rows === "processes" ? null : el("td", {}, name(page.places[e.from].name), " \u2192 ", name(page.places[e.to].name));
    detail.replaceChildren(
      el("div", { class: "detail-head" }, el("h3", {}, name(names[from]), " \u2192 ", name(names[to])), el("button", { type: "button", class: "close", "aria-label": "Close the pair", onclick: () => store.set({ pair: "" }) }, "\u00D7")),
      el("p", {}, cell ? `${count(cell[4])} of ${many(cell[3], "edge", "edges")} violated; smallest margin ${s(cell[5])}.` : "No communication this way."),
      edges.length ? el("div", { class: "scroll" }, el("table", { class: "edges" },
        el("thead", {}, el("tr", {}, el("th", {}, "kind"), raw.rows === "processes" ? null : el("th", {}, "from, to"), el("th", { class: "num" }, "sent at"), el("th", { class: "num" }, page.corrected ? "before" : "margin"), page.corrected ? el("th", { class: "num" }, "after") : null)),
        el("tbody", {}, ...edges.map((e) => el("tr", {}, el("td", {}, kindText(page, e.kind)), ends(e), el("td", { class: "num" }, `${(e.sent[when()] / page.hz).toFixed(6)}\u00a0s`),
          el("td", { class: marginOf(e, "before") < 0 ? "num bad" : "num" }, s(marginOf(e, "before"))), page.corrected ? el("td", { class: marginOf(e, "after") < 0 ? "num bad" : "num good" }, s(marginOf(e, "after"))) : null))))) : el("p", { class: "note" }, "No edge of this pair is kept in the page: others are worse."));
  };
  return section("matrix", "Who contradicts whom", "A square is a sender (row) and a receiver (column). The stronger its colour, the more often the receiver\u2019s stamp is before the sender\u2019s.",
    el("div", { class: "controls" }, families.length > 1 ? segmented(store, "family", "Operations", [["0", "Messages"], ["1", "Collectives"]], firstFamily) : null,
      page.corrected ? segmented(store, "when", "Before or after the correction", [["before", "Before"], ["after", "After"]]) : null),
    el("div", { class: "matrix" }, picture(store, "pairs", () => "Violations by sender and receiver", ["clock", "pair", "family", "when"], draw), detail), foot);
}
