import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { JsonReply } from '../../platform/http/json-reply.js';
import { BodyReply } from '../../platform/http/replies/body-reply.js';
import { MailAccounts, type MailCredential, type MailRequester } from './accounts/mail-accounts.js';
import type { MailOwner } from './accounts/mail-accounts.repository.js';
import { type Fields, isFields, isObjectId, resultsOf } from './input/fields.js';
import type { MailCall } from './mail-call.js';
import { MailErrors } from './mail.response.js';
import { MailUpstream, type UpstreamRequest } from './mail-upstream.js';
import {
  type UpstreamResponse,
  checkFile,
  JsonResponse,
  lacksPrivilege,
  readJson,
  rejectsToken,
  UnusableResponseError,
} from './upstream-response.js';
import { RequestLimits } from './upstream/request-limits.js';

/** JSON of the mail service, whose shapes `OPEN_MAIL_SCHEMAS` describes. */
export type MailReply = JsonReply<Fields> | BodyReply;

export type { MailOwner };

/** The user a request acts for and, for requests of clients, the signal that cancels it. */
type Requester = { readonly ctx: MailRequester } & Partial<Pick<MailCall, 'signal'>>;

/** The mail service as one user sees it, during one request of our API. Paths start below the user's own tree. */
export interface MailSession {
  /** @throws ApiError 500 `Proxy failed` when the response is not JSON */
  json(request: UpstreamRequest): Promise<JsonResponse>;
  /** Returns the unread file of a successful response, the JSON of an error response. */
  bytes(request: UpstreamRequest): Promise<UpstreamResponse | JsonResponse>;
}

/** Sends requests with the user's own credential, renews it once when it has expired, and enforces the request limits. */
@Injectable()
export class MailClient {
  constructor(
    private readonly upstream: MailUpstream,
    private readonly accounts: MailAccounts,
    private readonly limits: RequestLimits,
  ) {}

  /**
   * Runs `work` with a session of the caller, when the request limits allow it.
   * @param kind the limits to apply
   * @throws ApiError 429 and 503 above the limits; errors of `credential` and `work`
   */
  async runAs(
    call: MailCall,
    work: (session: MailSession) => Promise<MailReply>,
    kind: keyof RequestLimits = 'requests',
  ): Promise<MailReply> {
    const { tenantId, userId } = call.ctx;
    const release = await this.limits[kind].enter(`${tenantId}:${userId}`, call.signal);
    try {
      const reply = await work(this.sessionOf(call));
      const body = reply instanceof BodyReply ? reply.body : null;
      if (body instanceof Readable && !body.destroyed) body.once('close', release);
      else release();
      return reply;
    } catch (error) {
      release();
      throw call.signal.reason ?? error;
    }
  }

  /** Sends one request and passes the JSON response on. */
  forward(call: MailCall, request: UpstreamRequest): Promise<MailReply> {
    return this.runAs(call, async (session) => forwardReply(await session.json(request)));
  }

  /** The mail of a user for work in the background, without the request limits. */
  openBackground({ tenantId, userId }: MailOwner): MailSession {
    return this.sessionOf({ ctx: { tenantId, userId } });
  }

  /**
   * Sends one request on behalf of a user outside of the mail API, e.g. to manage application passwords.
   * @returns also 403 `MissingPrivileges`, which `runAs` treats as an expired credential
   * @throws ApiError as `credential`, and 500 `Proxy failed`
   */
  async request({ tenantId, userId }: MailOwner, request: UpstreamRequest): Promise<JsonResponse> {
    const response = await this.exchange(
      { ctx: { tenantId, userId } },
      request,
      (response) => this.read(response),
      (response) => rejectsToken(response) && !lacksPrivilege(response),
    );
    response.stream?.destroy();
    return response;
  }

  private sessionOf(call: Requester): MailSession {
    return {
      json: (request) => this.exchange(call, request, (response) => this.read(response)),
      bytes: (request) =>
        this.exchange<UpstreamResponse | JsonResponse>(call, request, (response) =>
          response.status >= 200 && response.status < 300 ? this.file(response) : this.read(response),
        ),
    };
  }

  private async exchange<T extends JsonResponse | UpstreamResponse>(
    call: Requester,
    request: UpstreamRequest,
    read: (response: UpstreamResponse) => Promise<T>,
    isRejected: (response: T) => boolean = rejectsCredential,
  ): Promise<T> {
    const credential = this.accounts.cached(call.ctx) ?? (await this.accounts.credential(call.ctx));
    const first = await read(await this.send(call, request, credential));
    if (!isRejected(first)) return first;
    const renewed = await this.accounts.credential(call.ctx, credential);
    const second = await read(await this.send(call, request, renewed));
    if (isRejected(second))
      throw this.upstream.reportFailure('the credential is rejected, and so is a new one');
    return second;
  }

  private send(
    call: Requester,
    request: UpstreamRequest,
    { user, token }: MailCredential,
  ): Promise<UpstreamResponse> {
    return this.upstream.send({ ...request, path: ['users', user, ...request.path] }, token, call.signal);
  }

  private read(response: UpstreamResponse): Promise<JsonResponse> {
    return this.usable(readJson(response));
  }

  private async file(response: UpstreamResponse): Promise<UpstreamResponse> {
    await this.usable(checkFile(response));
    return response;
  }

  private async usable<T>(reading: Promise<T>): Promise<T> {
    try {
      return await reading;
    } catch (error) {
      throw error instanceof UnusableResponseError ? this.upstream.reportFailure(error.message) : error;
    }
  }
}

/** Reads a JSON object, also a long one. @throws ApiError 500 `Proxy failed` for another response */
export async function readFields(
  session: MailSession,
  path: string[],
  query?: URLSearchParams,
): Promise<Fields> {
  const response = await session.json({ method: 'GET', path, ...(query && { query }) });
  const value = await response.readWhole();
  if (response.status >= 300 || !isFields(value)) throw MailErrors.proxyFailed.with();
  return value;
}

/** The mailboxes of a user. @throws ApiError 500 `Proxy failed` */
export const mailboxesOf = async (session: MailSession): Promise<Fields[]> =>
  resultsOf(await readFields(session, ['mailboxes']));

/** The id of the inbox. @throws ApiError 500 `Proxy failed`, also without an inbox */
export async function inboxOf(session: MailSession): Promise<string> {
  const id = (await mailboxesOf(session)).find(({ path }) => path === 'INBOX')?.['id'];
  if (!isObjectId(id)) throw MailErrors.proxyFailed.with();
  return id;
}

const rejectsCredential = (response: JsonResponse | UpstreamResponse): boolean =>
  response instanceof JsonResponse && rejectsToken(response);

/** Passes a response on unchanged: its status and its text. */
export function forwardReply({ status, text, stream }: JsonResponse): MailReply {
  if (text !== null) return JsonReply.ofText(text, { status });
  if (stream === null) throw new Error('a response has neither text nor stream');
  return new BodyReply(stream, { status, contentType: 'application/json; charset=utf-8' });
}
