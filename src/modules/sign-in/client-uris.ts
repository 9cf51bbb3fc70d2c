const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);
/** RFC 8252, section 7.1: a scheme of one's own is a domain name of one's own, turned round. */
const PRIVATE_SCHEME = /^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:$/;
const MAX_LENGTH = 2_000;

/** Whether it is an address on the machine the browser runs on. */
export const isLoopback = ({ protocol, hostname }: URL): boolean =>
  protocol === 'http:' && LOOPBACK.has(hostname);

/** Whether it can only belong to an application on somebody's own machine (RFC 8252). */
export const isNative = (uri: string): boolean => {
  const url = new URL(uri);
  return isLoopback(url) || PRIVATE_SCHEME.test(url.protocol);
};

/** What is wrong with an address that people are to be sent back to; null when nothing is. */
export function redirectUriProblem(uri: string): string | null {
  const url = URL.canParse(uri) ? new URL(uri) : null;
  if (url === null || uri.length > MAX_LENGTH) return 'is not an absolute URL';
  if (uri.includes('#')) return 'must not have a fragment';
  if (url.username || url.password) return 'must not hold a name or a password';
  if (url.protocol === 'https:' || isLoopback(url) || PRIVATE_SCHEME.test(url.protocol)) return null;
  return 'must be https, http on a loopback address, or a scheme such as com.example.app';
}
