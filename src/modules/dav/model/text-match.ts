import type { XmlElement } from '../../../lib/xml/index.js';

/** The comparison of a `text-match` element (RFC 4791, 9.7.5; RFC 6352, 10.5.4). */
export function matchesText({ attributes, text }: XmlElement, value: string): boolean {
  const isExact = attributes['collation'] === 'i;octet';
  const [wanted, given] = isExact ? [text, value] : [text.toLowerCase(), value.toLowerCase()];
  const isMatch = compare(attributes['match-type'] ?? 'contains', wanted, given);
  return attributes['negate-condition'] === 'yes' ? !isMatch : isMatch;
}

function compare(type: string, wanted: string, given: string): boolean {
  switch (type) {
    case 'equals':
      return given === wanted;
    case 'starts-with':
      return given.startsWith(wanted);
    case 'ends-with':
      return given.endsWith(wanted);
    default:
      return given.includes(wanted);
  }
}
