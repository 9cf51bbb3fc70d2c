import type { Element, ElementContent, Root } from 'hast';
import {
  defaultTreeAdapter,
  type DefaultTreeAdapterMap,
  ErrorCodes,
  html as names,
  type DefaultTreeAdapterTypes as P5,
  parseFragment,
  type Token,
  Tokenizer,
  type TreeAdapter,
} from 'parse5';
import { TAGS } from './rules.js';

/** Reason why a text is rejected: nesting depth, number of nodes, or the time its check takes. */
export type HtmlTooComplexCode = 'too_deep' | 'too_many_nodes' | 'too_slow';

/** The text exceeds a limit of the parser. The HTTP layer maps it to 422. */
export class HtmlTooComplexError extends Error {
  constructor(readonly code: HtmlTooComplexCode) {
    super(`HTML is too complex: ${code}`);
    this.name = 'HtmlTooComplexError';
  }
}

/** Maximum nesting. Browsers flatten at 512. */
const MAX_DEPTH = 256;
/** Maximum number of elements, comments and texts. */
const MAX_NODES = 100_000;
/** Maximum number of moved siblings (misnested formatting, content moved out of tables). */
const MAX_MOVES = 20_000_000;

/** A parsed text and the number of start tags that became elements. */
interface ParsedHtml {
  root: Root;
  startTags: number;
}

type Adapter = TreeAdapter<DefaultTreeAdapterMap>;

/** Elements of MathML and of Evernote, whose attributes of these names have values. */
const VALUED = /mfenced$|^en-todo$/;

/**
 * Parses as a browser does for `div.innerHTML = html`. Limits are checked during parsing, because misnested formatting creates
 * far more nodes than the text has tags.
 *
 * The context element is necessary: without it parse5 parses as for `<template>` and ignores, for example, everything after a
 * leading `<col>`. Ignored content would not be checked, but `innerHTML` would create it.
 *
 * The content of `<noscript>` becomes elements, as without scripts, because scripts are removed. Clean texts do not contain `<noscript>`.
 */
export function parseHtml(html: string): ParsedHtml {
  const placed = new Set<number>();
  const context = defaultTreeAdapter.createElement('div', names.NS.HTML, []);
  const fragment = parseFragment(context, html, {
    treeAdapter: boundedAdapter(placed),
    sourceCodeLocationInfo: true,
    scriptingEnabled: false,
  });
  return { root: { type: 'root', children: convertAll(fragment.childNodes, 1) }, startTags: placed.size };
}

/** The default adapter of parse5 with counters. `placed` receives the offsets of the start tags that became elements. */
function boundedAdapter(placed: Set<number>): Adapter {
  let nodes = 0;
  let moves = 0;
  const open = new Set<unknown>();
  const count = (): void => {
    if (++nodes > MAX_NODES) throw new HtmlTooComplexError('too_many_nodes');
  };
  const move = (siblings: number): void => {
    if ((moves += siblings) > MAX_MOVES) throw new HtmlTooComplexError('too_many_nodes');
  };
  return {
    ...defaultTreeAdapter,
    createElement(tagName, namespace, attributes) {
      count();
      return defaultTreeAdapter.createElement(tagName, namespace, attributes);
    },
    createCommentNode(data) {
      count();
      return defaultTreeAdapter.createCommentNode(data);
    },
    insertText(parent, text) {
      if (parent.childNodes.at(-1)?.nodeName !== '#text') count();
      defaultTreeAdapter.insertText(parent, text);
    },
    insertTextBefore(parent, text, reference) {
      count();
      defaultTreeAdapter.insertTextBefore(parent, text, reference);
    },
    insertBefore(parent, node, reference) {
      if (parent.childNodes.at(-1) !== reference) move(parent.childNodes.length);
      defaultTreeAdapter.insertBefore(parent, node, reference);
    },
    detachNode(node) {
      const siblings = node.parentNode?.childNodes;
      if (siblings) move(siblings.at(-1) === node ? 1 : siblings.length);
      defaultTreeAdapter.detachNode(node);
    },
    setNodeSourceCodeLocation(node, location) {
      if (location && 'startTag' in location && location.startTag) placed.add(location.startTag.startOffset);
      defaultTreeAdapter.setNodeSourceCodeLocation(node, location);
    },
    // A set, because the adoption agency announces some elements more than once.
    onItemPush(item) {
      open.add(item);
      if (open.size > MAX_DEPTH) throw new HtmlTooComplexError('too_deep');
    },
    onItemPop(item) {
      open.delete(item);
    },
  };
}

function convertAll(nodes: P5.ChildNode[], depth: number): ElementContent[] {
  if (depth > MAX_DEPTH + 1) throw new HtmlTooComplexError('too_deep');
  const children: ElementContent[] = [];
  for (const node of nodes) {
    if ('tagName' in node) children.push(convert(node, depth));
    else if ('value' in node) children.push({ type: 'text', value: node.value });
    else if ('data' in node) children.push({ type: 'comment', value: node.data });
  }
  return children;
}

const PRESENCE = new Set(
  [...TAGS.values()].flatMap((own) =>
    [...own].filter(([, rule]) => rule === 'present').map(([name]) => name),
  ),
);

function convert(element: P5.Element, depth: number): Element {
  // No prototype: an attribute named `__proto__` must be an own property to be dropped.
  const properties: Element['properties'] = Object.setPrototypeOf({}, null);
  for (const { name, prefix, value } of element.attrs) {
    if (prefix) properties[`${prefix}:${name}`] = value;
    else if (PRESENCE.has(name) && !VALUED.test(element.tagName)) properties[name] = true;
    else if (name === 'rel') properties[name] = value.split(/[\t\n\f\r ]+/).filter(Boolean);
    else properties[name] = value;
  }
  return {
    type: 'element',
    tagName: element.tagName,
    properties,
    children: convertAll(
      ('content' in element ? (element as P5.Template).content : element).childNodes,
      depth + 1,
    ),
  };
}

/**
 * Checks whether a text with a clean tree may be stored unchanged: all tags are allowed, and the parser ignored none. Ignored
 * tags (`<body onload=…>`, `<tr onclick=…>` outside a table) are not in the tree, so they are not checked, but they would take
 * effect in another context: as a document, inside a table, concatenated with a page. The same applies to a text that ends
 * inside a tag, and to null characters.
 */
export function tagsAreAllowed(html: string, startTags: number): boolean {
  let allowed = true;
  let seen = 0;
  const reject = (): void => void (allowed = false);
  const ignore = (): void => undefined;
  const tag = ({ tagName }: Token.TagToken): void => {
    if (!TAGS.has(tagName)) reject();
  };
  const tokenizer = new Tokenizer(
    { sourceCodeLocationInfo: false },
    {
      onStartTag: (token) => {
        seen++;
        tag(token);
      },
      onEndTag: tag,
      onComment: reject,
      onDoctype: reject,
      onNullCharacter: reject,
      onCharacter: ignore,
      onWhitespaceCharacter: ignore,
      onEof: ignore,
      onParseError: ({ code }) => {
        if (code.startsWith('eof-') || code === ErrorCodes.unexpectedNullCharacter) reject();
      },
    },
  );
  tokenizer.write(html, true);
  return allowed && seen === startTags;
}
