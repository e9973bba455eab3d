// The data block (schema entrain.page/1) and the units in which people read it.

export type Json = { [key: string]: any };
/** x, offset at x, rate: ticks, ticks, ticks per tick. */
export type Line = [number, number, number];
export type When = "before" | "after";

export interface Curve {
  clock: number;
  before: [number[], number[]];
  after: [number[], number[]];
  band: [number[], number[], number[]];
  sessions: [number, number, number][];
}
export interface Edge {
  kind: string;
  from: number; // place
  to: number;
  sent: Record<When, number>; // ticks since the begin
  received: Record<When, number>;
}
/** from, to, family, edges, violations, worst margin. */
export type Cell = [number, number, number, number, number, number];
export type Bins = [number, number][];

export interface Page {
  raw: Json;
  hz: number;
  corrected: boolean;
  length: number; // ticks
  done: Json | null; // the report of a correction or alignment
  before: Json; // the check before
  after: Json | null;
  nodes: string[];
  clocks: {
    reference: number;
    names: string[];
    nodes: number[];
    used: number[];
    measured: Line[];
    final: Line[];
    moved: number[];
    sessions: number[];
    bounds: (number | null)[];
    unbounded: number[];
    locations: number[];
  };
  curves: Curve[];
  edges: Edge[];
  places: { name: string; clock: number; row: number }[];
  binEdges: number[];
}

function sums(distances: number[], factor = 1): number[] {
  let at = 0;
  return distances.map((d) => (at += d) * factor);
}

export function load(): Page {
  const raw: Json = JSON.parse(document.getElementById("data")!.textContent!);
  const step = raw.x_step_ticks;
  const done: Json | null = raw.correct ?? raw.align ?? null;
  const curves: Curve[] = raw.curves.map((c: Json) => ({
    clock: c.clock,
    before: [sums(c.before[0], step), sums(c.before[1])],
    after: raw.corrected
      ? [sums(c.after[0], step), sums(c.after[1])]
      : [sums(c.before[0], step), sums(c.before[1])],
    band: [sums(c.band[0], step), sums(c.band[1]), sums(c.band[2])],
    sessions: c.sessions,
  }));
  const edges: Edge[] = raw.edges.map((e: number[]) => ({
    kind: raw.kinds[e[0]],
    from: e[1],
    sent: { before: e[2], after: e[3] },
    to: e[4],
    received: { before: e[5], after: e[6] },
  }));
  return {
    raw,
    hz: raw.hz,
    corrected: raw.corrected,
    length: raw.length_ticks,
    done,
    before: raw.check ?? done?.before,
    after: done?.after ?? null,
    nodes: raw.nodes,
    clocks: raw.clocks,
    curves,
    edges,
    places: raw.places,
    binEdges: raw.bin_edges_ticks,
  };
}

export const marginOf = (edge: Edge, when: When): number => edge.received[when] - edge.sent[when];

const k_kinds: Record<string, string> = {
  p2p: "messages",
  one_to_n: "one to all",
  n_to_one: "all to one",
  n_to_n: "all to all",
  scan: "scan",
  thread: "threads",
  rma: "one-sided",
  init_finalize: "init, finalize",
};
export const kindText = (kind: string): string => k_kinds[kind] ?? kind;

const minus = (text: string): string => text.replace("-", "\u2212");

/** "-33.96 us" in the unit that suits it, with `digits` significant ones. */
export function duration(seconds: number | null | undefined, digits = 4): string {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return "n/a";
  if (seconds === 0) return "0 s";
  const size = Math.abs(seconds);
  const [factor, unit] =
    size >= 0.9995 ? [1, "s"] : size >= 0.9995e-3 ? [1e3, "ms"] : size >= 0.9995e-6 ? [1e6, "\u00b5s"] : [1e9, "ns"];
  const value = seconds * factor;
  const decimals = Math.max(0, digits - 1 - Math.max(0, Math.floor(Math.log10(Math.abs(value)))));
  const text = Math.abs(value) >= 1e5 ? value.toLocaleString("en", { maximumFractionDigits: 0 })
    : value.toFixed(Math.min(decimals, 3));
  return minus(`${text}\u00a0${unit}`);
}
export const count = (n: number): string => n.toLocaleString("en");
export const share = (s: number | null): string =>
  s === null ? "n/a" : s === 0 || s === 1 ? `${100 * s}\u00a0%` : `${(100 * s).toFixed(s > 0.9995 || s < 0.01 ? 3 : 1)}\u00a0%`;
export const ppm = (rate: number): string => minus(`${(rate * 1e6).toFixed(3)}`);
export const many = (n: number, one: string, more: string): string => `${count(n)}\u00a0${n === 1 ? one : more}`;

/** The offset of a clock against the reference at time x, and its rate, by lines. */
export function offsetAt(line: Line, x: number): number {
  return line[1] + line[2] * (x - line[0]);
}
