import type { Element, Root } from 'hast';
import { toHtml } from 'hast-util-to-html';
import { cleanHtml } from '../html/index.js';
import { parseHtml } from '../html/index.js';
import { attribute } from './css.js';
import { linkTarget } from './parts.js';
import type { DocxSource } from './writer.js';
import { withoutControls, xmlAttribute, xmlText } from './xml.js';

const REFERENCES = ['src', 'href', 'cite'];

/**
 * Returns the note as an HTML page without external references, for programs that load references from the network and from
 * files. Links remain: converters do not load them.
 */
export function closedPage({ html, title, author }: DocxSource): string {
  // Stored notes were cleaned by the rules at that time, which may have changed since.
  const { root } = parseHtml(cleanHtml(html));
  removeReferences(root);
  const heading = title.trim() === '' ? '' : `<h1>${xmlText(title)}</h1>`;
  return (
    `<!doctype html><html><head><meta charset="utf-8"><title>${xmlText(title)}</title>` +
    `<meta name="author" content="${xmlAttribute(author)}"></head><body>${heading}${withoutControls(toHtml(root))}</body></html>`
  );
}

function removeReferences(parent: Root | Element): void {
  parent.children = parent.children.map((child) => {
    if (child.type !== 'element') return child;
    const source = attribute(child, 'src');
    if (child.tagName === 'img' && !(source && /^\s*data:image\//i.test(source)))
      return { type: 'text', value: attribute(child, 'alt') ?? '' };
    const link = child.tagName === 'a' ? linkTarget(attribute(child, 'href') ?? '') : undefined;
    for (const name of REFERENCES) if (child.tagName !== 'img') delete child.properties[name];
    if (link !== undefined) child.properties['href'] = link;
    removeReferences(child);
    return child;
  });
}
