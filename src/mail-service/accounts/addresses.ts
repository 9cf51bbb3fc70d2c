import { domainToASCII } from 'node:url';
import { DOT_ATOM } from '../mime/address-list.js';

/** The local part without quotes that it does not need: they are no part of the address (RFC 5321 4.1.2). */
function unquoted(local: string): string {
  const [, quoted] = /^"((?:[^"\\]|\\.)*)"$/s.exec(local) ?? [];
  const content = quoted?.replace(/\\(.)/gs, '$1') ?? '';
  return DOT_ATOM.test(content) ? content : local;
}

/**
 * The domain in ASCII and lower case, the local part without needless quotes. Its case is unchanged, which may matter to the server of the
 * domain (RFC 5321 2.4).
 */
export function withAsciiDomain(address: string): string {
  const text = address.trim();
  const at = text.lastIndexOf('@');
  if (at < 1) return text;
  const domain = text.slice(at + 1).toLowerCase();
  return `${unquoted(text.slice(0, at))}@${domainToASCII(domain) || domain}`;
}

/** Lower case, the domain in ASCII. Text without a domain is lower-cased only. */
export const normalizeAddress = (address: string): string => withAsciiDomain(address.toLowerCase());

/** `postmaster` as every server must accept it, also without a domain (RFC 5321 4.5.1). @param address normalised */
export const isPostmaster = (address: string): boolean => /^postmaster(?:\+[^@]*)?(?:@|$)/.test(address);

/** The domain part, `localhost` without one. */
export const domainOf = (address: string): string =>
  address.slice(address.lastIndexOf('@') + 1) || 'localhost';

/** Removes `+tag`: mail for `alice+shop@…` is delivered to `alice@…` (RFC 5233). */
export function withoutTag(address: string): string {
  return address.replace(/\+[^@]*(?=@)/, '');
}
