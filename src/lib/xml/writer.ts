import { xmlText } from './escape.js';
import type { XmlElement } from './reader.js';

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
