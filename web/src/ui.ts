// Small helpers: elements without innerHTML (names of a trace are only ever text), the state that
// all views share, tooltips.
import type { When } from "./data";

type Child = Node | string | null | undefined;
type Attributes = Record<string, any>;

function fill<T extends Element>(node: T, attributes: Attributes, children: Child[]): T {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) if (child !== null && child !== undefined) node.append(child);
  return node;
}
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  return fill(document.createElement(tag), attributes, children);
}
export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K, attributes: Attributes = {}, ...children: Child[]): SVGElementTagNameMap[K] {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}
/** A name from the trace: its direction of writing stays inside. */
export const name = (text: string): HTMLElement => el("bdi", { class: "name", title: text }, text);
/** The same inside of plain text: between an isolate (U+2068) and its end. */
export const isolated = (text: string): string => `\u2068${text}\u2069`;

export interface State {
  when: When;
  clock: number | null;
}
type Listener = (state: State, changed: keyof State | "theme" | "size") => void;

export class Store {
  state: State;
  private listeners: Listener[] = [];
  constructor(state: State) {
    this.state = state;
  }
  listen(listener: Listener): void {
    this.listeners.push(listener);
  }
  set(change: Partial<State>): void {
    for (const key of Object.keys(change) as (keyof State)[]) {
      if (this.state[key] === change[key]) continue;
      this.state = { ...this.state, [key]: change[key] };
      this.tell(key);
    }
  }
  pick(clock: number): void {
    this.set({ clock: this.state.clock === clock ? null : clock });
  }
  tell(what: keyof State | "theme" | "size"): void {
    for (const listener of this.listeners) listener(this.state, what);
  }
}

/** Buttons of which one is pressed. */
export function segmented<T extends string>(
  label: string, choices: [T, string][], value: T, use: (value: T) => void): HTMLElement & { show(value: T): void } {
  const buttons = choices.map(([key, text]) =>
    el("button", { type: "button", "data-value": key, "aria-pressed": String(key === value),
      onclick: () => { show(key); use(key); } }, text));
  const show = (now: T): void =>
    buttons.forEach((b) => b.setAttribute("aria-pressed", String(b.dataset.value === now)));
  return Object.assign(el("div", { class: "segmented", role: "group", "aria-label": label }, ...buttons), { show });
}

const tip = el("div", { class: "tip", role: "status", hidden: true });
export function showTip(event: { clientX: number; clientY: number }, ...lines: Child[]): void {
  if (!tip.isConnected) document.body.append(tip);
  tip.replaceChildren(...lines.map((line) => el("div", {}, line)));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const x = Math.min(event.clientX + 14, innerWidth - box.width - 8);
  const y = event.clientY + 18 + box.height > innerHeight ? event.clientY - box.height - 10 : event.clientY + 18;
  tip.style.left = `${Math.max(8, x)}px`;
  tip.style.top = `${Math.max(8, y)}px`;
}
export function hideTip(): void {
  tip.hidden = true;
}

/** A section with its one explaining line. */
export function section(id: string, title: string, explain: string, ...children: Child[]): HTMLElement {
  return el("section", { id, "aria-labelledby": `${id}-title` },
    el("h2", { id: `${id}-title` }, title), el("p", { class: "explain" }, explain), ...children);
}

export const css = (variable: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(variable).trim();

/** Okabe and Ito's colours, which the colour-blind can tell apart; the first ones of them. */
export const palette = (): string[] =>
  ["--c1", "--c2", "--c3", "--c4", "--c5", "--c6", "--c7", "--c8"].map(css);

/** Calls `draw` with the width of `node`, now and whenever it changes. */
export function onWidth(node: HTMLElement, draw: (width: number) => void): () => void {
  let last = 0;
  const now = (force = false): void => {
    const width = Math.floor(node.clientWidth);
    if (width > 0 && (force || width !== last)) { last = width; draw(width); }
  };
  new ResizeObserver(() => now()).observe(node);
  return () => now(true);
}
