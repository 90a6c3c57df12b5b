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
