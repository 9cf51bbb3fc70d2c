import { AsyncLocalStorage } from 'node:async_hooks';
import { networkOf } from './network-of.js';

/** The shares of limited resources that work counts for. */
export interface WorkOwner {
  readonly workspace: string;
  readonly user: string;
}

/** Work that a client has caused: a request, or an event of a socket. */
export interface CurrentWork {
  readonly owner: WorkOwner;
  /** Transactions that it has open. It may need further connections to end them. */
  transactions: number;
  /** Its statements may take long: see `LongWorkGuard`. */
  isLong: boolean;
  /** Bytes of the results of its statements so far. */
  databaseBytes: number;
}

/** A request of HTTP with its caller, once it is known. */
interface OwnedRequest {
  readonly ctx?: { readonly tenantId: string | null; readonly userId: string };
  /** The workspace of a caller that is no user. */
  readonly tenantId?: string;
  readonly ip?: string | undefined;
}

/** The workspace of requests without a caller: sign-in, public forms and pages. Their user is the network of the client. */
const PUBLIC = 'public';

class RequestWork implements CurrentWork {
  transactions = 0;
  isLong = false;
  databaseBytes = 0;

  constructor(private readonly request: OwnedRequest) {}

  /** Changes once the caller is known. */
  get owner(): WorkOwner {
    const { ctx, tenantId } = this.request;
    if (ctx) return { workspace: ctx.tenantId ?? PUBLIC, user: ctx.userId };
    if (tenantId !== undefined) return { workspace: tenantId, user: tenantId };
    return { workspace: PUBLIC, user: networkOf(this.request.ip) };
  }
}

const current = new AsyncLocalStorage<CurrentWork | undefined>();

/** The work of a request: it counts for its caller. */
export const workOf = (request: OwnedRequest): CurrentWork => new RequestWork(request);

/** Runs the handling of a request. */
export const during = <T>(work: CurrentWork, handle: () => T): T => current.run(work, handle);

/** Runs work that a user has caused without a request of HTTP. */
export const inWorkOf = <T>(owner: WorkOwner, work: () => T): T =>
  current.run({ owner, transactions: 0, isLong: false, databaseBytes: 0 }, work);

/** Runs work that a request has only triggered, such as the delivery of events. */
export const outsideRequests = <T>(work: () => T): T => current.run(undefined, work);

/** Undefined in jobs and in the delivery of events. */
export const currentWork = (): CurrentWork | undefined => current.getStore();

export const ownerOfWork = (): WorkOwner | undefined => current.getStore()?.owner;
