// The clocks that are not straight, over time.
import * as Plot from "@observablehq/plot";
import { type Clock, type Curve, type Page, type When, duration, marginOf } from "./data";
import { type Store, el, name, picture, section } from "./ui";

const k_colours = 8;

/** Whether a curve says more than the offset and drift of its clock: it leaves its straight line by
 * more than the bound, or was set. */
function isBent(page: Page, curve: Curve, row: Clock | undefined): boolean {
  if (!row) return false;
  const bend = page.raw.clocks.bend[curve.clock] / page.hz;
  return row.state === "bent" || row.state === "stepped" || (bend > (row.bound_s ?? 0) && bend > 0.02 * row.most_s);
}

export function curves(page: Page, store: Store): HTMLElement | null {
  const rows = new Map(page.rows.map((r) => [r.clock, r])), names: string[] = page.raw.clocks.names;
  const drawn = page.curves.filter((c) => isBent(page, c, rows.get(names[c.clock]))).sort((a, b) => page.raw.clocks.bend[b.clock] - page.raw.clocks.bend[a.clock]).slice(0, k_colours);
  if (drawn.length === 0) return null;
  const whole: [number, number] = [0, page.length / page.hz], busy = busyPart(page);
  const range = (): [number, number] => {
    const [a, b] = store.get("range").split("~").map(Number);
    return Number.isFinite(a) && b > a ? [a, b] : busy;
  };
  const show = (a: number, b: number): void => {
    const span = Math.min(Math.max(b - a, whole[1] / 1e6), whole[1]), begin = Math.min(Math.max(a, 0), whole[1] - span);
    store.set({ range: `${Number(begin.toPrecision(9))}~${Number((begin + span).toPrecision(9))}` });
  };
  const zoom = (factor: number) => (): void => { const [a, b] = range(), c = (a + b) / 2; show(c - (c - a) * factor, c + (b - c) * factor); };
  const s = (ticks: number): number => ticks / page.hz;
  const points = (c: Curve, when: When) => c[when][0].map((x, i) => ({ x: s(x), y: s(c[when][1][i]), clock: c.clock }));
  const colour = (c: Curve): string => {
    const picked = store.get("clock");
    return picked && drawn.some((d) => names[d.clock] === picked) ? (names[c.clock] === picked ? "var(--pick)" : "var(--faint)") : `var(--c${1 + drawn.indexOf(c)})`;
  };
  const legend = el("div", { class: "legend" });
  const draw = (width: number): Element[] => {
    const [a, b] = range(), picked = drawn.find((c) => names[c.clock] === store.get("clock")), main: When = page.corrected ? "after" : "before";
    legend.replaceChildren(...drawn.map((c) => el("button", { type: "button", class: "chip", "data-clock": names[c.clock], "aria-pressed": String(c === picked), onclick: () => store.toggle("clock", names[c.clock]) },
      el("span", { class: "swatch", style: `--swatch:${colour(c)}` }), name(names[c.clock]))));
    const ordered = picked ? [...drawn.filter((c) => c !== picked), picked] : drawn;
    const visible = ordered.flatMap((c) => [...inside(points(c, "before"), a, b), ...inside(points(c, "after"), a, b)]);
    const low = Math.min(0, ...visible), high = Math.max(0, ...visible), pad = Math.max(0.06 * (high - low), 2 / page.hz);
    const band = picked ? picked.band[0].map((x, i) => ({ x: s(x), low: s(picked.band[1][i]), high: s(picked.band[2][i]) })) : [];
    const plot = Plot.plot({
      width, height: width < 560 ? 300 : 380, marginLeft: 84, marginRight: 16, marginTop: 16, marginBottom: 40, className: "chart",
      x: { domain: [a, b], label: "time since the begin (s)", labelAnchor: "center", labelArrow: "none", labelOffset: 36 }, y: { domain: [low - pad, high + pad], label: null, tickFormat: (t: number) => duration(t, 3), grid: true },
      marks: [
        Plot.areaY(band, { x: "x", y1: "low", y2: "high", fill: "var(--band)", clip: true }),
        Plot.ruleY([0], { stroke: "var(--muted)" }),
        ...ordered.flatMap((c) => [
          ...(page.corrected ? [Plot.lineY(points(c, "before"), { x: "x", y: "y", stroke: colour(c), strokeWidth: 1, strokeDasharray: "4 4", clip: true })] : []),
          Plot.lineY(points(c, main), { x: "x", y: "y", stroke: colour(c), strokeWidth: c === picked ? 2.5 : 1.6, clip: true }),
          Plot.dot(c.sessions, { x: (d) => s(d[0]), y: (d) => s(d[1]), r: 3.5, stroke: colour(c), fill: "var(--card)", clip: true }),
        ]),
        Plot.dot(picked ? limits(page, picked, main) : [], { x: (d) => s(d.x), y: (d) => s(d.y), symbol: "triangle", rotate: (d: any) => (d.up ? 0 : 180), r: 4, fill: (d) => (d.bad ? "var(--bad)" : "var(--muted)"), clip: true }),
        Plot.tip(ordered.flatMap((c) => points(c, main)), Plot.pointer({ x: "x", y: "y", title: (d: any) => `${names[d.clock]}\n${duration(d.y)} off its line at ${duration(d.x)}`, fill: "var(--card)", stroke: "var(--line)" })),
      ],
    });
    listen(plot, show, [a, b]);
    return [plot];
  };
  const host = picture(store, "curves", () => "Clocks that are not straight", ["clock", "range"], draw);
  host.tabIndex = 0;
  host.setAttribute("role", "group");
  host.setAttribute("aria-label", "Curves of clocks. Arrow keys move, plus and minus zoom, 0 shows all.");
  host.addEventListener("keydown", (e) => {
    const [a, b] = range(), step = (b - a) / 5;
    const keys: Record<string, () => void> = { ArrowLeft: () => show(a - step, b - step), ArrowRight: () => show(a + step, b + step), "+": zoom(0.5), "-": zoom(2), "0": () => show(...whole) };
    if (keys[e.key]) { e.preventDefault(); keys[e.key](); }
  });
  return section("curves", "Clocks that are not straight", `By how much a ${page.words.clock}\u2019s times leave the straight line through them as measured: offset and drift do not tell all of these.`,
    el("div", { class: "controls" }, legend, el("div", { class: "segmented" }, el("button", { type: "button", "aria-label": "Zoom in", onclick: zoom(0.5) }, "+"), el("button", { type: "button", "aria-label": "Zoom out", onclick: zoom(2) }, "\u2212"), el("button", { type: "button", onclick: () => show(...whole) }, "All"))),
    host, el("p", { class: "note" }, `${page.corrected ? "Line: after, dashed: before the correction. " : ""}Circles: measurements of the clock. For a picked one, ${drawn.some((c) => c.band[0].length > 0) ? "the band is the interval in which it is proved to lie, and " : ""}triangles are limits by the tightest ${page.words.edges} (\u25B2 not below, \u25BC not above). Drag to zoom.${busy !== whole && busy[1] - busy[0] < whole[1] ? " It begins with the part of the run that communicates; All shows the whole run." : ""}`));
}

