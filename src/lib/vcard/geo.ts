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
