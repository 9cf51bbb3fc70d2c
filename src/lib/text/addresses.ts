import { domainToASCII, domainToUnicode } from 'node:url';

const INTERNATIONAL = /[^\0-\x7f]|(?:^|\.)xn--/;
/** Characters that a host cannot have. `domainToASCII` reads some of them as delimiters of a URL. */
const NOT_OF_A_HOST = /[\s/\\@:?#%[\]]/;
const MAX_DOMAIN = 253;

/** The internationalised domain of an address in lower case, in A-labels (RFC 5890); null for another address. */
function internationalDomain(address: string): { local: string; ascii: string } | null {
  const at = address.lastIndexOf('@');
  const domain = address.slice(at + 1);
  if (at < 1 || domain.length > MAX_DOMAIN || !INTERNATIONAL.test(domain) || NOT_OF_A_HOST.test(domain))
    return null;
  const ascii = domainToASCII(domain);
  return ascii === '' ? null : { local: address.slice(0, at + 1), ascii };
}

/** An address in the form in which addresses are compared: in lower case, an internationalised domain in ASCII. */
export function addressKey(address: string): string {
  const lower = address.trim().toLowerCase();
  const found = internationalDomain(lower);
  return found ? found.local + found.ascii : lower;
}

/** The spellings of an address in lower case, the given one first: a domain may be written in ASCII and in its own script. */
export function addressForms(address: string): string[] {
  const lower = address.trim().toLowerCase();
  const found = internationalDomain(lower);
  if (!found) return [lower];
  const { local, ascii } = found;
  return [...new Set([lower, local + domainToUnicode(ascii), local + ascii])];
}
