// The data block (schema entrain.page/2), the units in which people read it, and their words.

export type Json = { [key: string]: any };
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
/** A row of the table of clocks, as `entrain clocks --json` prints it. */
export type Clock = Json;

export interface Page {
  raw: Json;
  hz: number;
  corrected: boolean;
  length: number; // ticks
  done: Json | null; // the report of a correction or alignment
  before: Json; // the check before
  after: Json | null;
  bounds: Json | undefined;
  rows: Clock[];
  curves: Curve[];
  edges: Edge[];
  places: { name: string; clock: number; row: number }[];
  words: Words;
}
/** What the things of this input are called. */
export interface Words {
  clock: string; // whose clock
  clocks: string;
  edges: string; // what is held against causality
  single: string; // an edge that is no collective
  call: string; // what stands on a time line
}

function sums(distances: number[], factor = 1): number[] {
  let at = 0;
  return distances.map((d) => (at += d) * factor);
}

const k_singles = ["p2p", "thread", "rma"];
export const isSingle = (kind: string): boolean => k_singles.includes(kind);

function wordsOf(raw: Json, before: Json): Words {
  const names: string[] = raw.clocks.names, format: string = raw.format ?? "";
  const spans = format.startsWith("spans"), training = format.startsWith("Chrome"), archive = format.includes("archive");
  const machines = archive && names.length > 0 && names.every((n) => raw.nodes.includes(n));
  const clock = spans ? "host" : machines ? "machine" : names.some((n) => /\brank\b/i.test(n)) ? "rank" : "clock";
  const has = (kinds: string[]): boolean => kinds.some((k) => before.edges[k]?.count > 0);
  const single = spans ? "requests and replies" : training ? "kernel launches" : archive ? "messages" : "edges";
  const nouns = [has(["p2p"]) ? single : "", has(["thread"]) ? "thread hand-overs" : "", has(["rma"]) ? "one-sided accesses" : "", has(["one_to_n", "n_to_one", "n_to_n", "scan"]) ? "pairs in collectives" : ""].filter((t) => t);
  const edges = nouns.length > 2 ? `${nouns[0]}, ${nouns[1]} and others` : nouns.join(" and ") || "edges";
  return { clock, clocks: `${clock}s`, edges, single, call: spans ? "operation" : training ? "kernel" : "call" };
}

export function load(): Page {
  const raw: Json = JSON.parse(document.getElementById("data")!.textContent!);
  const step = raw.x_step_ticks, done: Json | null = raw.correct ?? raw.align ?? null;
  const before: Json = raw.check ?? done?.before;
  const side = (s: [number[], number[]]): [number[], number[]] => [sums(s[0], step), sums(s[1])];
  return {
    raw, hz: raw.hz, corrected: raw.corrected, length: raw.length_ticks, done, before, after: done?.after ?? null,
    bounds: raw.check?.bounds ?? done?.bounds ?? done?.before?.bounds,
    rows: raw.table.clocks,
    curves: raw.curves.map((c: Json) => ({ clock: c.clock, before: side(c.before), after: side(raw.corrected ? c.after : c.before),
      band: [sums(c.band[0], step), sums(c.band[1]), sums(c.band[2])], sessions: c.sessions })),
    edges: raw.edges.map((e: number[]) => ({ kind: raw.kinds[e[0]], from: e[1], sent: { before: e[2], after: e[3] }, to: e[4], received: { before: e[5], after: e[6] } })),
    places: raw.places,
    words: wordsOf(raw, before),
  };
}

/** False for edges of init and finalize where the verdict leaves them out. */
export function isCounted(check: Json, kind: string): boolean {
  const edges: Json[] = Object.values(check.edges), all = edges.reduce((sum, e) => sum + e.count, 0);
  return kind !== "init_finalize" || check.checked_edges === all;
}
export const marginOf = (edge: Edge, when: When): number => edge.received[when] - edge.sent[when];
export const isWrong = (row: Clock): boolean => row.state !== "right" && row.state !== "untied";

const k_kinds: Record<string, string> = {
  one_to_n: "one to all", n_to_one: "all to one", n_to_n: "all to all", scan: "scan", thread: "threads", rma: "one-sided", init_finalize: "init, finalize",
};
export const kindText = (page: Page, kind: string): string => (kind === "p2p" ? page.words.single : k_kinds[kind] ?? kind);

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
  const text = Math.abs(value) >= 1e4 ? value.toLocaleString("en", { maximumFractionDigits: 0 })
    : value.toFixed(Math.min(decimals, 3));
  return minus(`${text}\u00a0${unit}`);
}
export const signed = (seconds: number, digits = 4): string => (seconds > 0 ? "+" : "") + duration(seconds, digits);
export const count = (n: number): string => n.toLocaleString("en");
/** "1.4k": four characters at most. */
export function shortCount(n: number): string {
  if (n < 1000) return String(n);
  const [factor, unit] = n < 999_500 ? [1e3, "k"] : n < 999.5e6 ? [1e6, "M"] : [1e9, "G"], value = n / factor;
  return (value < 9.95 ? value.toFixed(1) : value.toFixed(0)) + unit;
}
export const share = (s: number | null): string =>
  s === null ? "n/a" : s === 0 || s === 1 ? `${100 * s}\u00a0%` : `${(100 * s).toFixed(s > 0.9995 || s < 0.01 ? 3 : 1)}\u00a0%`;
export const ppm = (rate: number): string => minus(`${(rate * 1e6).toFixed(Math.abs(rate) < 1e-4 ? 3 : 1)}`);
export const many = (n: number, one: string, more: string): string => `${count(n)}\u00a0${n === 1 ? one : more}`;
export const cut = (text: string, most: number): string => (text.length > most ? `${text.slice(0, Math.max(1, most - 1))}\u2026` : text);
