import type { Element, Nodes, Root } from 'hast';
import { percentDecoded } from '../text/index.js';

const PREFIX = 'user-content-';
/** A name that an id can have: no white space, no control or invisible characters. */
const NAME = /^[^\s\p{Cc}\p{Cf}\p{Cs}]{1,200}$/u;
const REFERENCES = [
  'for',
  'headers',
  ...'activedescendant controls describedby details errormessage flowto labelledby owns'
    .split(' ')
    .map((name) => `aria-${name}`),
];

/** The names of elements that links may have as a target, with the prefix of `prefixIds`. */
export const ID = /^user-content-[^\s\p{Cc}\p{Cf}\p{Cs}]{1,200}$/u;

/**
 * Puts a prefix before the ids of a tree, and before the names of links to them, as GitHub does. Browsers make ids properties of
 * `window` and `document`; without a prefix, they could replace those of a page (DOM clobbering). A link to anything else stays: its
 * target may be outside of the text. Invalid ids are removed. A text with prefixed ids stays unchanged.
 */
export function prefixIds(root: Root): void {
  const targets = new Set<string>();
  each(root, ({ tagName, properties }) => {
    for (const attribute of tagName === 'a' ? ['id', 'name'] : ['id']) {
      const id = properties[attribute];
      if (typeof id !== 'string' || ID.test(id)) continue;
      if (!NAME.test(id)) delete properties[attribute];
      else {
        properties[attribute] = PREFIX + id;
        targets.add(id);
      }
    }
  });
  if (targets.size > 0) each(root, (element) => follow(element, targets));
}

function follow({ tagName, properties }: Element, targets: ReadonlySet<string>): void {
  const { href } = properties;
  if (tagName === 'a' && typeof href === 'string' && /^\s*#/.test(href)) {
    const fragment = href.trim().slice(1);
    if (targets.has(fragment) || targets.has(percentDecoded(fragment)))
      properties['href'] = `#${PREFIX}${fragment}`;
  }
  for (const name of REFERENCES) {
    const value = properties[name];
    if (typeof value !== 'string') continue;
    properties[name] = value.replace(/[^\t\n\f\r ]+/g, (id) => (targets.has(id) ? PREFIX + id : id));
  }
}

function each(parent: Root | Element, visit: (element: Element) => void): void {
  for (const child of parent.children as Nodes[]) {
    if (child.type !== 'element') continue;
    visit(child);
    each(child, visit);
  }
}
