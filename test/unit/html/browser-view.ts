import { html, parse, parseFragment, defaultTreeAdapter, type DefaultTreeAdapterTypes as P5 } from 'parse5';

/**
 * Finds active content in a text, without any code of the policy: parses the text as a document, as `innerHTML` of several
 * elements and as part of a page, and compares each element and attribute with a short list of active ones.
 * @returns a line for each finding
 */
export function dangers(text: string): string[] {
  const found: string[] = [];
  const contexts = ['div', 'table', 'tr', 'colgroup', 'p', 'template'];
  for (const name of contexts) {
    const context = defaultTreeAdapter.createElement(name, html.NS.HTML, []);
    for (const scriptingEnabled of [true, false]) {
      walk(parseFragment(context, text, { scriptingEnabled }), name, found);
    }
  }
  walk(parse(text), 'document', found);
  walk(parse(`<!doctype html><body><table><tr><td>${text}</td></tr></table><p id=end>end`), 'page', found);
  return [...new Set(found)];
}

const ACTIVE =
  /^(?:script|style|iframe|frame|frameset|object|embed|applet|form|base|meta|link|template|svg|math|noscript|noembed|noframes|xmp|plaintext|textarea|title|select|button|audio|video|source|marquee|portal|image)$/;
const HARMLESS_SCHEMES = new Set(
  'mailto tel sms smsto sip sips geo xmpp webcal webcals ftp ftps sftp matrix irc ircs im mms news magnet urn callto mid'.split(
    ' ',
  ),
);
const PAGE = new Set(['html', 'head', 'body']);

function walk(root: P5.ParentNode, where: string, found: string[]): void {
  const todo: P5.ChildNode[] = [...root.childNodes];
  for (let node = todo.pop(); node; node = todo.pop()) {
    if (node.nodeName === '#comment') found.push(`${where}: comment`);
    if (!('tagName' in node)) continue;
    if (ACTIVE.test(node.tagName)) found.push(`${where}: <${node.tagName}>`);
    if (
      node.tagName === 'input' &&
      !node.attrs.some(({ name, value }) => name === 'type' && /^checkbox$/i.test(value))
    )
      found.push(`${where}: input`);
    for (const { name, value } of node.attrs) {
      if (where === 'page' && name === 'id' && value === 'end') continue;
      if (PAGE.has(node.tagName)) found.push(`${where}: ${node.tagName} ${name}`);
      if (isActive(node.tagName, name, value)) found.push(`${where}: ${node.tagName} ${name}=${value}`);
    }
    todo.push(...node.childNodes);
  }
}

function isActive(tag: string, name: string, value: string): boolean {
  if (
    /^on|^(?:srcset|srcdoc|formaction|action|background|poster|xlink:href|ping|http-equiv|is|slot|part|nonce)$/.test(
      name,
    )
  )
    return true;
  if (name === 'id' || name === 'name')
    return (name === 'name' && tag !== 'a') || !value.startsWith('user-content-');
  if (name === 'style')
    return /url|expression|@|position|behaviou?r|binding|\\|\/\*|z-index|display|float/i.test(value);
  if (name === 'href' || name === 'src' || name === 'cite') {
    // The URL standard trims control characters and spaces, then removes tabs and newlines.
    // oxlint-disable-next-line no-control-regex -- exactly the characters in question
    const url = value.replace(/^[\0-\x20]+|[\0-\x20]+$/g, '').replace(/[\t\n\r]/g, '');
    const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]?.toLowerCase();
    if (scheme === undefined || /^(?:https?|cid)$/.test(scheme)) return false;
    if (scheme === 'data')
      return tag !== 'img' || !/^data:image\/(?:png|jpe?g|gif|webp|avif|bmp|heic);/i.test(url);
    return tag === 'img' || !HARMLESS_SCHEMES.has(scheme);
  }
  return false;
}
