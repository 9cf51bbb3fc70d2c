/**
 * @param text a Retry-After header: seconds or a date (RFC 9110, section 10.2.3)
 * @returns seconds from now, or undefined if the header is absent or malformed
 */
export function secondsOf(text: string | null): number | undefined {
  if (text === null) return undefined;
  if (/^\s*\d+\s*$/.test(text)) return Number(text);
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : Math.max(0, (time - Date.now()) / 1_000);
}
