import { Injectable } from '@nestjs/common';
import { JsonReply } from '../../platform/http/json-reply.js';
import { StreamReply } from '../../platform/http/stream-reply.js';
import { MailAccounts, type MailAsker, type MailCredential } from './mail-accounts.js';
import type { MailOwner } from './mail-accounts.repository.js';
import {
  fileAnswer,
  JsonAnswer,
  jsonAnswer,
  lacksPrivilege,
  refusesToken,
  UnusableAnswer,
} from './upstream/mail-answer.js';
import { MailLoad } from './mail-load.js';
import { MailUpstream, type UpstreamAnswer, type UpstreamRequest } from './upstream/mail-upstream.js';
import type { MailCall } from './mail-call.js';

export type MailReply = JsonReply | StreamReply;

/** A request to the mail service as a person: its path begins below that person's own tree. */
export type OwnRequest = UpstreamRequest;

/** Whom a request is made for, and, where somebody waits for it, until when. */
type Asker = { readonly ctx: MailAsker } & Partial<Pick<MailCall, 'signal'>>;

/** The mail service as one person sees it, for the time of one request to us. */
export interface MailSession {
  /** @throws ApiError 500 `Proxy failed` for anything that is no JSON answer */
  json(request: OwnRequest): Promise<JsonAnswer>;
  /** Bytes where the answer is a success, the JSON of the refusal where it is not. */
  bytes(request: OwnRequest): Promise<UpstreamAnswer | JsonAnswer>;
}

/** Acts as the caller: with their own credential, renewed once when it has died, and within the bounds of the load. */
@Injectable()
export class MailClient {
  constructor(
    private readonly upstream: MailUpstream,
    private readonly accounts: MailAccounts,
    private readonly load: MailLoad,
  ) {}

  /**
   * Runs `work`, which talks to the mail service as the caller.
   * @throws ApiError 429, 503 when too much is going on; what `credential` and `work` throw
   */
  async as(call: MailCall, work: (session: MailSession) => Promise<MailReply>): Promise<MailReply> {
    const { tenantId, userId } = call.ctx;
    const leave = this.load.enter(`${tenantId}:${userId}`);
    try {
      const reply = await work({
        json: (request) => this.exchange(call, request, (answer) => this.read(answer)),
        bytes: (request) =>
          this.exchange<UpstreamAnswer | JsonAnswer>(call, request, (answer) =>
            answer.status >= 200 && answer.status < 300 ? this.file(answer) : this.read(answer),
          ),
      });
      if (!(reply instanceof StreamReply) || reply.body.destroyed) leave();
      else reply.body.once('close', leave);
      return reply;
    } catch (error) {
      leave();
      throw call.signal.reason ?? error;
    }
  }

  /**
   * One request as a person who does not wait for its answer as such: what it takes to keep their account in order.
   * @returns also the mail service's word that this credential may not do it (403 `MissingPrivileges`)
   * @throws ApiError as `credential`, and 500 `Proxy failed`
   */
  async ask(owner: MailOwner, request: OwnRequest): Promise<JsonAnswer> {
    const answer = await this.exchange(
      { ctx: owner },
      request,
      (answer) => this.read(answer),
      (answer) => refusesToken(answer) && !lacksPrivilege(answer),
    );
    answer.stream?.destroy();
    return answer;
  }

  private async exchange<T extends JsonAnswer | UpstreamAnswer>(
    call: Asker,
    request: OwnRequest,
    read: (answer: UpstreamAnswer) => Promise<T>,
    isRefusal: (answer: T) => boolean = refusesThis,
  ): Promise<T> {
    const credential = this.accounts.known(call.ctx) ?? (await this.accounts.credential(call.ctx));
    const first = await read(await this.send(call, request, credential));
    if (!isRefusal(first)) return first;
    const renewed = await this.accounts.credential(call.ctx, credential);
    const second = await read(await this.send(call, request, renewed));
    if (isRefusal(second)) throw this.upstream.failed('the credential is refused, and so is a new one');
    return second;
  }

  private send(call: Asker, request: OwnRequest, { user, token }: MailCredential): Promise<UpstreamAnswer> {
    return this.upstream.send({ ...request, path: ['users', user, ...request.path] }, token, call.signal);
  }

  private read(answer: UpstreamAnswer): Promise<JsonAnswer> {
    return this.usable(jsonAnswer(answer));
  }

  private async file(answer: UpstreamAnswer): Promise<UpstreamAnswer> {
    await this.usable(fileAnswer(answer));
    return answer;
  }

  private async usable<T>(reading: Promise<T>): Promise<T> {
    try {
      return await reading;
    } catch (error) {
      throw error instanceof UnusableAnswer ? this.upstream.failed(error.message) : error;
    }
  }
}

const refusesThis = (answer: JsonAnswer | UpstreamAnswer): boolean =>
  answer instanceof JsonAnswer && refusesToken(answer);

/** An answer passed on as it came: its status and its text. */
export function passedOn({ status, text, stream }: JsonAnswer): MailReply {
  if (text !== null) return new JsonReply(text, { status });
  if (stream === null) throw new Error('an answer has text');
  return new StreamReply(stream, { status, contentType: 'application/json; charset=utf-8' });
}
