// View 2: the offset of every clock over time.
import uPlot from "uplot";
import { type Curve, type Page, count, duration, marginOf, offsetAt } from "./data";
import { type Store, css, el, isolated, name, onWidth, palette, section, segmented } from "./ui";

type Mode = "change" | "offset";

/** A polyline between x = a and b on a grid of columns: the lowest and highest value of each. */
function resample(xs: number[], ys: number[], a: number, b: number, columns: number, base: (x: number) => number): (number | null)[] {
  const out: (number | null)[] = new Array(2 * columns).fill(null);
  if (xs.length === 0) return out;
  const width = (b - a) / columns;
  let i = 0;
  const at = (x: number): number | null => {
    if (x < xs[0] || x > xs[xs.length - 1]) return null;
    while (i + 1 < xs.length - 1 && xs[i + 1] <= x) i++;
    const next = Math.min(i + 1, xs.length - 1), span = xs[next] - xs[i];
    return ys[i] + (span > 0 ? ((ys[next] - ys[i]) * (x - xs[i])) / span : 0);
  };
  let p = xs.findIndex((x) => x >= a);
  if (p < 0) p = xs.length;
  for (let c = 0; c < columns; c++) {
    const left = a + c * width, right = left + width;
    let low = at(left + width / 4), high = at(left + (3 * width) / 4), swap = false;
    if (low !== null && high !== null && low > high) { [low, high] = [high, low]; swap = true; }
    for (; p < xs.length && xs[p] < right; p++) {
      if (low === null || ys[p] < low) { low = ys[p]; swap = xs[p] > left + width / 2; }
      if (high === null || ys[p] > high) { high = ys[p]; swap = xs[p] < left + width / 2; }
    }
    if (low === null || high === null) continue;
    out[2 * c] = (swap ? high : low) + base(left + width / 4);
    out[2 * c + 1] = (swap ? low : high) + base(left + (3 * width) / 4);
  }
  return out;
}

export class Offsets {
  private mode: Mode = "change";
  private plot: uPlot | null = null;
  private range: [number, number];
  private others: [number, number] = [0, 0]; // range of what is drawn dashed
  private order: number[]; // positions in page.curves, the one that moved most first
  private readonly host = el("div", { class: "plot", tabindex: 0, role: "img", "aria-label":
    "Offset of every clock over time. Arrow keys move, plus and minus zoom, 0 shows all." });
  private readonly readout = el("p", { class: "readout", "aria-live": "polite" });
  private readonly legend = el("div", { class: "legend" });
  private readonly redraw: () => void;
  node: HTMLElement;

  constructor(private page: Page, private store: Store) {
    this.range = this.busy();
    this.order = page.curves.map((_, i) => i).sort((a, b) => page.clocks.moved[page.curves[b].clock] - page.clocks.moved[page.curves[a].clock]);
    const zoom = (factor: number) => () => this.zoom(factor, (this.range[0] + this.range[1]) / 2);
    this.node = section("offsets", "Offset over time, per clock",
      "Every machine has its own clock. A line shows by how much times of one clock are shifted to make them common: where lines bend, the clock ran fast or slow.",
      el("div", { class: "controls" },
        segmented<Mode>("What to draw", [["change", "Detail"], ["offset", "Whole offset"]], this.mode, (m) => { this.mode = m; this.draw(); }),
        el("div", { class: "segmented" },
          el("button", { type: "button", "aria-label": "Zoom in", onclick: zoom(0.5) }, "+"),
          el("button", { type: "button", "aria-label": "Zoom out", onclick: zoom(2) }, "\u2212"),
          el("button", { type: "button", onclick: () => this.show(0, page.length) }, "All"))),
      this.readout, this.host, this.legend,
      el("p", { class: "note" }, this.noteText()));
    this.host.addEventListener("keydown", (e) => this.key(e));
    this.redraw = onWidth(this.host, () => this.draw());
    store.listen(() => this.redraw());
  }

