/** Elements that the service never returns, and that a page must not execute. */
const UNSAFE = 'script, style, link, meta, base, iframe, frame, object, embed, form';
/** Attributes that load or execute something. They stay with the text under another name. */
const PARKED = /^(?:on|style$|src|srcset$|poster$|background$|autofocus$|contenteditable$)/i;
const PREFIX = 'data-kept-';

/** Shows the HTML of a note. The page loads and executes nothing of it. */
export function showContent(element: HTMLElement, html: string): void {
  const { body } = new DOMParser().parseFromString(html, 'text/html');
  for (const unsafe of body.querySelectorAll(UNSAFE)) unsafe.remove();
  for (const one of body.querySelectorAll('*'))
    for (const name of one.getAttributeNames()) if (PARKED.test(name)) rename(one, name, PREFIX + name);
  element.replaceChildren(...body.childNodes);
}

/** The HTML that the user has edited. */
export function readContent(element: HTMLElement): string {
  const copy = element.cloneNode(true) as HTMLElement;
  const { body } = new DOMParser().parseFromString('', 'text/html');
  body.append(...copy.childNodes);
  for (const one of body.querySelectorAll('*'))
    for (const name of one.getAttributeNames())
      if (name.startsWith(PREFIX)) rename(one, name, name.slice(PREFIX.length));
  return body.innerHTML;
}

function rename(element: Element, from: string, to: string): void {
  const value = element.getAttribute(from) ?? '';
  element.removeAttribute(from);
  element.setAttribute(to, value);
}

/** The text of HTML, for lists and the search. */
export function textOf(html: string): string {
  const { body } = new DOMParser().parseFromString(html.replaceAll('<', ' <'), 'text/html');
  return (body.textContent ?? '').replaceAll(/\s+/g, ' ').trim();
}

/** Makes an element an editor of paragraphs. Pasted text loses its formatting, which this page does not know. */
export function makeEditor(element: HTMLElement): void {
  // Deprecated, and without a replacement: without it, Chromium makes paragraphs `div` elements.
  document.execCommand('defaultParagraphSeparator', false, 'p');
  // Nor does it make one for the first line.
  element.addEventListener('input', () => {
    if (element.firstChild?.nodeType === Node.TEXT_NODE) document.execCommand('formatBlock', false, 'p');
  });
  element.addEventListener('paste', (event) => {
    event.preventDefault();
    document.execCommand('insertText', false, event.clipboardData?.getData('text/plain') ?? '');
  });
}
