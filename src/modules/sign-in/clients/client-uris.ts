const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);
/** RFC 8252, section 7.1: a private scheme is a reversed domain name. */
const PRIVATE_SCHEME = /^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:$/;
const MAX_LENGTH = 2_000;
/** Redirect URIs are compared as text (RFC 9700, section 2.1), so that a client with a wildcard never works as it expects. */
const WILDCARD = /\*|%2a/i;

/** Whether the URL is on the machine of the browser. */
const isLoopback = ({ protocol, hostname }: URL): boolean => protocol === 'http:' && LOOPBACK.has(hostname);

/** Whether the URI belongs to a native application (RFC 8252). */
export const isNative = (uri: string): boolean => {
  const url = new URL(uri);
  return isLoopback(url) || PRIVATE_SCHEME.test(url.protocol);
};

/** Returns the error of a redirect URI, or null. */
export function redirectUriProblem(uri: string): string | null {
  const url = URL.canParse(uri) ? new URL(uri) : null;
  if (url === null || uri.length > MAX_LENGTH) return 'is not an absolute URL';
  if (WILDCARD.test(uri)) return 'must not have a wildcard';
  if (uri.includes('#')) return 'must not have a fragment';
  if (url.username || url.password) return 'must not contain a user name or password';
  if (url.protocol === 'https:' || isLoopback(url) || PRIVATE_SCHEME.test(url.protocol)) return null;
  return 'must be https, http on a loopback address, or a scheme such as com.example.app';
}
