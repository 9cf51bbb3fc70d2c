import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { rowsOf } from '../../../platform/database/rows.js';
import type { Tx } from '../../../platform/database/tx.js';
import { Outbox } from '../../../platform/events/outbox.js';
import { ApiError } from '../../../platform/http/errors.js';
import { FormEvents } from '../changes/form-writes.repository.js';
import type { OpenForm } from '../form-access.js';
import { FormCounter, FormResponseOnce, FormResponseRow } from '../forms.schema.js';
import { FORMS } from '../forms.resource.js';
import {
  isDecidedByForm,
  type NewResponse,
  rejectReuse,
  replace,
  type StoredResponse,
  submit,
} from '../model/form-rules.js';
import { RespondentKeys } from './respondent-keys.js';
import { type LockedForm, ResponseFiles, SubmissionsRepository } from './submissions.repository.js';

/** A stored response. `isNew`: this request has stored it. */
export type Submitted = StoredResponse & { isNew: boolean };

/** Stores, replaces and deletes responses: locks and reads rows, asks the rules (`model/form-rules.ts`), and writes. */
@Injectable()
export class SubmissionWrites {
  constructor(
    private readonly rows: SubmissionsRepository,
    private readonly files: ResponseFiles,
    private readonly respondents: RespondentKeys,
    private readonly events: FormEvents,
    private readonly outbox: Outbox,
    private readonly db: Db,
  ) {}

  /**
   * Stores a response, once for each `client_response_id`.
   * @param form as it was read before
   * @returns `outdated`: the form has another version since the answers were checked
   * @throws ApiError 403 `not_accepting`, 404, 409 `already_submitted`, `client_response_id_reused`, `upload_used`
   */
  async store(ctx: RequestContext, form: OpenForm, response: NewResponse): Promise<Submitted | 'outdated'> {
    const stored = await this.storeAtOnce(ctx, form, response);
    return stored ?? this.db.tx(async (tx) => this.storeLocked(tx, ctx, form.id, response));
  }

  /**
   * Replaces the answers of a response of the caller.
   * @returns as `store`
   * @throws ApiError 403 `not_accepting`, 404, 409 `not_editable`, `upload_used`
   */
  async replace(
    { tenantId }: RequestContext,
    id: string,
    response: NewResponse,
  ): Promise<Submitted | 'outdated'> {
    return this.db.tx(async (tx) => {
      const form = await this.lockForm(tx, tenantId, id);
      const stored = await this.rows.lockResponse(tx, tenantId, id, response);
      const hasFiles = await this.files.lock(tx, tenantId, id, response);
      const rejection = replace(form, { isOwn: stored !== null, hasFiles }, response, form.now);
      if (rejection === 'outdated') return rejection;
      if (rejection) throw rejection;
      await this.rows.update(tx, stored!, response, form.now);
      await this.files.deleteOthers(tx, tenantId, id, response.id, response.uploads);
      await this.files.claim(tx, tenantId, id, response, response.userId);
      const payload = { form_id: id, response_id: response.id };
      await this.outbox.append(tx, { tenantId, type: 'form.response_changed', payload });
      const { version } = response;
      return { id: response.id, version, submitted_at: stored!.submitted_at, isNew: false };
    });
  }

  /**
   * Deletes a response with its files; its respondent can submit again.
   * @param respondent null in an anonymous form, whose respondents are unknown
   * @returns false for an unknown response
   */
  async delete(
    tx: Tx,
    { tenantId }: RequestContext,
    formId: string,
    id: string,
    respondent: string | null,
  ): Promise<boolean> {
    await this.lockForm(tx, tenantId, formId);
    const deleted = await rowsOf(tx, FormResponseRow).delete({ tenant_id: tenantId, form_id: formId, id });
    if (deleted.length === 0) return false;
    await this.files.deleteOthers(tx, tenantId, formId, id, []);
    await rowsOf(tx, FormCounter).update(
      { tenant_id: tenantId, form_id: formId, shard: 0 },
      { count: () => 'count - 1' },
    );
    if (respondent !== null) {
      const respondentKey = this.respondents.key(tenantId, formId, respondent);
      await rowsOf(tx, FormResponseOnce).delete({
        tenant_id: tenantId,
        form_id: formId,
        respondent_key: respondentKey,
      });
    }
    return true;
  }

  /**
   * Stores a response that only the form decides about: one statement, which requires the form as it was read, in place of a
   * transaction, with which a submission takes a fifth more processor time (test/bench/README.md, "Forms").
   * @returns null: nothing is stored, and the locked rows decide
   */
  private async storeAtOnce(
    { tenantId }: RequestContext,
    form: OpenForm,
    response: NewResponse,
  ): Promise<Submitted | null> {
    if (!isDecidedByForm(form.settings, response, form.now)) return null;
    const facts = { hasFiles: true, own: null, isKnown: false, count: form.response_count };
    const change = submit(form, facts, response, form.now);
    // The last response has an event of its own.
    if (change instanceof ApiError || change === 'outdated' || change.fillsForm) return null;
    const isStored = await this.db.single(async (tx) => {
      this.outbox.notice(tx);
      return this.rows.insert(tx, tenantId, form.id, form, response, change);
    });
    const { id, version } = response;
    return isStored ? { id, version, submitted_at: change.submittedAt, isNew: true } : null;
  }

  private async storeLocked(
    tx: Tx,
    { tenantId }: RequestContext,
    id: string,
    response: NewResponse,
  ): Promise<Submitted | 'outdated'> {
    const form = await this.lockForm(tx, tenantId, id);
    const { max_responses: max, one_per_user: isOnce, anonymous } = form.settings;
    const key = isOnce ? this.respondents.key(tenantId, id, response.userId) : null;
    const hasFiles = await this.files.lock(tx, tenantId, id, response);
    const count = max === null ? 0 : await this.rows.lockCounter(tx, tenantId, id);
    for (;;) {
      const { earlier, ...facts } = await this.rows.facts(tx, tenantId, id, response, key);
      if (earlier) {
        const rejection = rejectReuse(form, earlier, response);
        if (rejection) throw rejection;
        return { ...earlier, isNew: false };
      }
      const change = submit(form, { ...facts, hasFiles, count }, response, form.now);
      if (change === 'outdated') return change;
      if (change instanceof ApiError) throw change;
      // A concurrent transaction has stored a response of the respondent, or with the client_response_id: the facts are others now.
      if (!(await this.rows.insert(tx, tenantId, id, form, response, change, key))) continue;
      await this.files.claim(tx, tenantId, id, response, change.respondentId);
      if (change.fillsForm)
        await this.events.appendClosed(tx, tenantId, id, 'quota_reached', anonymous ? { anonymous } : {});
      this.outbox.notice(tx);
      return { id: response.id, version: response.version, submitted_at: change.submittedAt, isNew: true };
    }
  }

  private async lockForm(tx: Tx, tenantId: string, id: string): Promise<LockedForm> {
    const form = await this.rows.lockForm(tx, tenantId, id);
    if (!form) throw FORMS.notFound.with();
    return form;
  }
}
