import { isIPv6 } from 'node:net';

/** The rate that a limit allows. */
export interface RateLimit {
  /** Unique name. Uses with the same name are counted together. */
  readonly scope: string;
  /** Number of uses in each period of `perSeconds`. */
  readonly requests: number;
  readonly perSeconds: number;
  /** Maximum number of uses at once. Default: `requests`. */
  readonly burst?: number;
}

/** One use of a limit. */
export interface Taking {
  readonly limit: RateLimit;
  /** The counted subject: an address, an account id, ... Stored as an HMAC only. */
  readonly subject: string;
}

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/** The network of a client: the IPv4 address, or the /64 prefix, which is what an IPv6 subscriber has. */
export function networkOf(ip: string | null | undefined): string {
  if (!ip) return 'unknown';
  const mapped = MAPPED.exec(ip);
  if (mapped) return mapped[1]!;
  if (!isIPv6(ip)) return ip;
  const [head = '', tail] = ip.split('%')[0]!.toLowerCase().split('::');
  const groups = (text: string | undefined) => (text ? text.split(':') : []);
  const [left, right] = [groups(head), groups(tail)];
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length);
  const all = [...left, ...Array.from({ length: zeros }, () => '0'), ...right];
  return `${all
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`;
}
