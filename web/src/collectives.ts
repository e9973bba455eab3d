// Are processes late, or only their clocks?
import * as Plot from "@observablehq/plot";
import { type Page, count, duration } from "./data";
import { bothKey, histogram } from "./margins";
import { type Store, act, el, picture, section } from "./ui";

interface Dot { time: number; n: number; skew: number; error: number; bad: boolean; side: string }

export function collectives(page: Page, store: Store): HTMLElement | null {
  const all = page.raw.collectives, s = (ticks: number): number => ticks / page.hz;
  if (all.sample.length === 0) return null;
  const dots: Dot[] = all.sample.flatMap((r: number[]) => {
    const seen = page.corrected && r.length > 5, one = { time: s(r[0]), n: r[1] };
    return [{ ...one, skew: s(r[2]), error: s(seen ? r[8] : Math.max(0, -r[4])), bad: r[4] < 0, side: seen ? "before" : "as it is" },
      ...(seen ? [{ ...one, skew: s(r[5]), error: s(Math.max(0, -r[7])), bad: r[7] < 0, side: "after" }] : [])];
  });
  const shown = dots.filter((d) => d.error > 0), values = dots.flatMap((d) => [d.skew, d.error]).filter((v) => v > 0);
  const low = 10 ** Math.floor(Math.log10(Math.min(...values, 1))), high = 10 ** Math.ceil(Math.log10(Math.max(...values, 10 * low)));
  const draw = (width: number): Element[] => {
    const axis: any = { type: "log", domain: [low, high], tickFormat: (t: number) => (Number.isInteger(Math.round(1e6 * Math.log10(t)) / 1e6) ? duration(t, 1) : ""), grid: true, labelArrow: "none" };
    const decades = (room: number): number[] => { const ticks = [], n = Math.round(Math.log10(high / low)), each = Math.ceil((n * 64) / room); for (let d = 0; d <= n; d += each) ticks.push(low * 10 ** d); return ticks; };
    const wide = Math.min(width, 760), plot = Plot.plot({
      width: wide, height: Math.min(380, Math.max(270, wide * 0.55)), marginLeft: 84, marginBottom: 42, marginTop: 18, marginRight: 40, className: "chart",
      x: { ...axis, ticks: decades(wide - 124), label: "arrival skew: last minus first to enter", labelAnchor: "center", labelOffset: 38 }, y: { ...axis, ticks: decades(260), label: null },
      marks: [Plot.areaY([[low, low], [high, high]], { x: "0", y1: "1", y2: high, fill: "var(--bad-bg)" }), Plot.text([wide < 560 ? "clocks more wrong than processes late" : "clock error: clocks are more wrong than processes are late"], { frameAnchor: "top-left", dx: 8, dy: 6, textAnchor: "start", fill: "var(--bad)" }),
        Plot.dot(shown, { x: (d: Dot) => Math.max(low, d.skew), y: (d: Dot) => Math.max(low, d.error), r: 3.2, fill: (d: Dot) => (d.side === "after" ? "var(--after)" : "var(--before)"), fillOpacity: 0.6, className: "m-operations" })],
    });
    act(plot, "operations", (i) => [`at ${duration(shown[i].time)}, ${count(shown[i].n)} participants, ${shown[i].side}`, `arrival skew ${duration(shown[i].skew)}`, `clock error ${duration(shown[i].error)}`]);
    return [plot];
  };
  const sample = all.sample.length < all.count ? `A sample of ${count(all.sample.length)} of ${count(all.count)}` : `All ${count(all.count)}`;
  const fine = dots.filter((d) => d.side === "after" && d.error === 0).length, where = shown.length > 0;
  return section("collectives", "Collectives", "In a barrier or an allreduce all wait for the last one. If clocks are off by more than processes are late, the waiting times that a tool shows mean nothing.",
    where ? picture(store, "skew", () => "Arrival skew and clock error", [], draw) : null,
    el("p", { class: "note" }, `${sample} operations in which all wait for all. ` + (page.corrected ? `Before: how differently the correction moved their begins. After: what is still provably wrong${fine > 0 ? `; for ${count(fine)} nothing is` : ""}.` : `Clock error: the time by which somebody left before the last one came${where ? "" : "; none did"}.`)),
    el("h3", {}, "Spread of ends: last minus first to leave"), picture(store, "ends", () => "Spread of the ends of collectives", [], (width) => [histogram(page, all.ends, "spread of the ends", width)]), bothKey(page));
}
