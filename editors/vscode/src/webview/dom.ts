// Making elements. Text goes in as text nodes only, so that nothing a model says is ever markup.

export type Child = Node | string | undefined | false;

type Attributes = Record<string, string | number | boolean | undefined>;

/** An element with attributes and children. A `true` attribute is there, a `false` or `undefined` one is not. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, '');
    else if (value !== false && value !== undefined) element.setAttribute(name, String(value));
  }
  element.append(...children.filter((child): child is Node | string => child !== undefined && child !== false));
  return element;
}

/** A button with words on it. */
export function button(label: string, act: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const element = h('button', { type: 'button', ...attributes }, label);
  element.addEventListener('click', (event) => {
    event.stopPropagation();
    act();
  });
  return element;
}

/**
 * Gives an element other children. Where the keyboard was at a control of it, it is at the one of the same name then, or
 * else at the one in its place. Controls that may be called the same are told apart by a `data-key`, or else by their order.
 */
export function refill(element: HTMLElement, ...children: Child[]): void {
  const before = document.hasFocus() ? controls(element) : [];
  const at = before.findIndex((control) => control === document.activeElement);
  const name = nameOf(before[at]);
  const nth = before.slice(0, Math.max(at, 0)).filter((control) => nameOf(control) === name).length;
  element.replaceChildren(...children.filter((child): child is Node | string => child !== undefined && child !== false));
  if (at < 0) return;
  const now = controls(element);
  const same = now.filter((control) => nameOf(control) === name);
  (same[Math.min(nth, same.length - 1)] ?? now[Math.min(at, now.length - 1)])?.focus({ preventScroll: true });
}

/** The elements that can have the keyboard. What is folded away cannot. */
function controls(element: HTMLElement): HTMLElement[] {
  const all = [...element.querySelectorAll<HTMLElement>('button:not(:disabled), input:not(:disabled), summary, [tabindex]')];
  return all.filter((control) => control.closest('details:not([open])') === null || control.matches('summary'));
}

function nameOf(control: HTMLElement | undefined): string | undefined {
  return control?.dataset['key'] ?? control?.getAttribute('aria-label') ?? control?.textContent;
}

/** Runs something before the next frame is drawn, however often it is asked for. */
export function eachFrame(draw: () => void): () => void {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      draw();
    });
  };
}
