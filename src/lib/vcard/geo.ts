import { isDeepStrictEqual } from 'node:util';
import type { CardProperty } from './card.js';

/** A position as a URI (RFC 6350, 6.5.2), also of the two numbers of version 3.0 (RFC 2426, 3.4.2); undefined for another text. */
export function geoUri(text: string): string | undefined {
  if (/^geo:/i.test(text)) return text;
  const numbers = /^\s*(-?\d+(?:\.\d+)?)\s*;\s*(-?\d+(?:\.\d+)?)\s*$/.exec(text);
  return numbers ? `geo:${numbers[1]},${numbers[2]}` : undefined;
}

/** A position as the two numbers of version 3.0; undefined for a text that is no URI of a position. */
export function geoNumbers(text: string): string | undefined {
  const numbers = /^geo:(-?\d+(?:\.\d+)?),(-?\d+(?:\.\d+)?)(?:[,;].*)?$/i.exec(text);
  return numbers ? `${numbers[1]};${numbers[2]}` : undefined;
}

/**
 * Properties without a field, with each position that a card of another version repeats as it is stored: version 3.0 has neither the
 * parameters of the URI nor VALUE.
 * @param stored those of the stored card
 */
export const withStoredPositions = (
  given: readonly CardProperty[],
  stored: readonly CardProperty[],
): CardProperty[] =>
  given.map((each) =>
    each.name === 'GEO' ? (stored.find((other) => isSamePosition(each, other)) ?? each) : each,
  );

function isSamePosition(given: CardProperty, stored: CardProperty): boolean {
  const position = ({ value }: CardProperty): string | undefined => geoNumbers(geoUri(value) ?? '');
  const others = ({ group, params: { VALUE: _value, ...params } }: CardProperty) => [group, params];
  return (
    stored.name === 'GEO' &&
    position(given) !== undefined &&
    position(given) === position(stored) &&
    isDeepStrictEqual(others(given), others(stored))
  );
}
