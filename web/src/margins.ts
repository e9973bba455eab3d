// View 4: how long before or after its cause every effect comes.
import { type Bins, type Page, kindText } from "./data";
import { Histogram, type Layer, sum } from "./histogram";
import { type Store, el, section, segmented } from "./ui";

export function margins(page: Page, store: Store): HTMLElement {
  const before: Record<string, Bins> = page.raw.margins.before, after: Record<string, Bins> | null = page.raw.margins.after;
  const kinds = Object.keys(before);
  let kind = "all";
  const bins = (of: Record<string, Bins>): Bins => (kind === "all" ? sum(Object.values(of)) : of[kind] ?? []);
  const layers = (): Layer[] => {
    const list: Layer[] = [{ label: page.corrected ? "before" : "as it is", colour: "--before", bins: bins(before), filled: true }];
    if (!after) return list;
    list.push({ label: "after", colour: "--after", bins: bins(after), filled: false });
    return store.state.when === "after" ? list.reverse().map((l, i) => ({ ...l, filled: i === 0 })) : list;
  };
  const plot = new Histogram(page, layers(), { x: "margin: receive minus send", violated: true });
  store.listen(() => plot.show(layers()));
  return section("margins", "Margins",
    "How much later an effect comes than its cause. What stands left of 0 cannot have happened: it was received before it was sent. Counts are logarithmic.",
    kinds.length > 1 ? el("div", { class: "controls" }, segmented<string>("Kind of edge", [["all", "All"], ...kinds.map((k) => [k, kindText(k)] as [string, string])], "all", (k) => { kind = k; plot.show(layers()); })) : null,
    plot.node, el("p", { class: "note" }, "Messages count once each; of a collective, each process that leaves it counts with the last one that entered."));
}
