/** Builds elements. Text is text: nothing here, or anywhere in the view, parses HTML. */

export type Child = Node | string | null | undefined | false;

interface Options {
  readonly class?: string;
  readonly title?: string;
  readonly text?: string;
  readonly attributes?: Readonly<Record<string, string>>;
  readonly on?: Readonly<Record<string, (event: Event) => void>>;
}

/** An element with its class, attributes, listeners and children. */
export function make<K extends keyof HTMLElementTagNameMap>(
  name: K,
  options: Options = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name);
  if (options.class) element.className = options.class;
  if (options.title !== undefined) element.title = options.title;
  if (options.text !== undefined) element.textContent = options.text;
  for (const [key, value] of Object.entries(options.attributes ?? {})) element.setAttribute(key, value);
  for (const [event, listener] of Object.entries(options.on ?? {})) element.addEventListener(event, listener);
  for (const child of children) if (child !== null && child !== undefined && child !== false) element.append(child);
  return element;
}

/** A button that never submits anything. */
export function button(
  label: string,
  press: (event: Event) => void,
  options: Options = {},
  ...children: Child[]
): HTMLButtonElement {
  const element = make(
    "button",
    { ...options, on: { ...options.on, click: press } },
    ...(children.length > 0 ? children : [label]),
  );
  element.type = "button";
  if (children.length > 0) element.setAttribute("aria-label", label);
  return element;
}

/** Sets a text only when it is another one: what is read aloud or selected stays. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** Shows or hides. */
export function show(element: HTMLElement, isShown: boolean): void {
  if (element.hidden === isShown) element.hidden = !isShown;
}
