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
 * The note as a whole HTML page that refers to nothing outside itself, for a program that would follow any reference it
 * finds, to the network and to files alike. Links stay: they are followed by readers, not by converters.
 */
export function closedPage({ html, title, author }: DocxSource): string {
  // Clean already when it was stored; a note stored under older rules is cleaned by those of today.
  const { root } = parseHtml(cleanHtml(html));
  cutOff(root);
  const heading = title.trim() === '' ? '' : `<h1>${xmlText(title)}</h1>`;
  return (
    `<!doctype html><html><head><meta charset="utf-8"><title>${xmlText(title)}</title>` +
    `<meta name="author" content="${xmlAttribute(author)}"></head><body>${heading}${withoutControls(toHtml(root))}</body></html>`
  );
}

function cutOff(parent: Root | Element): void {
  parent.children = parent.children.map((child) => {
    if (child.type !== 'element') return child;
    const source = attribute(child, 'src');
    if (child.tagName === 'img' && !(source && /^\s*data:image\//i.test(source)))
      return { type: 'text', value: attribute(child, 'alt') ?? '' };
    const link = child.tagName === 'a' ? linkTarget(attribute(child, 'href') ?? '') : undefined;
    for (const name of REFERENCES) if (child.tagName !== 'img') delete child.properties[name];
    if (link !== undefined) child.properties['href'] = link;
    cutOff(child);
    return child;
  });
}
