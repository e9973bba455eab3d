// View 6: the worst edges, with the calls around them.
import { type Page, type When, duration, kindText, marginOf } from "./data";
import { type Store, css, el, hideTip, isolated, name, onWidth, section, showTip, svg } from "./ui";

interface Box { text: string; begin: number; end: number; depth: number; open: boolean }
type Record4 = [number, number, number, number];

/** Calls from their begins and ends; those that are cut off reach to the edge of what is known. */
function boxes(records: Record4[], regions: string[], when: When): Box[] {
  const column = when === "before" ? 2 : 3, found: Box[] = [], stack: Box[] = [];
  if (records.length === 0) return found;
  const first = records[0][column], last = records[records.length - 1][column];
  for (const r of records) {
    const text = r[1] < 0 ? "?" : regions[r[1]];
    if (r[0] === 1) stack.push({ text, begin: r[column], end: last, depth: stack.length, open: true });
    else {
      const call = stack.pop();
      if (call) { call.end = r[column]; call.open = false; found.push(call); }
      else { for (const b of found) b.depth++; found.push({ text, begin: first, end: r[column], depth: 0, open: false }); }
    }
  }
  for (const b of stack) found.push(b);
  return found;
}

/** A word as a shell takes it. */
const quoted = (word: string): string => /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

/** The command that shows these edges among all other calls. */
function command(page: Page): HTMLElement | null {
  const lines: number = page.raw.time_lines.lines.length, archive: string = page.before.archive;
  if (lines === 0 || !archive || page.raw.align) return null; // edges cannot be exported
  return el("p", { class: "note" }, "With everything around the worst edges, for Perfetto: ",
    el("code", {}, `entrain export ${quoted(archive)} --to perfetto --around worst:${lines} -o worst.pftrace`));
}

export class TimeLines {
  private picked = 0;
  private readonly host = el("div", { class: "plot timelines" });
  private readonly list = el("div", { class: "edge-list", role: "group", "aria-label": "The worst edges" });
  private readonly redraw: () => void;
  node: HTMLElement;

