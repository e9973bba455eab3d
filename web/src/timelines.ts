// The worst edges before and after, with the calls around them.
import { type Edge, type Json, type Page, type When, cut, duration, kindText, marginOf } from "./data";
import { type Store, el, isolated, name, picture, section, showTip, hideTip, svg } from "./ui";
import { archiveOf, quoted } from "./verdict";

interface Box { text: string; begin: number; end: number; depth: number; open: boolean }
type Record4 = [number, number, number, number];
interface Line { edge: number; sender: Record4[]; receiver: Record4[] }
const k_ends = ["sender", "receiver"] as const;
const k_row = 22, k_gap = 34, k_top = 52;

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
  return [...found, ...stack];
}

/** "ncclDevKernel_AllReduce_Sum_f32(...)" without its parameters. */
const plain = (text: string): string => text.replace(/\(.*$/, "") || text;

class Panel {
  private readonly edge: Edge;
  private readonly calls: Record<When, Box[][]>;
  /** The same span of time around the send in both panels, so that they compare. */
  private readonly span: [number, number];
  /** Ends too far apart to see calls beside them: the receiver's lane is drawn nearer. */
  private readonly shift: Record<When, number>;
  constructor(private page: Page, line: Line, private deep: number) {
    this.edge = page.edges[line.edge];
    const sides = (of: When): Box[][] => k_ends.map((end) => boxes(line[end], page.raw.time_lines.regions, of));
    this.calls = { before: sides("before"), after: page.corrected ? sides("after") : [] };
    const whens: When[] = page.corrected ? ["before", "after"] : ["before"];
    const near = whens.map((w) => Math.abs(marginOf(this.edge, w))), local = this.reach(line, page.corrected ? "after" : "before");
    const most = Math.max(...near), unit = Math.max(local, Math.min(...near)), first = marginOf(this.edge, "before"), broken = page.corrected && near[0] > 30 * unit;
    this.shift = { before: broken ? first - Math.sign(first) * 1.2 * unit : 0, after: 0 };
    const margins = whens.map((w) => marginOf(this.edge, w) - this.shift[w]), pad = broken ? 0.8 * unit : Math.min(Math.max(local, 0.5 * most), 3 * Math.max(most, 1));
    this.span = [Math.min(0, ...margins) - pad, Math.max(0, ...margins) + pad];
  }
  /** How far the tenth call from the ends is. */
  private reach(line: Line, when: When): number {
    const column = when === "before" ? 2 : 3, times: number[] = [];
    k_ends.forEach((end, i) => { const at = i === 0 ? this.edge.sent[when] : this.edge.received[when]; for (const r of line[end]) times.push(Math.abs(r[column] - at)); });
    times.sort((a, b) => a - b);
    return Math.max(1, times[Math.min(times.length - 1, 9)] ?? Math.abs(marginOf(this.edge, when)));
  }
  /** The innermost call at an end of the edge; sooner one that begins there than one that ends. */
  private at(side: number, when: When): Box | undefined {
    const at = side === 0 ? this.edge.sent[when] : this.edge.received[when], ends = (c: Box): number => Number(c.end === at);
    return this.calls[when][side].filter((c) => c.begin <= at && c.end >= at).sort((a, b) => ends(a) - ends(b) || b.depth - a.depth || (a.end - a.begin) - (b.end - b.begin))[0];
  }
  where(side: number, when: When = "before"): string { return plain(this.at(side, when)?.text ?? ""); }
  height(): number { return k_top + 2 * this.lane() + k_gap + 46; }
  private lane(): number {
    const whens = Object.values(this.calls).flat();
    return Math.min(this.deep, 1 + Math.max(0, ...whens.flat().map((c) => c.depth))) * k_row + 6;
  }

  draw(when: When, width: number, alone: boolean): SVGSVGElement {
    const { page, edge } = this, sent = edge.sent[when], margin = marginOf(edge, when), bad = margin < 0, lane = this.lane(), height = this.height();
    const [a, b] = this.span, shift = this.shift[when];
    const X = (t: number, side: number): number => 8 + ((t - sent - (side === 1 ? shift : 0) - a) / (b - a)) * (width - 16);
    const chart = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", class: "chart", "aria-label": `${alone ? "As it is" : when}: received ${duration(margin / page.hz)} after it was sent` });
    const tone = bad ? "bad" : "good", id = `arrow-${when}`;
    const text = (x: number, y: number, of: string, attributes: object = {}): SVGTextElement => svg("text", { x, y, ...attributes }, of);
    chart.append(svg("defs", {}, svg("marker", { id, viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 7, markerHeight: 7, orient: "auto" }, svg("path", { d: "M0,0L10,5L0,10z", class: tone }))));
    const heading = text(8, 15, "", { class: "caption" });
    heading.append(svg("tspan", {}, alone ? "" : when === "before" ? "Before: " : "After: "), svg("tspan", { class: tone }, `${width < 420 ? "" : "received "}${duration(Math.abs(margin) / page.hz)} ${width < 420 ? (bad ? "too early" : "later") : `${bad ? "before" : "after"} it was sent`}`));
    chart.append(heading);
    [edge.from, edge.to].forEach((place, side) => {
      const y = k_top + side * (lane + k_gap), time = side === 0 ? sent : edge.received[when], x = X(time, side), own = this.at(side, when), at = this.where(side, when);
      const room = Math.floor((width - 16) / 8.4), whole = `${cut(page.places[place].name, Math.max(12, room - 14 - Math.min(at.length, 24)))}`;
      const label = svg("text", { x: 8, y: side === 0 ? y - 8 : y + lane + 10, class: "lane", direction: "ltr" }, `${isolated(whole)} ${side === 0 ? "sends" : "receives"}${at ? ` in ${isolated(cut(at, Math.max(8, room - whole.length - 14)))}` : ""}`);
      chart.append(label, svg("rect", { x: 8, y, width: width - 16, height: lane - 6, class: "lane-bg" }));
      const seen = this.calls[when][side].filter((c) => X(c.end, side) >= 8 && X(c.begin, side) <= width - 8);
      const hidden = Math.max(0, Math.max(0, ...seen.map((c) => c.depth)) - this.deep + 1);
      for (const c of seen.filter((one) => one.depth >= hidden)) chart.append(...this.box(c, X(c.begin, side), X(c.end, side), y + (c.depth - hidden) * k_row, width, c === own));
      chart.append(svg("line", { x1: x, x2: x, y1: y - 3, y2: y + lane - 3, class: `end ${tone}` }));
    });
    const x1 = X(sent, 0), x2 = X(edge.received[when], 1), y1 = k_top + lane - 3, y2 = k_top + lane + k_gap - 4;
    chart.append(svg("line", { x1, y1, x2, y2, class: `flow ${tone}`, "marker-end": `url(#${id})`, "stroke-dasharray": shift ? "6 5" : undefined }));
    if (shift) chart.append(text((x1 + x2) / 2, (y1 + y2) / 2 + 4, `${duration(Math.abs(margin) / page.hz)} apart: shortened`, { "text-anchor": "middle", class: `halo ${tone}` }));
    else this.axis(chart, width, height, (t) => X(sent + t * page.hz, 0));
    return chart;
  }
  private box(c: Box, from: number, to: number, y: number, width: number, own: boolean): SVGElement[] {
    const x1 = Math.max(8, from), x2 = Math.min(width - 8, to), room = Math.floor((x2 - x1 - 8) / 6.7), name_ = plain(c.text);
    const box = svg("rect", { x: x1, y: y + 1, width: Math.max(1, x2 - x1), height: k_row - 2, rx: 2, class: own ? "call own" : "call" });
    box.addEventListener("mousemove", (e) => showTip(e, name(c.text), `${duration((c.end - c.begin) / this.page.hz)}${c.open ? " or more" : ""}`));
    box.addEventListener("mouseleave", hideTip);
    return room >= 4 ? [box, svg("text", { x: x1 + 5, y: y + 15, class: "call-name" }, cut(name_, room))] : [box];
  }
  private axis(chart: SVGSVGElement, width: number, height: number, X: (seconds: number) => number): void {
    const [a, b] = this.span.map((t) => t / this.page.hz), least = (b - a) * (84 / width), unit = 10 ** Math.floor(Math.log10(least)), step = unit * ([1, 2, 5].find((f) => f * unit >= least) ?? 10);
    for (let i = Math.ceil(a / step); i * step <= b; i++) {
      const x = X(i * step);
      if (x < 26 || x > width - 26) continue;
      chart.append(svg("line", { x1: x, x2: x, y1: height - 30, y2: height - 25, class: "tick" }), svg("text", { x, y: height - 11, "text-anchor": "middle", class: "label" }, i === 0 ? "sent" : duration(i * step, 2)));
    }
  }
}

/** What a check says of the two ends of its worst edge, if it is this one: what a user can look up. */
function lookUp(page: Page, edge: Edge): string[] {
  const worst: Json | undefined = page.before.edges[edge.kind]?.worst;
  const same = (end: Json, time: number): boolean => Math.abs(end.ticks - page.raw.begin_ticks - time) <= 1024; // JavaScript rounds large times
  if (!worst || !same(worst.send, edge.sent.before) || !same(worst.receive, edge.received.before)) return [];
  return [worst.send.region, worst.receive.region];
}

/** The command that shows these edges among all other calls. */
function command(page: Page): HTMLElement | null {
  const lines: number = page.raw.time_lines.lines.length, archive = archiveOf(page);
  if (lines === 0 || !archive || page.raw.align) return null; // edges cannot be exported
  return el("p", { class: "note" }, "With everything around the worst ones, for Perfetto: ",
    el("code", {}, `entrain export ${quoted(archive)} --to perfetto --around worst:${lines} -o worst.pftrace`));
}

export function timeLines(page: Page, store: Store): HTMLElement | null {
  const lines: Line[] = page.raw.time_lines.lines;
  if (lines.length === 0) return null;
  const bad = page.before.violations > 0, list = el("div", { class: "edge-list", role: "group", "aria-label": "The worst edges" }), foot = el("p", { class: "note" });
  const clocksOf = (line: Line): string[] => [page.edges[line.edge].from, page.edges[line.edge].to].map((p) => page.raw.clocks.names[page.places[p].clock]);
  const chosen = (): number => {
    const clock = store.get("clock"), edge = Math.min(Math.max(0, Number(store.get("edge")) || 0), lines.length - 1);
    if (store.get("edge") || !clock || clocksOf(lines[edge]).includes(clock)) return edge;
    return Math.max(0, lines.findIndex((line) => clocksOf(line).includes(clock)));
  };
  const draw = (width: number, paper: boolean): Element[] => {
    const line = lines[chosen()], panel = new Panel(page, line, paper ? 2 : 3), edge = page.edges[line.edge], alone = !page.corrected || (edge.sent.before === edge.sent.after && edge.received.before === edge.received.after), two = !alone && (width > 860 || paper);
    list.replaceChildren(...lines.map((one, i) => {
      const e = page.edges[one.edge];
      return el("button", { type: "button", class: clocksOf(one).includes(store.get("clock", "\n")) ? "chip marked" : "chip", "aria-pressed": String(i === chosen()), onclick: () => store.set({ edge: String(i) }) },
        el("strong", { class: marginOf(e, "before") < 0 ? "bad" : "" }, duration(marginOf(e, "before") / page.hz)), " ", name(page.places[e.from].name), " \u2192 ", name(page.places[e.to].name));
    }));
    const at = (ticks: number): string => `${((page.raw.begin_ticks + ticks) / page.hz).toFixed(6)}\u00a0s`, known = lookUp(page, edge);
    const end = (place: number, time: number, what: string): (Node | string)[] => [name(page.places[place].name), ` at ${at(time)}`, ...(what ? [" in ", name(what)] : [])];
    foot.replaceChildren(`In the trace (${kindText(page, edge.kind)}): sent by `, ...end(edge.from, edge.sent.before, known[0] || panel.where(0)), "; received by ", ...end(edge.to, edge.received.before, known[1] || panel.where(1)), ".",
      line.sender.length + line.receiver.length === 0 ? ` No ${page.words.call}s are known around it.` : "");
    return (alone ? ["before" as When] : ["before" as When, "after" as When]).map((when) => panel.draw(when, two ? Math.floor((width - 24) / 2) : width, alone));
  };
  const title = bad ? "The worst before and after" : "The tightest";
  return section("timelines", bad ? (page.corrected ? "The worst, before and after" : "The worst") : "The tightest",
    "The arrow leads from cause to effect. Where it points to the left, the effect is stamped before its cause.",
    list, picture(store, "worst", () => `${title}: ${page.places[page.edges[lines[chosen()].edge].from].name} \u2192 ${page.places[page.edges[lines[chosen()].edge].to].name}`, ["clock", "edge"], draw), foot, command(page));
}

