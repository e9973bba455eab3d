// A bar per clock: its offset, drift and bound, before and after.
import * as Plot from "@observablehq/plot";
import { type Clock, type Page, count, cut, duration, isWrong, many, ppm, signed } from "./data";
import { type Store, act, el, name, picture } from "./ui";

const k_bars = 20; // more are dots
const k_row = 25, k_paper_bars = 8;

/** Where offsets differ too much for one linear axis, all beyond `constant` is logarithmic. */
export function scaleOf(values: number[]): { type?: "symlog"; constant?: number } {
  const sizes = values.map(Math.abs).filter((v) => v > 0).sort((a, b) => a - b);
  if (sizes.length < 3 || sizes[sizes.length - 1] < 60 * sizes[sizes.length >> 1]) return {};
  return { type: "symlog", constant: sizes[0] };
}
/** Ticks of such an axis: powers of ten, so far apart that they can be read. */
function ticksOf({ constant: c }: { constant: number }, [low, high]: [number, number], room: number): number[] {
  const place = (v: number): number => Math.sign(v) * Math.log1p(Math.abs(v) / c), ticks = [0];
  const apart = ((place(high) - place(low)) * 76) / room;
  for (let d = Math.ceil(Math.log10(c)); d <= Math.log10(Math.max(-low, high)); d++) {
    for (const v of [10 ** d, -(10 ** d)]) if (v >= low && v <= high && ticks.every((t) => Math.abs(place(t) - place(v)) >= apart)) ticks.push(v);
  }
  return ticks.sort((a, b) => a - b);
}

function valueText(row: Clock): string {
  if (row.offset_s === null) return "untied";
  if (row.state === "bent") return `wanders, \u2264 ${duration(row.most_s)}`;
  return `${row.state === "right" && row.offset_s === 0 ? "0" : signed(row.offset_s)}${row.bound_s ? ` \u00B1 ${duration(row.bound_s, 2)}` : ""}`;
}
export function tellClock(page: Page, row: Clock): (Node | string)[] {
  return [el("strong", {}, name(row.clock)), row.state === "untied" ? "nothing ties it to the others" : `${row.state}: ${signed(row.offset_s)}, at most ${duration(row.most_s)}`,
    ...(row.drift_ppm ? [`drift ${ppm(row.drift_ppm / 1e6)} ppm`] : []), ...(row.bound_s !== null ? [`certain to ${duration(row.bound_s)}, everywhere to ${duration(row.worst_bound_s)}`] : []),
    `${count(row.violations)} of ${count(row.edges)} ${page.words.edges} contradicted`];
}

