import { Inject, type Type } from '@nestjs/common';
import { Idempotency, type IdempotencyKey } from '../concurrency/idempotency.js';
import { Ctx, type RequestContext } from '../context/request-context.js';
import type { ErrorKind } from '../http/errors.js';
import { Endpoint } from '../http/endpoint.js';
import { Id } from '../http/id.pipe.js';
import { type Checked, CheckedBody } from '../http/input.pipe.js';
import type { JsonReply } from '../http/json-reply.js';

/** The share link of an item: at most one, with a role and an expiry. */
export interface ShareLinks<Terms extends object, Envelope> {
  /** Creates the link, or changes role and expiry of the existing one, whose token stays. */
  share(
    ctx: RequestContext,
    id: string,
    key: IdempotencyKey | null,
    body: Checked<Terms>,
  ): Promise<JsonReply<Envelope>>;
  /** Replaces the token; role and expiry stay. @throws ApiError `not_shared` */
  regenerate(ctx: RequestContext, id: string, key: IdempotencyKey | null): Promise<JsonReply<Envelope>>;
  /** Revokes the link. Changes nothing without a link. */
  revoke(ctx: RequestContext, id: string, key: IdempotencyKey | null): Promise<JsonReply<Envelope>>;
}

interface ShareLinkDocs<Terms extends object, Envelope> {
  /** Singular name of the item. */
  name: string;
  /** Role and expiry of the link. */
  terms: Type<Terms>;
  envelope: Type<Envelope>;
  /** Kind of object whose revision is the ETag of the response. */
  etag?: string;
  example?: object;
  descriptions: { share: string; revoke: string };
  errors: Record<'share' | 'regenerate' | 'revoke', ErrorKind[]>;
}

/** The routes of share links, for a controller with the path of the item to extend. */
export function ShareLinkController<Terms extends object, Envelope>(
  service: Type<ShareLinks<Terms, Envelope>>,
  { name, terms, envelope, etag, example, descriptions, errors }: ShareLinkDocs<Terms, Envelope>,
) {
  const suffix = `${name[0]!.toUpperCase()}${name.slice(1)}`;
  const common = etag === undefined ? {} : { etag };

  class ShareLinkRoutes {
    constructor(@Inject(service) private readonly links: ShareLinks<Terms, Envelope>) {}

    @Endpoint('POST share', {
      ...common,
      id: `share${suffix}`,
      summary: 'Create the share link',
      description: descriptions.share,
      response: [envelope, `The ${name} with its share link.`],
      ...(example && { example }),
      optionalBody: true,
      errors: errors.share,
    })
    share(
      @Ctx() ctx: RequestContext,
      @Id() id: string,
      @Idempotency() key: IdempotencyKey | null,
      @CheckedBody(terms) body: Checked<Terms>,
    ) {
      return this.links.share(ctx, id, key, body);
    }

    @Endpoint('POST share/regenerate', {
      ...common,
      id: `regenerate${suffix}Share`,
      summary: 'Replace the share link',
      description: 'The previous link stops working; role and expiry stay.',
      response: [envelope, `The ${name} with its new share link.`],
      errors: errors.regenerate,
    })
    regenerate(@Ctx() ctx: RequestContext, @Id() id: string, @Idempotency() key: IdempotencyKey | null) {
      return this.links.regenerate(ctx, id, key);
    }

    @Endpoint('DELETE share', {
      ...common,
      id: `revoke${suffix}Share`,
      summary: 'Revoke the share link',
      description: descriptions.revoke,
      response: [envelope, `The ${name} without a share link.`],
      errors: errors.revoke,
    })
    revoke(@Ctx() ctx: RequestContext, @Id() id: string, @Idempotency() key: IdempotencyKey | null) {
      return this.links.revoke(ctx, id, key);
    }
  }
  return ShareLinkRoutes;
}
