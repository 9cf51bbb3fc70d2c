import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { plainText } from '../../../lib/html/index.js';
import { Audit } from '../../../platform/audit/audit.js';
import { type IdempotencyKey, IdempotentWrites } from '../../../platform/concurrency/idempotency.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { changedFields } from '../../../platform/database/rows.js';
import type { Tx } from '../../../platform/database/tx.js';
import { HtmlPolicy } from '../../../platform/html/html-policy.js';
import type { Checked } from '../../../platform/http/input.pipe.js';
import { Cursors } from '../../../platform/paging/cursors.js';
import type { PageQuery } from '../../../platform/paging/page.dto.js';
import { cleanHtmlField } from '../../../platform/resources/html-field.js';
import { QUOTAS } from '../../../platform/quotas/quotas.js';
import type { ReplyOf } from '../../../platform/resources/resource.js';
import type { Signature } from './signature.entity.js';
import type { SignatureResponse, CreateSignature, UpdateSignature } from './signatures.dto.js';
import { SignaturesRepository } from './signatures.repository.js';
import { SIGNATURES, tooManySignatures } from './signatures.resource.js';

/** The mail signatures of a user, at most one of them the default. */
@Injectable()
export class SignaturesService {
  constructor(
    private readonly signatures: SignaturesRepository,
    private readonly html: HtmlPolicy,
    private readonly writes: IdempotentWrites,
    private readonly cursors: Cursors,
    private readonly audit: Audit,
    private readonly db: Db,
  ) {}

  async list(ctx: RequestContext, query: PageQuery): Promise<ReplyOf<typeof SIGNATURES, 'list'>> {
    const { rows, next } = await this.cursors.page(query, {
      scope: `signatures ${ctx.tenantId} ${ctx.userId}`,
      key: (signature: Signature & { fits: boolean }): [string] => [signature.id],
      fits: (signature) => signature.fits,
      rows: (after, limit) => this.signatures.list(ctx, after, limit),
    });
    return SIGNATURES.page(rows.map(present), next);
  }

  /** @throws ApiError 404 */
  async read(ctx: RequestContext, id: string): Promise<ReplyOf<typeof SIGNATURES, 'item'>> {
    return SIGNATURES.response(present(found(await this.signatures.find(ctx, id))));
  }

  /** @throws ApiError 422 `too_many_signatures`, or for HTML that is too complex */
  async create(
    ctx: RequestContext,
    key: IdempotencyKey | null,
    input: CreateSignature,
  ): Promise<ReplyOf<typeof SIGNATURES, 'item'>> {
    const html = await cleanHtmlField(this.html, 'html', input.html);
    const { name, text = null, is_default = false } = input;
    return this.writes.runTx(ctx, key, async (tx) => {
      await this.signatures.lock(tx, ctx);
      if ((await this.signatures.count(tx, ctx)) >= QUOTAS.user.signatures) throw tooManySignatures.with();
      const values = {
        name,
        html,
        text: text ?? plainText(html),
        own_text: text !== null,
        is_default,
      };
      const made = await this.signatures.insert(tx, ctx, { id: uuidv7(), ...values });
      await this.log(tx, ctx, 'signature.created', made);
      return SIGNATURES.created(made.id, present(made));
    });
  }

  /** Missing fields stay. @throws ApiError 404 */
  async update(
    ctx: RequestContext,
    id: string,
    body: Checked<UpdateSignature>,
  ): Promise<ReplyOf<typeof SIGNATURES, 'item'>> {
    const checked = await body.map(async ({ html, ...fields }) => ({
      ...fields,
      html: html === undefined ? undefined : await cleanHtmlField(this.html, 'html', html),
    }));
    return this.change(ctx, id, 'signature.updated', (before) => {
      const { html = before.html, name, is_default, text } = checked.value;
      // A derived text that is sent back as it was read stays derived.
      const isUnchanged = text === undefined || text === before.text;
      const ownText = isUnchanged ? before.own_text : text !== null;
      return {
        name,
        html,
        is_default,
        own_text: ownText,
        text: ownText ? (text ?? before.text) : plainText(html),
      };
    });
  }

  /** @throws ApiError 404 */
  async makeDefault(ctx: RequestContext, id: string): Promise<ReplyOf<typeof SIGNATURES, 'item'>> {
    return this.change(ctx, id, 'signature.made_default', () => ({ is_default: true }));
  }

  /** After the deletion of the default there is no default. @throws ApiError 404 */
  async delete(ctx: RequestContext, id: string): Promise<ReplyOf<typeof SIGNATURES, 'deleted'>> {
    return this.db.tx(async (tx) => {
      await this.signatures.lock(tx, ctx);
      const deleted = found(await this.signatures.delete(tx, ctx, id));
      await this.log(tx, ctx, 'signature.deleted', deleted);
      return SIGNATURES.deleted(present(deleted));
    });
  }

  private async change(
    ctx: RequestContext,
    id: string,
    action: string,
    wanted: (before: Signature) => Partial<Signature>,
  ): Promise<ReplyOf<typeof SIGNATURES, 'item'>> {
    return this.db.tx(async (tx) => {
      await this.signatures.lock(tx, ctx);
      const before = found(await this.signatures.find(ctx, id, tx));
      const changes = changedFields(before, wanted(before));
      if (!changes) return SIGNATURES.response(present(before));
      const after = await this.signatures.update(tx, ctx, id, changes);
      await this.log(tx, ctx, action, after);
      return SIGNATURES.response(present(after));
    });
  }

  private async log(tx: Tx, ctx: RequestContext, action: string, { id, name, is_default }: Signature) {
    const data = { name, is_default };
    await this.audit.record(tx, ctx, { action, objectKind: 'signature', objectId: id, data });
  }
}

function found(signature: Signature | null): Signature {
  if (!signature) throw SIGNATURES.notFound.with();
  return signature;
}

const present = (signature: Signature): SignatureResponse => ({
  id: signature.id,
  name: signature.name,
  html: signature.html,
  text: signature.text,
  is_default: signature.is_default,
  created_at: signature.created_at.toISOString(),
  updated_at: signature.updated_at.toISOString(),
});