/** Values of a polyline between a and b, and at these. */
function inside(points: { x: number; y: number }[], a: number, b: number): number[] {
  return points.flatMap((p, i) => {
    const q = points[i + 1], at = (x: number): number[] => (q && p.x < x && q.x > x ? [p.y + ((q.y - p.y) * (x - p.x)) / (q.x - p.x)] : []);
    return [...(p.x >= a && p.x <= b ? [p.y] : []), ...at(a), ...at(b)];
  });
}

/** The part of the run in which something is communicated: nothing is known outside of it. */
function busyPart(page: Page): [number, number] {
  const end = page.length;
  let a = end, b = 0;
  for (const t of page.edges.flatMap((e) => [e.sent.after, e.received.after])) { a = Math.min(a, t); b = Math.max(b, t); }
  const pad = (b - a) * 0.03;
  a = Math.max(0, a - pad); b = Math.min(end, b + pad);
  return b - a > end / 1e5 && b - a < 0.9 * end ? [a / page.hz, b / page.hz] : [0, end / page.hz];
}

/** What edges say of a clock: a receive sets a lower limit, a send an upper one. */
function limits(page: Page, curve: Curve, when: When): { x: number; y: number; up: boolean; bad: boolean }[] {
  const [xs, ys] = curve[when];
  const own = (x: number): number => {
    let i = xs.findIndex((v) => v > x); i = i < 0 ? xs.length - 1 : Math.max(i, 1);
    const span = xs[i] - xs[i - 1];
    return ys[i - 1] + (span > 0 ? ((ys[i] - ys[i - 1]) * (x - xs[i - 1])) / span : 0);
  };
  if (xs.length < 2) return [];
  return page.edges.flatMap((edge) => {
    const receives = page.places[edge.to].clock === curve.clock;
    if (!receives && page.places[edge.from].clock !== curve.clock) return [];
    const margin = marginOf(edge, when), x = receives ? edge.received.after : edge.sent.after;
    return [{ x, y: own(x) + (receives ? -margin : margin), up: receives, bad: margin < 0 }];
  });
}

/** Dragging chooses a range, a double click shows all. */
function listen(plot: any, show: (a: number, b: number) => void, [a, b]: [number, number]): void {
  const at = (e: MouseEvent): number => { const box = plot.getBoundingClientRect(); return plot.scale("x").invert(((e.clientX - box.left) / box.width) * plot.viewBox.baseVal.width); };
  plot.addEventListener("mousedown", (e: MouseEvent) => {
    const from = at(e), x = e.clientX;
    addEventListener("mouseup", (u) => { if (Math.abs(u.clientX - x) > 8) show(Math.max(a, Math.min(from, at(u))), Math.min(b, Math.max(from, at(u)))); }, { once: true });
  });
  plot.addEventListener("dblclick", () => show(0, Infinity));
}
