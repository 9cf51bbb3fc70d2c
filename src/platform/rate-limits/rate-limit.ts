import { isIPv6 } from 'node:net';

/** How often something may be done. */
export interface RateLimit {
  /** Unique name; what is counted together. */
  readonly scope: string;
  /** Permitted in each period of `perSeconds`. */
  readonly requests: number;
  readonly perSeconds: number;
  /** How many may come at once after a quiet time. Default: `requests`. */
  readonly burst?: number;
}

/** One taking from a limit. */
export interface Taking {
  readonly limit: RateLimit;
  /** Whose: an address, an account's id, ... Stored as an HMAC only. */
  readonly subject: string;
}

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/** The network a client's address stands for: an IPv4 address, or the /64 that one IPv6 subscriber has to choose from. */
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
