import type { XmlElement } from './reader.js';

/**
 * The characters that XML 1.0 excludes (section 2.2, `Char`), as the inside of a character class. Lone surrogates, which it
 * excludes too, are left to `isWellFormed()` and `\p{Surrogate}`.
 */
export const NOT_XML = String.raw`\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff`;

/** The entities of the characters that delimit markup and attribute values. */
export const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

/** Most names, paths and texts of one line have nothing of it, nor surrogates. */
const UNUSUAL = new RegExp(String.raw`[&<>"\r\ud800-\udfff${NOT_XML}]`);
const SPECIAL = new RegExp(`[&<>"${NOT_XML}]`, 'g');
const LONE = /\p{Surrogate}/gu;

/** Character data of an element or an attribute value. Characters that XML excludes are left out. */
export function xmlText(text: string): string {
  if (!UNUSUAL.test(text)) return text;
  return (
    (text.isWellFormed() ? text : text.replace(LONE, ''))
      .replace(SPECIAL, (character) => ENTITIES[character] ?? '')
      // Each line of a calendar or card ends with one.
      .replaceAll('\r', '&#13;')
  );
}

/** The namespace of `xml:lang`, whose prefix needs no declaration. */
export const XML_NAMESPACE = 'http://www.w3.org/XML/1998/namespace';

/** A reader makes spaces of line ends and tabs in attributes (XML 1.0, section 3.3.3). */
const attribute = (name: string, value: string): string =>
  ` ${name}="${xmlText(value).replaceAll('\n', '&#10;').replaceAll('\t', '&#9;')}"`;

/**
 * The markup of an element, with its own declarations of namespaces; prefixes are not kept.
 * @param scope the default namespace around it; null: unknown
 */
export function formatXml(
  { space, name, attributes, qualified, content }: XmlElement,
  scope: string | null = null,
): string {
  let start = name + (space === scope ? '' : attribute('xmlns', space));
  for (const [key, value] of Object.entries(attributes)) start += attribute(key, value);
  for (const [index, each] of qualified.entries()) {
    const isXml = each.space === XML_NAMESPACE;
    if (!isXml) start += attribute(`xmlns:n${index}`, each.space);
    start += attribute(`${isXml ? 'xml' : `n${index}`}:${each.name}`, each.value);
  }
  const inner = content.map((part) => (typeof part === 'string' ? xmlText(part) : formatXml(part, space)));
  return content.length === 0 ? `<${start}/>` : `<${start}>${inner.join('')}</${name}>`;
}
