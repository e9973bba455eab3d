// The answer: whose clock is wrong, by how much, how sure, and what next.
import { type Json, type Page, count, duration, isCounted, isWrong, share } from "./data";
import { bars } from "./bars";
import { type Store, el, isolated, name } from "./ui";

const k_words: Record<string, string> = { violations: "Violations", clean: "Clean", unproven: "Unproven" };

/** A word as a shell takes it. */
export const quoted = (word: string): string => /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
export const archiveOf = (page: Page): string => String(page.before.archive ?? "").replace(/\/traces\.otf2$/, "");

export function worstKind(check: Json): [string, Json] | null {
  let found: [string, Json] | null = null;
  for (const [kind, edges] of Object.entries<Json>(check.edges)) {
    if (edges.worst_s === null || !isCounted(check, kind)) continue;
    if (!found || edges.worst_s < found[1].worst_s) found = [kind, edges];
  }
  return found;
}

const number = (value: number, field: string): HTMLElement => el("span", { "data-json": field, "data-value": value }, count(value));

/** The sentence of `entrain clocks`, with the name of the worst clock set off. */
function headline(page: Page): HTMLElement {
  const clocks: string = page.raw.table.sentence.replace(/(\d) (us|ns|ms|s)\b/g, (_: string, d: string, unit: string) => `${d}\u00a0${unit.replace("us", "\u00b5s")}`), first = page.rows[0]?.clock ?? "", at = clocks.indexOf(first);
  const text = (clocks || page.raw.sentence.replace(/^[A-Z][a-z]+: /, "")).replace(/^./, (c: string) => c.toUpperCase());
  if (!page.rows.some(isWrong) || at < 0) return el("h1", {}, text);
  const stop = clocks.indexOf(". ", at), rest = stop < 0 ? clocks.length : stop + 1;
  return el("h1", {}, text.slice(0, at), el("bdi", { class: "culprit" }, first), text.slice(at + first.length, rest),
    stop < 0 ? null : el("small", {}, ` ${clocks.slice(rest + 1)}`));
}

function counts(page: Page): HTMLElement {
  const { before, after, words } = page, n = before.violations as number;
  if (before.checked_edges === 0) return el("p", { class: "lead" }, "No ", words.edges, " could be checked.");
  const of = ["of ", number(before.checked_edges, "before.checked_edges"), ` ${words.edges}`];
  const said = n === 0 ? el("p", { class: "lead" }, "None ", ...of, " arrives before it was sent.")
    : el("p", { class: "lead" }, el("strong", { class: "bad" }, number(n, "before.violations")), " ", ...of, " arrive before they were sent");
  if (n === 0) return said;
  if (after) said.append("; with the clocks corrected, ", el("strong", { class: after.violations > 0 ? "bad" : "good" }, after.violations === 0 ? el("span", { "data-json": "after.violations", "data-value": 0 }, "none") : number(after.violations, "after.violations")), after.violations > 1 ? " do." : " does.");
  else said.append(".");
  return said;
}

function certainty(page: Page): HTMLElement | null {
  const { bounds, rows, words } = page, known = rows.map((r) => r.bound_s).filter((b) => typeof b === "number") as number[];
  if (bounds?.reason) return el("p", {}, el("strong", {}, "How sure: "), "not proved, since ", name(bounds.reason), ".");
  if (known.length === 0) return el("p", {}, el("strong", {}, "How sure: "), page.raw.command === "check" || page.raw.command === "correct" ? "not proved in this run; the option --bounds proves it." : "not proved.");
  const always = Math.max(...rows.map((r) => r.worst_bound_s ?? 0));
  return el("p", {}, el("strong", {}, "How sure: "), el("strong", {}, `\u00B1${duration(Math.max(...known), 3)}`), " or better half of the time",
    always > 0 ? `, \u00B1${duration(always, 3)} at worst` : "", ` (where a ${words.clock} communicates; proved against `, name(bounds?.reference_process ?? ""), ").");
}

