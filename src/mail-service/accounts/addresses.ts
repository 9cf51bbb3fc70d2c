import { domainToASCII } from 'node:url';

/** The address as it is compared and sent: lower case, the domain in ASCII. Text without a domain stays text. */
export function normalizeAddress(address: string): string {
  const text = address.trim().toLowerCase();
  const at = text.lastIndexOf('@');
  if (at < 1) return text;
  const domain = text.slice(at + 1);
  return `${text.slice(0, at)}@${domainToASCII(domain) || domain}`;
}

/** What stands behind the last `@`. */
export const domainOf = (address: string): string =>
  address.slice(address.lastIndexOf('@') + 1) || 'localhost';

/** The same without `+tag`: mail for `alice+shop@…` is alice's (RFC 5233). */
export function withoutTag(address: string): string {
  return address.replace(/\+[^@]*(?=@)/, '');
}