  private noteText(): string {
    const rest = this.page.clocks.used.filter((u) => u).length - this.page.curves.length;
    const band = this.page.curves.some((c) => c.band[0].length > 0);
    return "Detail: against the straight line through each clock as measured; whole offset: against the reference clock, "
      + isolated(this.page.clocks.names[this.page.clocks.reference]) + ". "
      + (band ? "Band of a picked clock: the interval in which it is proved to lie. " : "With --bounds, a band shows where each clock is proved to lie. ")
      + (this.page.corrected ? "Dashed: the other side of the switch. " : "")
      + "Circles: measurements of the clock. Triangles: limits that the tightest edges of a picked clock set (\u25B2 not below, \u25BC not above). "
      + (rest > 0 ? `Grey area: the other ${count(rest)} clocks. ` : "")
      + (this.range[1] - this.range[0] < this.page.length ? "It begins with the part of the run that communicates; All shows the whole run. " : "")
      + "Drag to zoom, wheel to zoom, shift and drag to pan, double click for all.";
  }
  /** The part of the run in which something is communicated: nothing is known outside of it. */
  private busy(): [number, number] {
    const times = this.page.edges.flatMap((e) => [e.sent.after, e.received.after]);
    let a = this.page.length, b = 0;
    for (const t of times) { a = Math.min(a, t); b = Math.max(b, t); }
    const pad = (b - a) * 0.03;
    a = Math.max(0, a - pad); b = Math.min(this.page.length, b + pad);
    return b - a > this.page.length / 1e5 && b - a < 0.9 * this.page.length ? [a, b] : [0, this.page.length];
  }
  private base(curve: Curve): (x: number) => number {
    if (this.mode === "change") return () => 0;
    const own = this.page.clocks.measured[curve.clock], reference = this.page.clocks.measured[this.page.clocks.reference];
    return (x) => offsetAt(own, x) - offsetAt(reference, x);
  }
  private show(a: number, b: number): void {
    const least = this.page.length / 1e6;
    const span = Math.min(Math.max(b - a, least), this.page.length);
    const begin = Math.min(Math.max(a, 0), this.page.length - span);
    this.range = [begin, begin + span];
    this.draw();
  }
  private zoom(factor: number, centre: number): void {
    const [a, b] = this.range;
    this.show(centre - (centre - a) * factor, centre + (b - centre) * factor);
  }
  private key(e: KeyboardEvent): void {
    const [a, b] = this.range, step = (b - a) / 5;
    const keys: Record<string, () => void> = {
      ArrowLeft: () => this.show(a - step, b - step), ArrowRight: () => this.show(a + step, b + step),
      "+": () => this.zoom(0.5, (a + b) / 2), "-": () => this.zoom(2, (a + b) / 2), "0": () => this.show(0, this.page.length),
    };
    if (!keys[e.key]) return;
    e.preventDefault();
    keys[e.key]();
  }
  private colour(curve: number): string {
    const rank = this.order.indexOf(curve), colours = palette();
    const picked = this.store.state.clock;
    if (picked !== null) return this.page.curves[curve].clock === picked ? css("--pick") : css("--faint");
    return rank < colours.length ? colours[rank] : css("--other");
  }

