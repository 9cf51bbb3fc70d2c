/** The bytes from `start` to `end`, both included. */
export interface RequestedRange {
  readonly start: number;
  readonly end: number;
}

const SINGLE = /^bytes=[ \t]*(\d{0,15})-(\d{0,15})[ \t]*$/i;

/**
 * What a `Range` header asks for (RFC 9110, 14.1.2). Several ranges, other units and what is no range at all are answered
 * with everything, as the RFC allows; a multipart answer would only help those who want to multiply our work.
 *
 * @param size of the whole
 * @returns undefined: everything; null: there are no such bytes
 */
export function requestedRange(header: string | undefined, size: number): RequestedRange | null | undefined {
  const match = SINGLE.exec(header ?? '');
  if (!match) return undefined;
  const [first, last] = [match[1] as string, match[2] as string];
  if (first === '') {
    if (last === '') return undefined;
    const length = Math.min(Number(last), size);
    return length === 0 ? null : { start: size - length, end: size - 1 };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return undefined;
  if (start >= size) return null;
  return { start, end: last === '' ? size - 1 : Math.min(Number(last), size - 1) };
}
