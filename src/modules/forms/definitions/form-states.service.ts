import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import type { ColumnValues } from '../../../platform/database/rows.js';
import type { Tx } from '../../../platform/database/tx.js';
import type { Checked } from '../../../platform/http/input.pipe.js';
import { assertQuota } from '../../../platform/quotas/row-quota.js';
import type { ReplyOf } from '../../../platform/resources/resource.js';
import { assertComplete, assertRev, mergedSettings } from '../input/form.dto.js';
import { FormAccess } from '../form-access.js';
import { FormEvents, FormWritesRepository } from '../changes/form-writes.repository.js';
import { formResponse } from '../form.presenter.js';
import type { Form } from '../forms.schema.js';
import { FormErrors, FORMS } from '../forms.resource.js';
import { FormsRepository } from '../forms.repository.js';
import type { PublishForm, SetAccepting } from './forms.dto.js';

/** A transition: the columns that it changes and the name of its event; null when the form is already in that state. */
type Transition = { values: ColumnValues<Form>; change: string; data?: Record<string, unknown> } | null;

/**
 * The life cycle of forms: draft, published, archived. Each transition locks the form, so that it is serialised with
 * submissions.
 */
@Injectable()
export class FormStatesService {
  constructor(
    private readonly forms: FormsRepository,
    private readonly rows: FormWritesRepository,
    private readonly access: FormAccess,
    private readonly events: FormEvents,
    private readonly db: Db,
  ) {}

  /** @throws ApiError 404, 403, 409 `archived`, `conflict`, `quota_exceeded`, 422 `invalid_definition`, `no_changes` */
  async publish(
    ctx: RequestContext,
    id: string,
    body: Checked<PublishForm>,
  ): Promise<ReplyOf<typeof FORMS, 'item'>> {
    return this.run(ctx, id, async (tx, form) => {
      if (form.state === 'archived') throw FormErrors.archived.with();
      const { draft_rev: rev, accepting } = body.value;
      assertRev(form, rev);
      await this.assertChanged(tx, form);
      assertComplete(form.draft);
      const version = (form.current_version ?? 0) + 1;
      assertQuota('item.versions_of_form', version);
      await this.rows.addVersion(tx, ctx, id, version, form.draft);
      const values = {
        state: 'published' as const,
        accepting: accepting ?? (form.state === 'draft' ? true : form.accepting),
        current_version: version,
        unpublished_changes: false,
        published_at: () => 'now()',
      };
      return { values, change: 'published', data: { version } };
    });
  }

  /** @throws ApiError 404, 403 */
  async archive(ctx: RequestContext, id: string): Promise<ReplyOf<typeof FORMS, 'item'>> {
    return this.run(ctx, id, async (_tx, { state }) => {
      if (state === 'archived') return null;
      const values = { state: 'archived' as const, previous_state: state, accepting: false };
      return { values, change: 'archived' };
    });
  }

  /** Returns to the previous state, without accepting responses. @throws ApiError 404, 403 */
  async unarchive(ctx: RequestContext, id: string): Promise<ReplyOf<typeof FORMS, 'item'>> {
    return this.run(ctx, id, async (_tx, { state, previous_state }) => {
      if (state !== 'archived') return null;
      const values = { state: previous_state ?? 'draft', previous_state: null, accepting: false };
      return { values, change: 'unarchived' };
    });
  }

  /** Once the request that closes the form has returned, no response is stored. @throws ApiError 404, 403, 409 `not_published` */
  async setAccepting(
    ctx: RequestContext,
    id: string,
    body: Checked<SetAccepting>,
  ): Promise<ReplyOf<typeof FORMS, 'item'>> {
    return this.run(ctx, id, async (_tx, form) => {
      if (form.state !== 'published') throw FormErrors.notPublished.with();
      const { accepting, opens_at, closes_at, message } = body.value;
      const settings = mergedSettings(form.settings, { opens_at, closes_at, closed_message: message });
      if (accepting === form.accepting && isDeepStrictEqual(settings, form.settings)) return null;
      const values = { accepting, settings, draft_rev: form.draft_rev + 1 };
      return { values, change: 'accepting_changed', data: { accepting } };
    });
  }

  private async run(
    ctx: RequestContext,
    id: string,
    transition: (tx: Tx, form: Form) => Promise<Transition>,
  ): Promise<ReplyOf<typeof FORMS, 'item'>> {
    const opened = await this.access.open(ctx, id, 'editor');
    return this.db.tx(async (tx) => {
      const before = await this.rows.lock(tx, ctx, id);
      if (!before) throw FORMS.notFound.with();
      const step = await transition(tx, before);
      if (step) {
        await this.rows.update(tx, ctx, id, step.values);
        await this.events.record(tx, ctx, step.change, id, step.data);
      }
      return FORMS.response(formResponse(await this.access.reread(tx, ctx, opened), before.draft));
    });
  }

  private async assertChanged(tx: Tx, { tenant_id, id, current_version, draft }: Form): Promise<void> {
    if (current_version === null) return;
    const current = await this.forms.version(tenant_id, id, current_version, tx);
    if (isDeepStrictEqual(current?.definition, draft)) throw FormErrors.noChanges.with();
  }
}