  private draw(): void {
    const width = this.host.clientWidth;
    if (width === 0) return;
    const { page, store } = this, when = store.state.when;
    const columns = Math.max(100, Math.min(1000, Math.floor(width / 1.5)));
    const [a, b] = this.range, step = (b - a) / columns;
    const xs: number[] = [];
    for (let c = 0; c < columns; c++) xs.push((a + (c + 0.25) * step) / page.hz, (a + (c + 0.75) * step) / page.hz);
    const seconds = (ys: (number | null)[]) => ys.map((y) => (y === null ? null : y / page.hz));
    const other = page.corrected && (page.curves.length <= 16 || store.state.clock !== null);
    const drawn = [...this.order].reverse().sort((p, q) => Number(page.curves[p].clock === store.state.clock) - Number(page.curves[q].clock === store.state.clock));
    const data: any[] = [xs];
    const series: uPlot.Series[] = [{}];
    for (const i of drawn) {
      const curve = page.curves[i], [cx, cy] = curve[when];
      data.push(seconds(resample(cx, cy, a, b, columns, this.base(curve))));
      const picked = curve.clock === store.state.clock;
      series.push({ stroke: this.colour(i), width: picked ? 2.5 : this.order.indexOf(i) < 8 ? 1.5 : 1, points: { show: false }, pxAlign: 0, label: String(curve.clock) });
    }
    // The other state too, dashed, so that a glance shows what the correction does; and so that the
    // scale stays when it is switched.
    let least = Infinity, most = -Infinity;
    for (const i of this.order) {
      const curve = page.curves[i], [cx, cy] = curve[when === "before" ? "after" : "before"];
      const ys = seconds(resample(cx, cy, a, b, columns, this.base(curve)));
      for (const y of ys) if (y !== null) { least = Math.min(least, y); most = Math.max(most, y); }
      if (!other || (store.state.clock !== null && curve.clock !== store.state.clock)) continue;
      data.push(ys);
      series.push({ stroke: this.colour(i), width: 1, dash: [4, 4], alpha: 0.55, points: { show: false }, pxAlign: 0, label: "other" });
    }
    this.others = [least, most];
    this.plot?.destroy();
    const small = width < 560;
    const axis = { stroke: css("--muted"), grid: { stroke: css("--line"), width: 1 }, ticks: { stroke: css("--line"), width: 1 }, font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif" };
    this.plot = new uPlot({
      width, height: small ? 300 : 420, legend: { show: false }, series,
      scales: { x: { time: false, range: () => [a / page.hz, b / page.hz] }, y: { range: (_u, lo, hi) => this.yRange(lo, hi) } },
      axes: [
        { ...axis, label: "time since the begin (s)", labelSize: 24, space: 74,
          values: (_u, ticks, _axis, _space, incr) => ticks.map((t) => t.toFixed(Math.min(9, Math.max(0, Math.ceil(-Math.log10(incr) - 1e-9))))) },
        { ...axis, size: small ? 72 : 82, values: (_u, ticks) => ticks.map((t) => duration(t, 3)) },
      ],
      cursor: { focus: { prox: 24 }, drag: { x: true, y: false, setScale: false }, points: { size: 7 }, dataIdx: (_u, _s, i) => i },
      focus: { alpha: 1 },
      hooks: {
        drawClear: [(u) => this.drawUnder(u)],
        draw: [(u) => this.drawOver(u)],
        setSelect: [(u) => this.select(u)],
        setSeries: [(u, i) => this.hover(u, i, drawn)],
        setCursor: [(u) => this.hover(u, (u as any)._focused ?? null, drawn)],
        ready: [(u) => this.listen(u, drawn)],
      },
    }, data as uPlot.AlignedData, this.host);
    this.host.dataset.curves = String(drawn.length);
    this.host.dataset.sum = String(data.slice(1, drawn.length + 1).reduce((sum, ys) => sum + ys.reduce((s: number, y: number | null) => s + Math.abs(y ?? 0), 0), 0));
    this.drawLegend();
    if (this.readout.textContent === "") this.say(null);
  }
  /** Room for the lines, and for the band of a picked clock if that is not much larger. */
  private yRange(lo: number | null, hi: number | null): [number, number] {
    let low = Math.min(lo ?? 0, this.others[0]), high = Math.max(hi ?? 0, this.others[1]);
    const curve = this.bandCurve();
    if (curve && this.mode === "change") {
      const inside = curve.band[0].map((x, i) => [x, i]).filter(([x]) => x >= this.range[0] && x <= this.range[1]).map(([, i]) => i);
      const least = Math.min(low, ...inside.map((i) => curve.band[1][i] / this.page.hz)), most = Math.max(high, ...inside.map((i) => curve.band[2][i] / this.page.hz));
      const limit = 6 * Math.max(high - low, 1e-9);
      low = Math.max(Math.min(low, least), low - limit);
      high = Math.min(Math.max(high, most), high + limit);
    }
    const pad = Math.max((high - low) * 0.06, 2 / this.page.hz);
    return [low - pad, high + pad];
  }
  private bandCurve(): Curve | undefined {
    const picked = this.store.state.clock;
    return this.page.curves.find((c) => c.clock === picked && c.band[0].length > 0);
  }
  private area(u: uPlot, xs: number[], low: (number | null)[], high: (number | null)[], colour: string): void {
    const ctx = u.ctx, { left, top, width, height } = u.bbox;
    ctx.save();
    ctx.beginPath(); ctx.rect(left, top, width, height); ctx.clip();
    ctx.fillStyle = colour;
    const X = (x: number) => u.valToPos(x / this.page.hz, "x", true), Y = (y: number) => u.valToPos(y / this.page.hz, "y", true);
    const points = xs.map((_, i) => i).filter((i) => low[i] !== null && high[i] !== null);
    ctx.beginPath();
    points.forEach((i, n) => (n === 0 ? ctx.moveTo(X(xs[i]), Y(high[i]!)) : ctx.lineTo(X(xs[i]), Y(high[i]!))));
    for (const i of [...points].reverse()) ctx.lineTo(X(xs[i]), Y(low[i]!));
    ctx.closePath(); ctx.fill();
    ctx.restore();
  }
  private drawUnder(u: uPlot): void {
    const { page } = this, when = this.store.state.when;
    if (page.clocks.used.filter((n) => n).length > page.curves.length) {
      const [low, high] = page.raw.others[`${this.mode}_${page.corrected ? when : "before"}`];
      const xs = low.map((_: number, i: number) => ((i + 0.5) * page.length) / low.length);
      this.area(u, xs, low, high, css("--area"));
    }
    const picked = this.bandCurve();
    if (!picked) return;
    const base = this.base(picked), [xs, low, high] = picked.band;
    this.area(u, xs, low.map((y, i) => y + base(xs[i])), high.map((y, i) => y + base(xs[i])), css("--band"));
  }
  private drawOver(u: uPlot): void {
    const { page, store } = this, ctx = u.ctx, scale = devicePixelRatio;
    const { left, top, width, height } = u.bbox;
    ctx.save();
    ctx.beginPath(); ctx.rect(left, top, width, height); ctx.clip();
    this.order.forEach((i) => {
      const curve = page.curves[i];
      if (store.state.clock !== null && store.state.clock !== curve.clock) return;
      const base = this.base(curve);
      ctx.strokeStyle = ctx.fillStyle = this.colour(i);
      ctx.lineWidth = 1.5 * scale;
      for (const [x, y, half] of curve.sessions) {
        const px = u.valToPos(x / page.hz, "x", true), value = y + base(x);
        const py = u.valToPos(value / page.hz, "y", true);
        if (half > 0 && (store.state.clock === curve.clock || page.curves.length <= 8)) { ctx.beginPath(); ctx.moveTo(px, u.valToPos((value - half) / page.hz, "y", true)); ctx.lineTo(px, u.valToPos((value + half) / page.hz, "y", true)); ctx.stroke(); }
        ctx.beginPath(); ctx.arc(px, py, 3.5 * scale, 0, 7); ctx.fillStyle = css("--card"); ctx.fill(); ctx.stroke();
      }
      if (store.state.clock === curve.clock) this.drawLimits(u, curve, base);
    });
    ctx.restore();
  }
  /** What edges say of a clock: a receive sets a lower limit, a send an upper one. */
  private drawLimits(u: uPlot, curve: Curve, base: (x: number) => number): void {
    const { page } = this, when = this.store.state.when, ctx = u.ctx, size = 4 * devicePixelRatio;
    const [xs, ys] = curve[when];
    const own = (x: number): number => {
      let i = xs.findIndex((v) => v > x); i = i < 0 ? xs.length - 1 : Math.max(i, 1);
      const span = xs[i] - xs[i - 1];
      return ys[i - 1] + (span > 0 ? ((ys[i] - ys[i - 1]) * (x - xs[i - 1])) / span : 0);
    };
    if (xs.length < 2) return;
    for (const edge of page.edges) {
      const receives = page.places[edge.to].clock === curve.clock;
      if (!receives && page.places[edge.from].clock !== curve.clock) continue;
      const margin = marginOf(edge, when), x = receives ? edge.received.after : edge.sent.after;
      const limit = own(x) + base(x) + (receives ? -margin : margin);
      const px = u.valToPos(x / page.hz, "x", true), py = u.valToPos(limit / page.hz, "y", true), up = receives ? -1 : 1;
      ctx.fillStyle = margin < 0 ? css("--bad") : css("--muted");
      ctx.beginPath(); ctx.moveTo(px, py); ctx.lineTo(px - size, py - up * size * 1.4); ctx.lineTo(px + size, py - up * size * 1.4); ctx.closePath(); ctx.fill();
    }
  }
  private select(u: uPlot): void {
    if (u.select.width < 4) return;
    this.show(u.posToVal(u.select.left, "x") * this.page.hz, u.posToVal(u.select.left + u.select.width, "x") * this.page.hz);
  }
  private hover(u: uPlot, series: number | null, drawn: number[]): void {
    (u as any)._focused = series;
    const i = u.cursor.idx;
    if (series === null || series === undefined || series < 1 || series > drawn.length || i === null || i === undefined) return this.say(null);
    const value = u.data[series][i];
    if (value === null || value === undefined) return this.say(null);
    this.say(this.page.curves[drawn[series - 1]].clock, u.data[0][i], value);
  }
  private say(clock: number | null, x = 0, value = 0): void {
    const { page, store } = this;
    if (clock === null) {
      const picked = store.state.clock;
      this.readout.replaceChildren(picked === null ? "Point at a line to read it; click to pick its clock." : "Picked: ", picked === null ? "" : name(page.clocks.names[picked]));
      return;
    }
    this.readout.replaceChildren(name(page.clocks.names[clock]), ` at ${duration(x)}: `, el("strong", {}, duration(value)),
      this.mode === "change" ? " off its straight line" : " against the reference");
  }
  private listen(u: uPlot, drawn: number[]): void {
    const xOf = (e: MouseEvent): number => u.posToVal(e.clientX - u.over.getBoundingClientRect().left, "x") * this.page.hz;
    u.over.addEventListener("wheel", (e) => { if (!e.ctrlKey && !e.shiftKey && !e.altKey && Math.abs(e.deltaY) < 1) return; e.preventDefault(); this.zoom(e.deltaY < 0 ? 0.75 : 1 / 0.75, xOf(e)); }, { passive: false });
    u.over.addEventListener("dblclick", () => this.show(0, this.page.length));
    let down: number | null = null;
    u.over.addEventListener("mousedown", (e) => {
      down = e.clientX;
      if (!e.shiftKey) return;
      e.stopImmediatePropagation();
      const [a, b] = this.range, from = e.clientX, perPixel = (b - a) / u.over.clientWidth;
      const move = (m: MouseEvent) => { this.range = [a, b]; this.show(a - (m.clientX - from) * perPixel, b - (m.clientX - from) * perPixel); };
      addEventListener("mousemove", move);
      addEventListener("mouseup", () => removeEventListener("mousemove", move), { once: true });
    }, true);
    u.over.addEventListener("click", (e) => {
      const focused = (u as any)._focused;
      if (down !== null && Math.abs(e.clientX - down) < 4 && focused && focused <= drawn.length) this.store.pick(this.page.curves[drawn[focused - 1]].clock);
    });
  }
  private drawLegend(): void {
    const { page, store } = this;
    const shown = this.order.slice(0, 8).map((i) => [i, page.curves[i].clock] as const);
    const picked = page.curves.findIndex((c) => c.clock === store.state.clock);
    if (picked >= 0 && !shown.some(([i]) => i === picked)) shown.push([picked, page.curves[picked].clock]);
    this.legend.replaceChildren(...shown.map(([i, clock]) =>
      el("button", { type: "button", class: "chip", "data-clock": clock, "aria-pressed": String(store.state.clock === clock), onclick: () => store.pick(clock) },
        el("span", { class: "swatch", style: `--swatch:${this.colour(i)}` }), name(page.clocks.names[clock]))),
      page.curves.length > shown.length ? el("span", { class: "note" }, `and ${count(page.curves.length - shown.length)} more`) : "");
  }
}
