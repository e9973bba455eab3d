// View 3: who violates what: process by process.
import { type Cell, type Edge, type Page, count, duration, kindText, many, marginOf } from "./data";
import { type Store, css, el, hideTip, name, onWidth, section, segmented, showTip } from "./ui";

type Family = "0" | "1";
const k_limit = 40;

export class Matrix {
  private family: Family;
  private cells = new Map<number, Cell>();
  private most = 1;
  private cursor: [number, number] = [0, 0];
  private open: [number, number] | null = null;
  private readonly canvas = el("canvas", { tabindex: 0, role: "grid", "aria-label": "Violations by sender (row) and receiver (column). Arrow keys move, Enter opens a pair." });
  private readonly host = el("div", { class: "matrix-plot" }, this.canvas);
  private readonly detail = el("div", { class: "detail", "aria-live": "polite" });
  private readonly legend = el("p", { class: "note" });
  private readonly redraw: () => void;
  private readonly rows: number;
  private geometry = { left: 0, top: 0, size: 1 };
  node: HTMLElement;

  constructor(private page: Page, private store: Store) {
    this.rows = page.raw.matrix.names.length;
    const all: Cell[] = page.raw.matrix.before;
    const single = all.some((c) => c[2] === 0 && c[4] > 0) || !all.some((c) => c[2] === 1 && c[4] > 0);
    this.family = single ? "0" : "1";
    const what = { processes: "process", machines: "machine", neighbours: "group of neighbours" }[page.raw.matrix.rows as string];
    this.node = section("matrix", "Who violates whom",
      `A square is a sender (row) and a receiver (column), ${what} by ${what}: the more often its messages seem to arrive before they were sent, the stronger its colour.`,
      el("div", { class: "controls" }, segmented<Family>("Operations", [["0", "Messages"], ["1", "Collectives"]], this.family, (f) => { this.family = f; this.open = null; this.draw(); })),
      el("div", { class: "matrix" }, this.host, this.detail), this.legend);
    this.canvas.addEventListener("click", (e) => { const at = this.at(e); if (at) { this.cursor = at; this.pick(at); } });
    this.canvas.addEventListener("mousemove", (e) => this.hover(e));
    this.canvas.addEventListener("mouseleave", hideTip);
    this.canvas.addEventListener("keydown", (e) => this.key(e));
    this.canvas.addEventListener("focus", () => this.draw());
    this.canvas.addEventListener("blur", () => this.draw());
    this.redraw = onWidth(this.host, () => this.draw());
    store.listen((_s, changed) => { if (changed !== "size") this.redraw(); });
  }

  private rowName(row: number): string { return this.page.raw.matrix.names[row]; }
  private at(e: MouseEvent): [number, number] | null {
    const box = this.canvas.getBoundingClientRect(), { left, top, size } = this.geometry;
    const from = Math.floor((e.clientY - box.top - top) / size), to = Math.floor((e.clientX - box.left - left) / size);
    return from >= 0 && to >= 0 && from < this.rows && to < this.rows ? [from, to] : null;
  }
  private cellAt([from, to]: [number, number]): Cell | undefined { return this.cells.get(from * this.rows + to); }
  private hover(e: MouseEvent): void {
    const at = this.at(e);
    if (!at) return hideTip();
    const cell = this.cellAt(at);
    showTip(e, el("span", {}, name(this.rowName(at[0])), " \u2192 ", name(this.rowName(at[1]))),
      cell ? `${count(cell[4])} of ${many(cell[3], "edge", "edges")} violated` : "no communication",
      cell ? `smallest margin ${duration(cell[5] / this.page.hz)}` : null);
  }
  private key(e: KeyboardEvent): void {
    const moves: Record<string, [number, number]> = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    const move = moves[e.key];
    if (move) {
      this.cursor = [this.cursor[0] + move[0], this.cursor[1] + move[1]].map((v) => Math.min(Math.max(v, 0), this.rows - 1)) as [number, number];
      this.draw();
    } else if (e.key === "Enter" || e.key === " ") this.pick(this.cursor);
    else return;
    e.preventDefault();
  }
  private pick(at: [number, number]): void {
    this.open = this.open && this.open[0] === at[0] && this.open[1] === at[1] ? null : at;
    const edge = this.open ? this.edgesOf(this.open)[0] : undefined;
    if (edge && this.page.raw.matrix.rows === "processes") this.store.set({ clock: this.page.places[edge.to].clock });
    this.draw();
  }
  private edgesOf([from, to]: [number, number]): Edge[] {
    const { page } = this, when = this.store.state.when;
    const single = this.family === "0";
    return page.edges.filter((e) => page.places[e.from].row === from && page.places[e.to].row === to
      && ["p2p", "thread", "rma"].includes(e.kind) === single)
      .sort((a, b) => marginOf(a, when) - marginOf(b, when)).slice(0, 6);
  }