export function bars(page: Page, store: Store): HTMLElement | null {
  const { words, rows } = page, shown = rows.slice(0, rows.length > k_bars + 4 ? k_bars : rows.length), wrong = rows.filter(isWrong).length;
  if (rows.length < 2 || rows.every((r) => r.offset_s === null)) return null;
  const half = page.length / page.hz / 2, pick = (list: Clock[]) => (i: number): void => store.toggle("clock", list[i].clock);
  /** From the offset that the mean drift gives at the begin to that at the end. */
  const run = (r: Clock): number => (r.drift_ppm === null ? 0 : (r.drift_ppm / 1e6) * half);
  const known = rows.filter((r) => r.offset_s !== null), reaches = known.flatMap((r) => [r.offset_s, r.offset_s + run(r), r.offset_s - run(r), ...(page.corrected && r.bound_s !== null ? [-r.bound_s, r.bound_s] : [])]);
  const extent: [number, number] = [Math.min(0, ...reaches), Math.max(0, ...reaches)];
  if (extent[0] === extent[1]) { extent[0] = -1e-6; extent[1] = 1e-6; }
  const scale = scaleOf(known.map((r) => r.offset_s)), left = (width: number): number => (width < 560 ? 92 : 150);
  const x = { ...scale, domain: extent, nice: !scale.type, label: null };
  const axis = (width: number, right: number): Plot.Markish[] => {
    const room = width - left(width) - right, look = { anchor: "bottom" as const, tickSize: 0, tickFormat: (t: number) => signed(t, 3) }, grid = { stroke: "var(--line)", strokeOpacity: 1 };
    const logarithmic = scale.type && ticksOf(scale as { constant: number }, extent, room), ticks = Math.max(2, Math.round(room / 120));
    return logarithmic ? [Plot.gridX(logarithmic, grid), Plot.axisX(logarithmic, look)] : [Plot.gridX({ ...grid, ticks }), Plot.axisX({ ...look, ticks })];
  };
  const draw = (width: number, paper: boolean): Element[] => {
    const right = width < 560 ? 96 : 160, row = paper ? 19 : k_row, list: Clock[] = shown.slice(0, paper ? k_paper_bars : shown.length).map((r, i) => ({ ...r, i })), picked = store.get("clock");
    const bounded = list.filter((r) => r.bound_s > 0 && r.offset_s !== null);
    const plot = Plot.plot({
      width, height: list.length * row + 46, marginLeft: left(width), marginRight: right, marginTop: 22, marginBottom: 24, className: "chart",
      x, y: { domain: list.map((r) => r.i), axis: null, padding: 0.28 },
      marks: [
        ...axis(width, right),
        Plot.barX(list, { x1: extent[0], x2: extent[1], y: "i", insetTop: -4, insetBottom: -4, fill: (r) => (r.clock === picked ? "var(--picked-row)" : "transparent"), className: "m-row" }),
        Plot.barX(list.filter((r) => r.offset_s), { x1: 0, x2: "offset_s", y: "i", fill: (r) => (isWrong(r) ? "var(--before)" : "var(--other)"), className: "m-offset" }),
        ...(page.corrected ? [Plot.barX(bounded, { x1: (r) => -r.bound_s, x2: "bound_s", y: "i", fill: "var(--after)", insetTop: 5, insetBottom: 5, insetLeft: -1, insetRight: -1, className: "m-after" })]
          : [Plot.ruleY(bounded, { x1: (r) => r.offset_s - r.bound_s, x2: (r) => r.offset_s + r.bound_s, y: "i", stroke: "var(--after)", strokeWidth: 3, className: "m-bound" })]),
        Plot.ruleY(list.filter((r) => run(r) !== 0 && r.offset_s !== null), { x1: (r) => r.offset_s - run(r), x2: (r) => r.offset_s + run(r), y: "i", stroke: "var(--ink)", strokeWidth: 1, className: "m-drift" }),
        Plot.tickX(list.filter((r) => run(r) !== 0 && r.offset_s !== null), { x: (r) => r.offset_s + run(r), y: "i", insetTop: 3, insetBottom: 3, stroke: "var(--ink)", strokeWidth: 2, className: "m-drift-end" }),
        Plot.ruleX([0], { stroke: "var(--ink)" }),
        Plot.text(list, { y: "i", text: (r: Clock) => cut(r.clock, width < 560 ? 13 : 22), frameAnchor: "left", textAnchor: "end", dx: -8, fill: "var(--ink)"}),
        Plot.text(list, { y: "i", text: (r) => (width < 560 ? valueText(r).replace(/ \u00B1.*|^wanders, /g, "") : valueText(r)), frameAnchor: "right", textAnchor: "start", dx: 10, fill: (r) => (isWrong(r) ? "var(--bad)" : "var(--muted)") }),
        Plot.text([`\u2190 fast`], { frameAnchor: "top-left", textAnchor: "start", dy: -16, fill: "var(--muted)" }),
        Plot.text([`slow \u2192`], { frameAnchor: "top-right", textAnchor: "end", dy: -16, fill: "var(--muted)" }),
      ],
    });
    act(plot, "row", (i) => tellClock(page, list[i]), pick(list), (i) => `${list[i].clock}: ${list[i].state}, ${valueText(list[i])}`);
    for (const mark of ["offset", "after", "drift", "bound"]) plot.querySelectorAll<SVGElement>(`g.m-${mark}`).forEach((g) => { g.style.pointerEvents = "none"; });
    return rows.length > shown.length ? [plot, dots(width, right, paper)] : [plot];
  };
  /** All clocks, a dot each. */
  const dots = (width: number, right: number, paper: boolean): Element => {
    const list = known, picked = store.get("clock");
    const plot = Plot.plot({
      width, height: 128, marginLeft: left(width), marginRight: right, marginTop: 8, marginBottom: 24, className: "chart", x,
      marks: [...axis(width, right), Plot.ruleX([0], { stroke: "var(--ink)" }),
        Plot.dot(list, Plot.dodgeY("middle", { x: "offset_s", r: paper ? 1.5 : list.length > 200 ? 2 : 3, padding: 0.5, fill: (r: Clock) => (r.clock === picked ? "var(--pick)" : isWrong(r) ? "var(--before)" : "var(--other)"), className: "m-dots" }) as any),
        Plot.text([`all ${count(list.length)}`], { frameAnchor: "left", textAnchor: "end", dx: -8, fill: "var(--muted)" })],
    });
    act(plot, "dots", (i) => tellClock(page, list[i]), pick(list));
    return plot;
  };
  const rest = rows.length - shown.length, sharp = known.some((r) => r.bound_s > 0);
  const key = (colour: string, text: string): HTMLElement => el("span", { class: "key" }, el("span", { class: "swatch", style: `--swatch:var(${colour})` }), text);
  const title = `By how much each ${words.clock === "clock" ? "clock" : `${words.clock}\u2019s clock`} is off`;
  return el("div", { class: "hero" }, el("h3", {}, title), picture(store, "offsets", () => title, ["clock"], draw),
    el("div", { class: "legend" }, known.some((r) => r.offset_s !== 0) ? key("--before", page.corrected ? "before" : "offset") : null, sharp ? key("--after", page.corrected ? wrong > 0 ? "after: no more than the bound is left" : "bound: no clock is off by more" : "bound") : null,
      known.some((r) => run(r) !== 0) ? el("span", { class: "key" }, "\u2500\u2503 drift, from begin to end") : null, scale.type ? el("span", { class: "key" }, "logarithmic scale") : null),
    el("p", { class: "note" }, `Offset: what the clock lacks; + is slow, \u2212 is fast. ${rest > 0 ? `The clocks furthest off have bars, all ${count(rows.length)} a dot. ` : ""}${wrong > 0 ? `${many(wrong, "clock is", "clocks are")} wrong. ` : ""}A click picks one in all views.`));
}
