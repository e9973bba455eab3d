// View 7: are processes late, or only their clocks?
import { type Page, count, duration } from "./data";
import { Histogram, type Layer } from "./histogram";
import { type Store, css, el, hideTip, onWidth, section, showTip, svg } from "./ui";

export function collectives(page: Page, store: Store): HTMLElement {
  const all = page.raw.collectives;
  const plot = el("div", { class: "plot scatter" });
  const draw = (width: number): void => {
    if (all.sample.length === 0) { plot.replaceChildren(el("p", { class: "empty" }, "The trace has no collective operation in which all wait for all.")); return; }
    const when = store.state.when, height = Math.min(420, Math.max(280, width * 0.6)), left = 74, bottom = 46, top = 14, right = 14;
    const rows = all.sample.map((r: number[]) => {
      const seen = page.corrected && r.length > 5;
      return { time: r[0], n: r[1], skew: when === "after" && seen ? r[5] : r[2], error: seen ? (when === "after" ? Math.max(0, -r[7]) : r[8]) : Math.max(0, -r[4]), bad: (when === "after" && seen ? r[7] : r[4]) < 0 };
    });
    const values = rows.flatMap((r: any) => [r.skew, r.error]).filter((v: number) => v > 0);
    const low = Math.floor(Math.log10(Math.max(1, Math.min(...(values.length ? values : [1])))) * 2) / 2 - 0.5, high = Math.ceil(Math.log10(Math.max(10, ...values)) * 2) / 2;
    const L = (v: number): number => Math.max(low, v > 0 ? Math.log10(v) : low);
    const X = (v: number): number => left + ((L(v) - low) / (high - low)) * (width - left - right), Y = (v: number): number => height - bottom - ((L(v) - low) / (high - low)) * (height - top - bottom);
    const chart = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": "Arrival skew against clock error" });
    const corner = `${X(10 ** low)},${Y(10 ** low)} ${X(10 ** high)},${Y(10 ** high)} ${X(10 ** low)},${Y(10 ** high)}`;
    chart.append(svg("polygon", { points: corner, class: "violated-area" }), svg("text", { x: left + 8, y: top + 16, class: "bad" }, "clocks more wrong than processes late"));
    for (let d = Math.ceil(low + Math.log10(1 / page.hz)); d <= high + Math.log10(1 / page.hz); d++) {
      const v = 10 ** d * page.hz;
      chart.append(svg("line", { x1: X(v), x2: X(v), y1: top, y2: height - bottom, class: "grid" }), svg("line", { x1: left, x2: width - right, y1: Y(v), y2: Y(v), class: "grid" }));
      if (width > 520 || d % 2 === 0) chart.append(svg("text", { x: X(v), y: height - bottom + 17, "text-anchor": "middle", class: "label" }, duration(10 ** d, 1)));
      chart.append(svg("text", { x: left - 7, y: Y(v) + 4, "text-anchor": "end", class: "label" }, duration(10 ** d, 1)));
    }
    for (const r of rows) {
      const dot = svg("circle", { cx: X(r.skew), cy: Y(r.error), r: 3.2, fill: css(r.bad ? "--bad" : when === "after" ? "--after" : "--before"), "fill-opacity": 0.55 });
      dot.addEventListener("mouseenter", (e) => showTip(e, `at ${duration(r.time / page.hz)}, ${count(r.n)} processes`, `arrival skew ${duration(r.skew / page.hz)}`, `clock error ${r.error ? duration(r.error / page.hz) : "none seen"}`));
      dot.addEventListener("mouseleave", hideTip);
      chart.append(dot);
    }
    chart.append(svg("text", { x: (left + width) / 2, y: height - 8, "text-anchor": "middle", class: "label" }, "arrival skew: last minus first process to enter"),
      svg("text", { x: 0, y: 0, transform: `translate(14 ${(height - bottom) / 2}) rotate(-90)`, "text-anchor": "middle", class: "label" }, "clock error among its processes"));
    plot.replaceChildren(chart);
  };
  const redraw = onWidth(plot, draw);
  const layers = (): Layer[] => {
    const list: Layer[] = [{ label: page.corrected ? "before" : "as it is", colour: "--before", bins: all.ends.before, filled: true }];
    if (!all.ends.after) return list;
    list.push({ label: "after", colour: "--after", bins: all.ends.after, filled: false });
    return store.state.when === "after" ? list.reverse().map((l, i) => ({ ...l, filled: i === 0 })) : list;
  };
  const ends = new Histogram(page, layers(), { x: "spread of the ends: last minus first process to leave", y: "operations" });
  store.listen(() => { redraw(); ends.show(layers()); });
  return section("collectives", "Collectives",
    "In a barrier or an allreduce all wait for the last one. If clocks are off by more than processes are late, the waiting times that a tool shows mean nothing.",
    plot, el("p", { class: "note" }, `${all.sample.length < all.count ? `A sample of ${count(all.sample.length)} of ${count(all.count)}` : `All ${count(all.count)}`} operations in which all wait for all. `
      + (page.corrected ? "Clock error before: how differently the correction moved the begins of the processes; after: what is still provably wrong." : "Clock error: what is provably wrong, the time by which somebody left before the last one came.")),
    el("h3", {}, "Spread of ends"), el("p", { class: "explain" }, "All leave at about the same time. A wide spread is a sign of clocks that disagree, or of busy processes."), ends.node);
}
