import { AsyncLocalStorage } from 'node:async_hooks';
import { isIPv6 } from 'node:net';

const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/** The network of a client address: an IPv4 address, or the /64 of an IPv6 subscriber. */
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

/** The shares of limited resources that work counts for. */
export interface WorkOwner {
  readonly workspace: string;
  readonly user: string;
}

/** Work that a client has caused: a request, or an event of a socket. */
export interface CurrentWork {
  readonly owner: WorkOwner;
  /** Its statements may take long: see `LongWorkGuard`. */
  isLong: boolean;
  /** Bytes of the results of its statements so far. */
  databaseBytes: number;
  /** Counts it as open, for the processor time of its user; missing: it is not counted. */
  share?: { count(by: 1 | -1): void } | undefined;
}

/** A request of HTTP with its caller, once it is known. */
interface OwnedRequest {
  readonly ctx?: { readonly tenantId: string | null; readonly userId: string };
  /** The workspace of a caller that is no user. */
  readonly tenantId?: string;
  readonly ip?: string | undefined;
}

/** The workspace of requests without a caller: sign-in, public forms and pages. Their user is the network of the client. */
export const PUBLIC = 'public';

class RequestWork implements CurrentWork {
  isLong = false;
  databaseBytes = 0;
  share: CurrentWork['share'] = undefined;
  private known: WorkOwner | undefined;

  constructor(private readonly request: OwnedRequest) {}

  /** Changes once the caller is known. */
  get owner(): WorkOwner {
    return this.known ?? this.findOwner();
  }

  private findOwner(): WorkOwner {
    const { ctx, tenantId } = this.request;
    if (ctx) return (this.known = { workspace: ctx.tenantId ?? PUBLIC, user: ctx.userId });
    if (tenantId !== undefined) return { workspace: tenantId, user: tenantId };
    return { workspace: PUBLIC, user: networkOf(this.request.ip) };
  }
}

/**
 * What connections of the database are used for: requests and events of sockets, jobs and the delivery of events, and what the process
 * itself depends on.
 */
export const USES = ['requests', 'jobs', 'process'] as const;

export type Use = (typeof USES)[number];

/** Undefined means a job. */
const current = new AsyncLocalStorage<CurrentWork | 'process' | undefined>();

/** The work of a request: it counts for its caller. */
export const workOf = (request: OwnedRequest): CurrentWork => new RequestWork(request);

/** Runs the handling of a request. */
export const runDuring = <T>(work: CurrentWork, handle: () => T): T => current.run(work, handle);

/** Runs work that a user has caused without a request of HTTP. */
export const inWorkOf = <T>(owner: WorkOwner, work: () => T): T =>
  current.run({ owner, isLong: false, databaseBytes: 0 }, work);

/** Runs work that a request has only triggered, such as the delivery of events. */
export const outsideRequests = <T>(work: () => T): T => current.run(undefined, work);

/** Runs work that the process depends on, such as the readiness probe and the renewal of leases. Its statements are short. */
export const forProcess = <T>(work: () => T): T => current.run('process', work);

export function currentUse(): Use {
  const store = current.getStore();
  if (store === undefined) return 'jobs';
  return store === 'process' ? 'process' : 'requests';
}

/** Undefined in jobs and in the delivery of events. */
export function currentWork(): CurrentWork | undefined {
  const store = current.getStore();
  return store === 'process' ? undefined : store;
}

export const ownerOfWork = (): WorkOwner | undefined => currentWork()?.owner;