  private colour(cell: Cell | undefined): string {
    if (!cell) return css("--no-cell");
    if (cell[4] === 0) return css("--fine-cell");
    const t = Math.log(1 + cell[4]) / Math.log(1 + this.most);
    return `color-mix(in oklab, ${css("--heat-low")}, ${css("--heat-high")} ${Math.round(100 * t)}%)`;
  }
  private draw(): void {
    const { page, store } = this, n = this.rows, matrix = page.raw.matrix;
    const width = this.host.clientWidth;
    if (width === 0 || n === 0) return this.drawDetail();
    const list: Cell[] = page.corrected && store.state.when === "after" ? matrix.after : matrix.before;
    this.cells = new Map(list.filter((c) => c[2] === Number(this.family)).map((c) => [c[0] * n + c[1], c]));
    this.most = Math.max(1, ...[...matrix.before, ...(matrix.after ?? [])].filter((c: Cell) => c[2] === Number(this.family)).map((c: Cell) => c[4]));
    const named = n <= k_limit, ctx = this.canvas.getContext("2d")!;
    ctx.font = "12px system-ui, sans-serif";
    const short = (text: string, most: number): string => {
      if (ctx.measureText(text).width <= most) return text;
      let t = text; while (t.length > 1 && ctx.measureText("\u2026" + t).width > most) t = t.slice(1);
      return "\u2026" + t;
    };
    const label = named ? Math.min(Math.max(...matrix.names.map((t: string) => ctx.measureText(t).width)), width < 500 ? 84 : 150) : 0;
    const left = named ? label + 10 : 22;
    const size = Math.min((width - left - 2) / n, n <= 4 ? 88 : n <= 12 ? 54 : 600 / n);
    const turned = named && label > size - 6;
    const top = named ? (turned ? label + 10 : 24) : 22;
    this.geometry = { left, top, size };
    const scale = devicePixelRatio, w = left + size * n + 2, h = top + size * n + 2;
    this.canvas.width = Math.ceil(w * scale); this.canvas.height = Math.ceil(h * scale);
    this.canvas.style.width = `${w}px`; this.canvas.style.height = `${h}px`;
    ctx.scale(scale, scale);
    ctx.font = "12px system-ui, sans-serif"; ctx.textBaseline = "middle";
    const gap = size >= 8 ? 1 : 0;
    for (let from = 0; from < n; from++) for (let to = 0; to < n; to++) {
      const cell = this.cells.get(from * n + to);
      if (!cell && size < 3) continue;
      ctx.fillStyle = this.colour(cell);
      ctx.fillRect(left + to * size, top + from * size, size - gap, size - gap);
      if (cell && size >= 30) {
        const t = cell[4] === 0 ? 0 : Math.log(1 + cell[4]) / Math.log(1 + this.most);
        ctx.fillStyle = css(t > 0.55 ? "--on-heat" : cell[4] ? "--on-cool" : "--muted"); ctx.textAlign = "center";
        ctx.fillText(short(count(cell[4]), size - 4), left + (to + 0.5) * size, top + (from + 0.5) * size);
      }
    }
    this.drawMarks(ctx, left, top, size);
    ctx.fillStyle = css("--ink");
    if (named) for (let i = 0; i < n; i++) {
      if (size < 11 && i % 2) continue;
      ctx.textAlign = "right"; ctx.fillText(short(matrix.names[i], label), left - 6, top + (i + 0.5) * size);
      ctx.save(); ctx.translate(left + (i + 0.5) * size, top - 6);
      if (turned) { ctx.rotate(-Math.PI / 2); ctx.textAlign = "left"; } else { ctx.textAlign = "center"; ctx.translate(0, -5); }
      ctx.fillText(short(matrix.names[i], turned ? label : size - 4), 0, 0); ctx.restore();
    } else {
      ctx.textAlign = "left"; ctx.fillText(`${count(n)} receivers \u2192`, left, 10);
      ctx.save(); ctx.translate(10, top); ctx.rotate(-Math.PI / 2); ctx.textAlign = "right"; ctx.fillText("senders", 0, 0); ctx.restore();
    }
    this.host.dataset.total = String([...this.cells.values()].reduce((s, c) => s + c[4], 0));
    this.drawDetail();
  }
  /** Lines between machines, the picked clock, the cursor, the open pair. */
  private drawMarks(ctx: CanvasRenderingContext2D, left: number, top: number, size: number): void {
    const n = this.rows, nodes: number[] = this.page.raw.matrix.nodes;
    if (new Set(nodes).size > 1 && this.page.raw.matrix.rows === "processes" && new Set(nodes).size < n) {
      ctx.fillStyle = css("--muted");
      for (let i = 1; i < n; i++) if (nodes[i] !== nodes[i - 1]) { ctx.fillRect(left, top + i * size - 1, size * n, 1); ctx.fillRect(left + i * size - 1, top, 1, size * n); }
    }
    const box = (from: number, to: number, colour: string, line: number): void => {
      ctx.strokeStyle = colour; ctx.lineWidth = line;
      ctx.strokeRect(left + to * size - 0.5, top + from * size - 0.5, Math.max(size, 4), Math.max(size, 4));
    };
    const picked = this.store.state.clock;
    if (picked !== null) {
      const rows = new Set(this.page.places.filter((p) => p.clock === picked).map((p) => p.row));
      ctx.strokeStyle = css("--pick"); ctx.lineWidth = 2;
      for (const r of rows) { ctx.strokeRect(left, top + r * size, size * n, size); ctx.strokeRect(left + r * size, top, size, size * n); }
    }
    if (this.open) box(this.open[0], this.open[1], css("--ink"), 3);
    if (document.activeElement === this.canvas) box(this.cursor[0], this.cursor[1], css("--accent"), 3);
  }
  private drawDetail(): void {
    const { page, store } = this, when = store.state.when;
    const total = [...this.cells.values()];
    const violated = total.filter((c) => c[4] > 0).sort((a, b) => b[4] - a[4] || a[5] - b[5]);
    this.legend.textContent = (this.family === "0" ? "One edge per message. " : "Each process that leaves a collective is held against the last one that entered it. ")
      + `${many(violated.length, "pair", "pairs")} of ${count(total.length)} with violations, ${many(violated.reduce((s, c) => s + c[4], 0), "violation", "violations")} in all, ${page.corrected ? when : "as it is"}.`;
    if (this.open) return this.drawOpen(this.open, when);
    const worst = violated.slice(0, 8);
    this.detail.replaceChildren(
      el("h3", {}, worst.length ? "Pairs with most violations" : "No pair with violations"),
      worst.length ? el("p", { class: "note" }, "Pick one, here or in the matrix, to see its worst edges.") : el("p", { class: "note" }, "Pick a square to see its tightest edges."),
      el("ol", { class: "pairs" }, ...worst.map((c) => el("li", {}, el("button", { type: "button", class: "pair", "data-from": c[0], "data-to": c[1], onclick: () => this.pick([c[0], c[1]]) },
        el("span", {}, name(this.rowName(c[0])), " \u2192 ", name(this.rowName(c[1]))), el("span", { class: "num" }, `${count(c[4])} of ${count(c[3])}`))))));
  }
  private drawOpen(at: [number, number], when: "before" | "after"): void {
    const cell = this.cellAt(at), edges = this.edgesOf(at), { page } = this;
    const s = (ticks: number, digits = 4): string => duration(ticks / page.hz, digits);
    this.detail.replaceChildren(
      el("div", { class: "detail-head" }, el("h3", {}, name(this.rowName(at[0])), " \u2192 ", name(this.rowName(at[1]))),
        el("button", { type: "button", class: "close", "aria-label": "Close the pair", onclick: () => this.pick(at) }, "\u00D7")),
      el("p", {}, cell ? `${count(cell[4])} of ${many(cell[3], "edge", "edges")} violated; smallest margin ${s(cell[5])}.` : "No communication this way."),
      edges.length ? el("div", { class: "scroll" }, el("table", { class: "edges" },
        el("thead", {}, el("tr", {}, el("th", {}, "kind"), el("th", { class: "num" }, "sent at"), el("th", { class: "num" }, "margin"), page.corrected ? el("th", { class: "num" }, "after") : null)),
        el("tbody", {}, ...edges.map((e) => el("tr", {}, el("td", {}, kindText(e.kind)), el("td", { class: "num" }, `${((e.sent[when]) / page.hz).toFixed(6)}\u00a0s`),
          el("td", { class: marginOf(e, "before") < 0 ? "num bad" : "num" }, s(marginOf(e, "before"))),
          page.corrected ? el("td", { class: marginOf(e, "after") < 0 ? "num bad" : "num good" }, s(marginOf(e, "after"))) : null))))) : el("p", { class: "note" }, "No edge of this pair is kept in the page: others are worse."));
  }
}
