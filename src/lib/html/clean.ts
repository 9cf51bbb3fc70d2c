import type { Element, Nodes, Root } from 'hast';
import { sanitize } from 'hast-util-sanitize';
import { toHtml } from 'hast-util-to-html';
import { DATA_ATTRIBUTE, prefixIds, SCHEMA } from './rules.js';
import { safeStyle } from './style.js';
import { parseHtml, tagsAreAllowed } from './tree.js';
import { showVisible } from './visible.js';

const MAX_ROUNDS = 4;

/**
 * Applies the policy: returns the input itself when nothing is changed, otherwise the cleaned text. A cleaned text is parsed and
 * checked again until it is clean, because serialising and parsing a tree may give another tree (mutation XSS). A text that
 * does not become stable is escaped to plain text.
 *
 * @throws HtmlTooComplexError
 */
export function cleanHtml(html: string): string {
  let text = html;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const { root, startTags } = parseHtml(text);
    const isOther = showVisible(root);
    const clean = asRoot(sanitize(root, SCHEMA));
    refine(clean);
    prefixIds(clean);
    if (!isOther && sameTree(root, clean) && tagsAreAllowed(text, startTags)) return text;
    keepFirstNewlines(clean);
    text = toHtml(clean, { characterReferences: { useNamedReferences: true } });
  }
  return escapeText(html);
}

/** sanitize() returns a single remaining node without a root, and an empty root for none. */
function asRoot(node: Nodes): Root {
  return node.type === 'root' ? node : { type: 'root', children: node.type === 'doctype' ? [] : [node] };
}

/** The rules that the schema cannot express: CSS declarations, names of data-* attributes, inputs other than checkboxes. */
function refine(parent: Root | Element): void {
  for (let i = parent.children.length - 1; i >= 0; i--) {
    if (isOtherInput(parent.children[i])) parent.children.splice(i, 1);
  }
  for (const child of parent.children) {
    if (child.type !== 'element') continue;
    refineAttributes(child.properties);
    refine(child);
  }
}

function isOtherInput(node: Nodes | undefined): boolean {
  return node?.type === 'element' && node.tagName === 'input' && node.properties['type'] === undefined;
}

function refineAttributes(properties: Element['properties']): void {
  for (const name of Object.keys(properties)) {
    if (name === 'style') {
      const style = safeStyle(String(properties[name]));
      // A style that was empty before stays, so that the text is unchanged.
      if (style === '' && properties[name] !== '') delete properties[name];
      else properties[name] = style;
    } else if (name.startsWith('data') && !DATA_ATTRIBUTE.test(name)) {
      delete properties[name];
    }
  }
}

function sameTree(a: Nodes, b: Nodes | undefined): boolean {
  if (a.type !== b?.type) return false;
  if ('value' in a) return 'value' in b && a.value === b.value;
  if (a.type === 'element' && b.type === 'element') {
    if (a.tagName !== b.tagName || !sameProperties(a.properties, b.properties)) return false;
  }
  if (!('children' in a) || !('children' in b)) return true;
  const others = b.children;
  return a.children.length === others.length && a.children.every((child, i) => sameTree(child, others[i]));
}

function sameProperties(a: Element['properties'], b: Element['properties']): boolean {
  const keys = Object.keys(a);
  // The policy only removes members of lists, so comparing lengths is sufficient.
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => {
      const [x, y] = [a[key], b[key]];
      return Array.isArray(x) ? Array.isArray(y) && x.length === y.length : x === y;
    })
  );
}

/** Parsers drop a newline directly after `<pre>`. A `pre` whose text begins with a newline needs an additional one. */
function keepFirstNewlines(parent: Root | Element): void {
  for (const child of parent.children) {
    if (child.type !== 'element') continue;
    const first = child.children[0];
    if (child.tagName === 'pre' && first?.type === 'text' && first.value.startsWith('\n'))
      first.value = `\n${first.value}`;
    keepFirstNewlines(child);
  }
}

function escapeText(html: string): string {
  return html.replaceAll('\0', '').replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
