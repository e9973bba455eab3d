// Histograms over a scale that grows with the size of values, to both sides of 0 (views 4 and 7).
import { type Bins, type Page, count, duration } from "./data";
import { css, el, hideTip, onWidth, showTip, svg } from "./ui";

export interface Layer {
  label: string;
  colour: string; // CSS variable
  bins: Bins;
  filled: boolean;
}

/** Position of a value on the scale of the bins: its bin and the part of it. */
function positionOf(ticks: number): number {
  const size = Math.abs(ticks);
  return size < 8 ? size : 8 + 4 * (Math.log2(size) - 3);
}

export class Histogram {
  readonly node = el("div", { class: "plot hist" });
  private readonly redraw: () => void;
  constructor(private page: Page, private layers: Layer[], private text: { x: string; y?: string; violated?: boolean }) {
    this.redraw = onWidth(this.node, (width) => this.draw(width));
  }
  show(layers: Layer[]): void {
    this.layers = layers;
    this.redraw();
  }

  private draw(width: number): void {
    const height = 260, left = 52, right = 12, top = 24, bottom = 46;
    const all = this.layers.flatMap((l) => l.bins);
    this.node.dataset.sum = String(this.layers[0]?.bins.reduce((s, b) => s + b[0] * b[1], 0) ?? 0);
    if (all.length === 0) { this.node.replaceChildren(el("p", { class: "empty" }, "Nothing to count: the trace has no such edges.")); return; }
    const sizes = all.map((b) => Math.abs(b[0])).filter((s) => s > 0);
    const skipped = Math.max(0, Math.min(...(sizes.length ? sizes : [1])) - 3);
    const place = (bin: number): number => Math.sign(bin) * Math.max(0, Math.abs(bin) - skipped);
    const low = this.text.violated ? Math.min(-2, ...all.map((b) => place(b[0]))) - 1 : 0, high = Math.max(2, ...all.map((b) => place(b[0]))) + 2;
    const merge = Math.max(1, Math.ceil((high - low) / ((width - left - right) / 7)));
    const X = (p: number): number => left + ((p - low) / (high - low)) * (width - left - right);
    const grouped = this.layers.map((layer) => {
      const groups = new Map<number, number>();
      for (const [bin, n] of layer.bins) { const g = Math.floor(place(bin) / merge); groups.set(g, (groups.get(g) ?? 0) + n); }
      return groups;
    });
    const most = Math.max(1, ...grouped.flatMap((g) => [...g.values()]));
    const decades = Math.max(1, Math.ceil(Math.log10(most) + 0.05));
    const Y = (n: number): number => height - bottom - ((n <= 0 ? 0 : Math.log10(n) + 0.25) / (decades + 0.25)) * (height - top - bottom);
    const chart = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": this.text.x });
    if (this.text.violated && low < -1) {
      chart.append(svg("rect", { x: left, y: top, width: X(0) - left, height: height - top - bottom, class: "violated-area" }),
        svg("text", { x: X(0) - 6, y: 15, "text-anchor": "end", class: "bad" }, "received too early"), svg("text", { x: X(0) + 6, y: 15, class: "label" }, "in order"));
    }
    this.axes(chart, { X, Y, skipped, low, high, decades, width, height, left, right, top, bottom });
    this.layers.forEach((layer, i) => {
      const bars = [...grouped[i]].sort((a, b) => a[0] - b[0]);
      if (layer.filled) for (const [g, n] of bars) chart.append(svg("rect", { x: X(g * merge) + 0.5, y: Y(n), width: Math.max(1, X((g + 1) * merge) - X(g * merge) - 1), height: Math.max(0, height - bottom - Y(n)), fill: css(layer.colour), rx: 1 }));
      else {
        let path = "", last: number | null = null;
        for (const [g, n] of bars) {
          path += last === g ? `V${Y(n)}` : `${last === null ? "" : `V${height - bottom}`}M${X(g * merge)},${height - bottom}V${Y(n)}`;
          path += `H${X((g + 1) * merge)}`; last = g + 1;
        }
        chart.append(svg("path", { d: `${path}V${height - bottom}`, fill: "none", stroke: css(layer.colour), "stroke-width": 1.8 }));
      }
    });
    chart.addEventListener("mousemove", (e) => {
      const p = low + ((e.clientX - chart.getBoundingClientRect().left - left) / (width - left - right)) * (high - low);
      const g = Math.floor(p / merge);
      if (p < low || p > high) return hideTip();
      showTip(e, this.range(g * merge, (g + 1) * merge, skipped), ...this.layers.map((layer, i) => `${layer.label}: ${count(grouped[i].get(g) ?? 0)}`));
    });
    chart.addEventListener("mouseleave", hideTip);
    this.node.replaceChildren(chart, el("div", { class: "legend" }, ...this.layers.map((l) => el("span", { class: "key" }, el("span", { class: l.filled ? "swatch" : "swatch hollow", style: `--swatch:${css(l.colour)}` }), l.label))));
  }
  private value(position: number, skipped: number): number {
    const edges = this.page.binEdges, bin = position === 0 ? 0 : Math.min(edges.length - 1, Math.max(0, Math.floor(Math.abs(position)) + skipped));
    return (Math.sign(position) * edges[bin]) / this.page.hz;
  }
  private range(from: number, to: number, skipped: number): string {
    return `${duration(this.value(from, skipped), 3)} to ${duration(this.value(to, skipped), 3)}`;
  }
  private axes(chart: SVGSVGElement, g: any): void {
    const line = (x1: number, y1: number, x2: number, y2: number, c = "grid") => svg("line", { x1, y1, x2, y2, class: c });
    for (let d = 0; d <= g.decades; d++) {
      const n = 10 ** d;
      chart.append(line(g.left, g.Y(n), g.width - g.right, g.Y(n)), svg("text", { x: g.left - 6, y: g.Y(n) + 4, "text-anchor": "end", class: "label" }, n >= 1e6 ? `10^${d}` : count(n)));
    }
    const shares = this.text.violated && g.low < -1 && g.X(0) < 200; // the line with the words on both sides
    if (!shares) chart.append(svg("text", { x: 4, y: 14, class: "label" }, this.text.y ?? "edges"));
    const least = Math.log10(this.page.binEdges[1] / this.page.hz);
    let lastX = -1e9;
    const ticks: [number, string][] = [];
    for (const sign of [-1, 1]) for (let d = Math.ceil(least); d < 9; d++) {
      const position = sign * Math.max(0, positionOf(10 ** d * this.page.hz) - g.skipped);
      if (position > g.low && position < g.high && Math.abs(position) > 1) ticks.push([g.X(position), duration(sign * 10 ** d, 1)]);
    }
    if (g.low <= 0 && g.high > 0) ticks.push([g.X(0), "0"]);
    ticks.sort((a, b) => a[0] - b[0]);
    const zero = g.X(0);
    for (const [x, text] of ticks) {
      if (x - lastX < 48 || (text !== "0" && Math.abs(x - zero) < 34) || x > g.width - 18) continue;
      lastX = x;
      chart.append(line(x, g.height - g.bottom, x, g.height - g.bottom + 5, "tick"), svg("text", { x, y: g.height - g.bottom + 18, "text-anchor": "middle", class: "label" }, text));
    }
    chart.append(line(g.left, g.height - g.bottom, g.width - g.right, g.height - g.bottom, "tick"), line(zero, g.top, zero, g.height - g.bottom, "tick"),
      svg("text", { x: (g.left + g.width - g.right) / 2, y: g.height - 8, "text-anchor": "middle", class: "label" }, this.text.x));
  }
}

/** The bins of several kinds, added up. */
export function sum(parts: Bins[]): Bins {
  const all = new Map<number, number>();
  for (const bins of parts) for (const [bin, n] of bins) all.set(bin, (all.get(bin) ?? 0) + n);
  return [...all].sort((a, b) => a[0] - b[0]);
}