/** What the reader does now. */
function next(page: Page): HTMLElement | null {
  const { raw, done, before } = page, archive = archiveOf(page), output = raw.correct?.output?.replace(/\/traces\.otf2$/, "");
  const left = page.after?.violations ?? before.violations;
  const say = (...text: (Node | string)[]): HTMLElement => el("p", { class: "next" }, el("strong", {}, "What next: "), ...text);
  if (before.verdict === "unproven") return say("too little could be checked: ", name(before.verdict_reason ?? "see What was left out"), ".");
  if (before.violations === 0 && !page.rows.some(isWrong)) return say("nothing; the trace can be used as it is.");
  if (raw.align?.contradicts_itself) return say("nothing was aligned, as no clocks meet most edges: look at the columns of the table, their units, and what each row joins.");
  if (raw.align) return raw.align.output ? say("use the clock maps in ", el("code", {}, raw.align.output), ".") : say("align the table again with the option ", el("code", {}, "-o maps.csv"), ", which writes these clock maps.");
  if (output) return say("use ", el("code", {}, output), " from here on", left > 0 ? "; more than clocks is wrong where violations are left." : ".");
  return say(el("code", {}, `entrain correct ${quoted(archive)} -o corrected`), done ? " writes a copy with these clocks." : " writes a copy with corrected clocks.");
}

function fact(label: string, ...value: (Node | string | null)[]): HTMLElement {
  return el("div", { class: "fact" }, el("dt", {}, label), el("dd", {}, ...value));
}
function facts(page: Page): HTMLElement {
  const { before, after, words, bounds, raw } = page, worst = worstKind(before);
  const machines = new Set(page.rows.map((r) => r.machine).filter((m) => m));
  const now = after && worst ? worstKind(after) : null;
  return el("dl", { class: "facts" },
    worst && fact(before.violations > 0 ? "worst of all" : "smallest margin", el("span", { class: worst[1].worst_s < 0 ? "bad" : "", "data-json": "worst_s", "data-value": worst[1].worst_s }, duration(worst[1].worst_s)), now ? ` \u2192 ${duration(now[1].worst_s)}` : ""),
    fact("could be checked", el("span", { "data-json": "before.coverage.share", "data-value": before.coverage.share ?? "" }, share(before.coverage.share))),
    bounds?.worst ? fact("bound, anywhere", "\u00B1", el("span", { "data-json": "bound_s", "data-value": bounds.worst.bound_s }, duration(bounds.worst.bound_s))) : null,
    page.rows.length > 0 ? fact(words.clocks, count(page.rows.length), machines.size > 0 && words.clock !== "machine" ? ` on ${count(machines.size)} ${machines.size === 1 ? "machine" : "machines"}` : "") : null,
    page.done?.displacement_s ? fact("largest change of a time", duration(page.done.displacement_s.max)) : null,
    raw.correct && fact("events moved", `${count(raw.correct.moved_events)} of ${count(raw.correct.compared_events)}`));
}

export function verdict(page: Page, store: Store): HTMLElement {
  const { before, raw, done } = page, said = before.verdict as string;
  const second = raw.sentence_after ? el("span", { class: `pill ${done!.verdict}` }, raw.align ? (raw.align.contradicts_itself ? "not aligned" : "aligned") : `corrected: ${(k_words[done!.verdict] ?? "not checked").toLowerCase()}`) : null;
  return el("section", { id: "verdict", class: `verdict ${said}` },
    el("p", { class: "pills" }, el("span", { class: `pill ${said}` }, k_words[said] ?? said), second ? " \u2192 " : null, second),
    headline(page), counts(page), certainty(page), next(page), bars(page, store), facts(page),
    el("details", { class: "said" }, el("summary", {}, "The verdict in the words of entrain"), el("p", {}, isolated(raw.sentence)), raw.sentence_after ? el("p", {}, isolated(raw.sentence_after)) : null));
}
