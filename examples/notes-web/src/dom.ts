/** The element of index.html with this id. */
export function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (!found) throw new Error(`index.html has no #${id}.`);
  return found;
}

/** Creates an element. @param className empty: none */
export function create<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  className: string,
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  if (className !== '') element.className = className;
  element.append(...children);
  return element;
}

/** Creates a button that is disabled while its work runs. */
export function button(text: string, className: string, work: () => Promise<void>): HTMLButtonElement {
  const element = create('button', className, text);
  element.type = 'button';
  element.addEventListener('click', () => {
    element.disabled = true;
    run(async () => {
      try {
        await work();
      } finally {
        element.disabled = false;
      }
    });
  });
  return element;
}

/** Runs work, and shows its error. */
export function run(work: () => Promise<void>): void {
  hideError();
  work().catch(showError);
}

export function showError(error: unknown): void {
  const alert = byId('alert');
  alert.textContent = error instanceof Error ? error.message : String(error);
  alert.hidden = false;
}

const hideError = (): void => void (byId('alert').hidden = true);

/** Sets the text only if it changes, so that screen readers announce changes only. */
export function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}
