import type { Element, ElementContent, Root } from 'hast';
import { defaultTreeAdapter, ErrorCodes, html as names, parseFragment, Tokenizer } from 'parse5';
import type { DefaultTreeAdapterMap, DefaultTreeAdapterTypes as P5, Token, TreeAdapter } from 'parse5';
import { HtmlTooComplexError } from './errors.js';
import { TAGS } from './rules.js';

/** Nesting beyond which a text is refused; browsers themselves flatten at 512. */
export const MAX_DEPTH = 256;
/** Elements, comments and pieces of text beyond which a text is refused. */
const MAX_NODES = 100_000;
/** Moves of siblings (misnested formatting, content fostered out of tables) beyond which a text is refused. */
const MAX_MOVES = 20_000_000;

/** A parsed text and how many of its start tags found a place in the tree. */
interface ParsedHtml {
  root: Root;
  startTags: number;
}

type Adapter = TreeAdapter<DefaultTreeAdapterMap>;

/**
 * Parses as a browser does for `div.innerHTML = html`, giving up as soon as a limit is passed: misnested formatting makes
 * the algorithm create far more nodes than the text has tags, so limits checked afterwards would come too late.
 *
 * The context element matters: without one parse5 parses as for `<template>`, where for example everything after a
 * leading `<col>` is ignored, and what is ignored is not judged although `innerHTML` would bring it to life.
 */
export function parseHtml(html: string): ParsedHtml {
  const placed = new Set<number>();
  const context = defaultTreeAdapter.createElement('div', names.NS.HTML, []);
  const fragment = parseFragment(context, html, {
    treeAdapter: boundedAdapter(placed),
    sourceCodeLocationInfo: true,
    scriptingEnabled: true,
  });
  return { root: { type: 'root', children: convertAll(fragment.childNodes, 1) }, startTags: placed.size };
}

/** parse5's own adapter with counters; `placed` receives the offsets of the start tags that became elements. */
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
  // No prototype: an attribute may be called `__proto__` and has to be seen to be dropped.
  const properties: Element['properties'] = Object.setPrototypeOf({}, null);
  for (const { name, prefix, value } of element.attrs) {
    if (prefix) properties[`${prefix}:${name}`] = value;
    else if (PRESENCE.has(name)) properties[name] = true;
    else if (name === 'rel') properties[name] = value.split(/[\t\n\f\r ]+/).filter(Boolean);
    else properties[name] = value;
  }
  return {
    type: 'element',
    tagName: element.tagName,
    properties,
    children: convertAll(element.childNodes, depth + 1),
  };
}

/**
 * Whether the bytes of a text whose tree is clean may be kept: every tag in them is an allowed one and none was ignored by
 * the parser. An ignored tag (`<body onload=…>`, `<tr onclick=…>` outside a table) is in no tree, was judged by nobody,
 * and would come to life if the text were ever parsed elsewhere: as a document, inside a table, glued to a page. The same
 * goes for a text that ends inside a tag and would swallow what follows it, and for null characters.
 */
export function tagsAreAllowed(html: string, startTags: number): boolean {
  let allowed = true;
  let seen = 0;
  const refuse = (): void => void (allowed = false);
  const ignore = (): void => undefined;
  const tag = ({ tagName }: Token.TagToken): void => {
    if (!TAGS.has(tagName)) refuse();
  };
  const tokenizer = new Tokenizer(
    { sourceCodeLocationInfo: false },
    {
      onStartTag: (token) => {
        seen++;
        tag(token);
      },
      onEndTag: tag,
      onComment: refuse,
      onDoctype: refuse,
      onNullCharacter: refuse,
      onCharacter: ignore,
      onWhitespaceCharacter: ignore,
      onEof: ignore,
      onParseError: ({ code }) => {
        if (code.startsWith('eof-') || code === ErrorCodes.unexpectedNullCharacter) refuse();
      },
    },
  );
  tokenizer.write(html, true);
  return allowed && seen === startTags;
}