  constructor(private page: Page, private store: Store) {
    this.node = section("timelines", "The worst edges",
      "What the two processes of an edge were doing. The arrow leads from cause to effect: where it points to the left, the effect seems to come first.",
      this.list, this.host, command(page));
    this.redraw = onWidth(this.host, (w) => this.draw(w));
    store.listen((state, changed) => {
      if (changed === "clock" && state.clock !== null) {
        const at = page.raw.time_lines.lines.findIndex((l: any) => [page.edges[l.edge].from, page.edges[l.edge].to].some((p) => page.places[p].clock === state.clock));
        const own = page.raw.time_lines.lines[this.picked];
        const fits = own && [page.edges[own.edge].from, page.edges[own.edge].to].some((p) => page.places[p].clock === state.clock);
        if (at >= 0 && !fits) this.picked = at;
      }
      this.drawList(); this.redraw();
    });
    this.drawList();
  }
  private drawList(): void {
    const { page } = this;
    this.list.replaceChildren(...page.raw.time_lines.lines.map((line: any, i: number) => {
      const edge = page.edges[line.edge];
      const clocks = [page.places[edge.from].clock, page.places[edge.to].clock];
      return el("button", { type: "button", class: clocks.includes(this.store.state.clock ?? -1) ? "chip marked" : "chip", "aria-pressed": String(i === this.picked), onclick: () => { this.picked = i; this.drawList(); this.redraw(); } },
        el("strong", { class: marginOf(edge, "before") < 0 ? "bad" : "" }, duration(marginOf(edge, "before") / page.hz)), " ", name(page.places[edge.from].name), " \u2192 ", name(page.places[edge.to].name));
    }));
  }
  private draw(width: number): void {
    const line = this.page.raw.time_lines.lines[this.picked];
    if (!line) { this.host.replaceChildren(el("p", { class: "empty" }, "The trace has no edges: nothing that happens before something elsewhere.")); return; }
    const two = this.page.corrected && width > 860, own = two ? Math.floor((width - 24) / 2) : width;
    const whens: When[] = this.page.corrected ? ["before", "after"] : ["before"];
    this.host.replaceChildren(el("div", { class: two ? "pair-of-panels" : "" }, ...whens.map((when) => this.panel(line, when, own))), this.place(line));
  }
  private place(line: any): HTMLElement {
    const { page } = this, edge = page.edges[line.edge], begin = page.raw.begin_ticks;
    const at = (ticks: number): string => `${((begin + ticks) / page.hz).toFixed(6)} s`;
    return el("p", { class: "note" }, `${kindText(edge.kind)}; in the trace: sent at ${at(edge.sent.before)} by `, name(page.places[edge.from].name), `, received at ${at(edge.received.before)} by `, name(page.places[edge.to].name), " (times by the clocks as measured).",
      line.sender.length + line.receiver.length === 0 ? " No calls are known around it." : "");
  }
  /** The same time around the send in both panels, so that they compare. */
  private window(line: any, when: When): [number, number] {
    const sent = this.page.edges[line.edge].sent, sides: When[] = this.page.corrected ? ["before", "after"] : ["before"];
    const spans = sides.map((side) => this.reach(line, side).map((t) => t - sent[side]));
    return [sent[when] + Math.min(...spans.map((s) => s[0])), sent[when] + Math.max(...spans.map((s) => s[1]))];
  }
  private reach(line: any, when: When): [number, number] {
    const edge = this.page.edges[line.edge], column = when === "before" ? 2 : 3;
    const low = Math.min(edge.sent[when], edge.received[when]), high = Math.max(edge.sent[when], edge.received[when]);
    const times = [...line.sender, ...line.receiver].map((r: Record4) => r[column]).sort((a: number, b: number) => a - b);
    const left = times.filter((t) => t < low), right = times.filter((t) => t > high);
    const margin = Math.max(Math.abs(marginOf(edge, "before")), high - low, 1), take = 10;
    const pad = (reach: number): number => Math.min(Math.max(reach, 0.6 * margin), 6 * margin);
    return [low - pad(left.length ? low - left[Math.max(0, left.length - take)] : margin), high + pad(right.length ? right[Math.min(right.length - 1, take - 1)] - high : margin)];
  }
  private panel(line: any, when: When, width: number): HTMLElement {
    const { page } = this, edge = page.edges[line.edge], regions: string[] = page.raw.time_lines.regions;
    const [a, b] = this.window(line, when), row = 22, k_deep = 3, top = 30, gap = 44;
    const calls = [line.sender, line.receiver].map((records) => boxes(records, regions, when).filter((c) => c.end >= a && c.begin <= b));
    const deepest = calls.map((list) => Math.max(0, ...list.map((c) => c.depth)));
    const lane = Math.min(k_deep, 1 + Math.max(...deepest)) * row + 8, height = top + 2 * lane + gap + 34;
    const X = (t: number): number => 8 + ((t - a) / (b - a)) * (width - 16);
    const chart = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": `The edge ${when} the correction` });
    const id = `arrow-${when}`, bad = marginOf(edge, when) < 0, colour = css(bad ? "--bad" : "--good");
    chart.append(svg("defs", {}, svg("marker", { id, viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 7, markerHeight: 7, orient: "auto" }, svg("path", { d: "M0,0L10,5L0,10z", fill: colour }))));
    const lanes: [number, number, number][] = [[top, edge.from, edge.sent[when]], [top + lane + gap, edge.to, edge.received[when]]];
    for (const [y, place, time] of lanes) {
      const label = svg("text", { x: 8, y: y - 7, class: "lane" }); label.textContent = `${isolated(page.places[place].name)} \u2014 ${y === top ? "sends" : "receives"}`; label.setAttribute("direction", "ltr");
      chart.append(label, svg("rect", { x: 8, y, width: width - 16, height: lane - 8, class: "lane-bg" }));
      const side = y === top ? 0 : 1, shift = Math.max(0, deepest[side] - k_deep + 1);
      for (const c of calls[side]) {
        if (c.depth < shift) continue;
        const x1 = Math.max(8, X(c.begin)), x2 = Math.min(width - 8, X(c.end)), top_ = y + (c.depth - shift) * row;
        const mpi = c.text.startsWith("MPI_");
        const box = svg("rect", { x: x1, y: top_ + 1, width: Math.max(1, x2 - x1), height: row - 2, rx: 2, class: mpi ? "call mpi" : "call" });
        box.addEventListener("mousemove", (e) => showTip(e, name(c.text), `${duration((c.end - c.begin) / page.hz)}${c.open ? " or more" : ""}`));
        box.addEventListener("mouseleave", hideTip);
        chart.append(box);
        const room = Math.floor((x2 - x1 - 8) / 6.6);
        if (room >= 4) { const text = svg("text", { x: x1 + 5, y: top_ + 15, class: "call-name" }); text.textContent = c.text.length > room ? `${c.text.slice(0, room - 1)}\u2026` : c.text; chart.append(text); }
      }
      chart.append(svg("line", { x1: X(time), x2: X(time), y1: y - 3, y2: y + lane - 5, stroke: colour, "stroke-width": 2 }));
    }
    chart.append(svg("line", { x1: X(edge.sent[when]), y1: top + lane - 4, x2: X(edge.received[when]), y2: top + lane + gap - 5, stroke: colour, "stroke-width": 2.5, "marker-end": `url(#${id})` }));
    const least = ((b - a) / page.hz) * (78 / width), unit = 10 ** Math.floor(Math.log10(least)), step = unit * ([1, 2, 5].find((f) => f * unit >= least) ?? 10);
    for (let t = Math.ceil((a - edge.sent[when]) / page.hz / step) * step; t <= (b - edge.sent[when]) / page.hz; t += step) {
      const x = X(edge.sent[when] + t * page.hz), value = Math.abs(t) < step / 1e6 ? 0 : t;
      if (x < 24 || x > width - 24) continue;
      chart.append(svg("line", { x1: x, x2: x, y1: height - 30, y2: height - 25, class: "tick" }), svg("text", { x, y: height - 11, "text-anchor": "middle", class: "label" }, value === 0 ? "sent" : duration(value, 2)));
    }
    return el("figure", {}, el("figcaption", {}, el("span", {}, page.corrected ? (when === "before" ? "Before" : "After") : "As it is"),
      el("strong", { class: bad ? "bad" : "good" }, bad ? `received ${duration(-marginOf(edge, when) / page.hz)} before it was sent` : `received ${duration(marginOf(edge, when) / page.hz)} after it was sent`)), chart);
  }
}
