import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { type Definition, EMPTY_DEFINITION } from '../../../lib/forms/index.js';
import { type IdempotencyKey, IdempotentWrites } from '../../../platform/concurrency/idempotency.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { Db } from '../../../platform/database/db.js';
import { changedFields } from '../../../platform/database/rows.js';
import type { Tx } from '../../../platform/database/tx.js';
import type { Checked } from '../../../platform/http/input.pipe.js';
import type { JsonReply } from '../../../platform/http/json-reply.js';
import { Cursors } from '../../../platform/paging/cursors.js';
import type { EnvelopeOf, ReplyOf } from '../../../platform/resources/resource.js';
import { FormEvents, FormWritesRepository, searchTextOf } from '../changes/form-writes.repository.js';
import { FormAccess, includes, type OpenForm, type ShownForm } from '../form-access.js';
import { FormVisitCounter } from '../form-visit-counter.js';
import { formResponse, formSummary } from '../form.presenter.js';
import { FormsRepository, likePatterns, type ListedForm } from '../forms.repository.js';
import { FormErrors, FORMS } from '../forms.resource.js';
import type { Form } from '../forms.schema.js';
import {
  assertRev,
  DEFAULT_SETTINGS,
  draftOf,
  type FormSettingsInput,
  mergedSettings,
} from '../input/form.dto.js';
import { isClosedByQuota } from '../model/form-rules.js';
import type { CreateForm, ListForms, ReadForm, ReplaceForm, UpdateForm } from './forms.dto.js';
import { presetOf } from './preset-library.js';

interface NewForm {
  title: string;
  description: string;
  definition: Definition;
  settings?: FormSettingsInput;
}

/** Creates forms as drafts of the caller. */
@Injectable()
export class FormDrafts {
  constructor(
    private readonly rows: FormWritesRepository,
    private readonly access: FormAccess,
    private readonly events: FormEvents,
    private readonly writes: IdempotentWrites,
  ) {}

  /**
   * @param more further members of the response
   * @throws ApiError 422 `validation_failed` for settings that contradict each other
   */
  async create<More extends object>(
    ctx: RequestContext,
    key: IdempotencyKey | null,
    form: NewForm,
    more: More,
  ): Promise<JsonReply<EnvelopeOf<typeof FORMS, 'item'> & More>> {
    const { title, description, definition: draft } = form;
    const settings = mergedSettings(DEFAULT_SETTINGS, form.settings);
    const id = uuidv7();
    return this.writes.runTx(ctx, key, async (tx) => {
      const searchText = searchTextOf({ title, description, draft });
      await this.rows.insert(tx, ctx, {
        id,
        title,
        description,
        draft,
        settings,
        search_text: searchText,
      });
      await this.events.record(tx, ctx, 'created', id, { title });
      const made = await this.access.reread(tx, ctx, { id, role: 'owner' } as OpenForm);
      return FORMS.created(id, formResponse(made, draft), { extra: more });
    });
  }
}

/** Forms and their drafts. */
@Injectable()
export class FormsService {
  constructor(
    private readonly forms: FormsRepository,
    private readonly rows: FormWritesRepository,
    private readonly access: FormAccess,
    private readonly drafts: FormDrafts,
    private readonly events: FormEvents,
    private readonly visits: FormVisitCounter,
    private readonly cursors: Cursors,
    private readonly db: Db,
  ) {}

  async list(ctx: RequestContext, query: ListForms): Promise<ReplyOf<typeof FORMS, 'list'>> {
    const { state, owner, q, scope } = query;
    const base = scope === 'all' ? await this.access.baseRole(ctx) : null;
    const filter = { state, owner, words: likePatterns(q) };
    const { rows, next } = await this.cursors.page(query, {
      scope: `forms ${ctx.tenantId} ${ctx.userId} ${JSON.stringify([state, owner, q, scope])}`,
      key: (form: ListedForm): [string] => [form.id],
      fits: (form) => form.fits,
      rows: (after, limit) => this.forms.list(ctx, base, filter, after, limit),
    });
    return FORMS.page(
      rows.map((form) => formSummary(form as ShownForm)),
      next,
    );
  }

  /** Counts the views of respondents. @throws ApiError 404 also for an unknown version */
  async read(
    ctx: RequestContext,
    id: string,
    { version, share_token: token }: ReadForm,
  ): Promise<ReplyOf<typeof FORMS, 'item'>> {
    const form = await this.access.open(ctx, id, 'respondent', token);
    const definition = await this.definition(ctx, form, version);
    const shown = version ?? form.current_version;
    if (form.role === 'respondent' && shown !== null) this.visits.record('views', ctx.tenantId, id, shown);
    return FORMS.response(formResponse(form, definition));
  }

  /** @throws ApiError 422 `invalid_definition`, `unknown_preset` */
  async create(
    ctx: RequestContext,
    key: IdempotencyKey | null,
    input: CreateForm,
  ): Promise<ReplyOf<typeof FORMS, 'item'>> {
    const { title, description = '', settings, preset_id: id, language } = input;
    const preset = id === undefined ? undefined : presetOf(id, language);
    if (id !== undefined && !preset) throw FormErrors.unknownPreset.with();
    const definition = input.definition
      ? draftOf(input.definition)
      : (preset?.definition ?? EMPTY_DEFINITION);
    return this.drafts.create(ctx, key, { title, description, definition, settings }, {});
  }

  /** @throws ApiError 404, 403, 409 `archived`, `conflict`, `anonymity_fixed`, 422 `invalid_definition` */
  async update(
    ctx: RequestContext,
    id: string,
    body: Checked<UpdateForm>,
  ): Promise<ReplyOf<typeof FORMS, 'item'>> {
    const checked = await body.map(async (input) => {
      const draft = input.definition && draftOf(input.definition);
      return { input, draft };
    });
    return this.change(ctx, id, checked, (form, { input, draft }) => ({
      draft,
      settings: input.settings && mergedSettings(form.settings, input.settings),
    }));
  }

  /** Replaces definition and settings. @throws as `update` */
  async replace(
    ctx: RequestContext,
    id: string,
    body: Checked<ReplaceForm>,
  ): Promise<ReplyOf<typeof FORMS, 'item'>> {
    const checked = await body.map(async (input) => ({
      input,
      draft: draftOf(input.definition),
      settings: mergedSettings(DEFAULT_SETTINGS, input.settings),
    }));
    return this.change(ctx, id, checked, (_form, { draft, settings }) => ({ draft, settings }));
  }

  /** Links, access and reports end at once; the rows are deleted after 30 days. @throws ApiError 404, 403 */
  async delete(ctx: RequestContext, id: string): Promise<ReplyOf<typeof FORMS, 'deleted'>> {
    const opened = await this.access.open(ctx, id, 'owner');
    return this.db.tx(async (tx) => {
      await this.rows.lock(tx, ctx, id);
      const form = await this.access.reread(tx, ctx, opened);
      const definition = await this.forms.draft(ctx.tenantId, id, tx);
      const values = { deleted_at: () => 'now()', accepting: false, share_token_hash: null };
      await this.rows.update(tx, ctx, id, values);
      await this.events.record(tx, ctx, 'deleted', id, { title: form.title });
      return FORMS.deleted(formResponse(form, definition));
    });
  }

  private async change<T extends { input: Omit<UpdateForm, 'definition'> }>(
    ctx: RequestContext,
    id: string,
    checked: Checked<T>,
    wanted: (form: Form, value: T) => Partial<Form>,
  ): Promise<ReplyOf<typeof FORMS, 'item'>> {
    const opened = await this.access.open(ctx, id, 'editor');
    return this.db.tx(async (tx) => {
      const before = await this.rows.lock(tx, ctx, id);
      if (!before) throw FORMS.notFound.with();
      if (before.state === 'archived') throw FormErrors.archived.with();
      const { value } = checked;
      const { title, description, draft_rev: rev } = value.input;
      assertRev(before, rev);
      const changes = changedFields<Partial<Form>>(before, { title, description, ...wanted(before, value) });
      if (changes) await this.store(tx, ctx, before, changes, opened);
      const form = await this.access.reread(tx, ctx, opened);
      return FORMS.response(formResponse(form, changes?.draft ?? before.draft));
    });
  }

  private async store(
    tx: Tx,
    ctx: RequestContext,
    before: Form,
    changes: Partial<Form>,
    opened: OpenForm,
  ): Promise<void> {
    const after = { ...before, ...changes };
    // The lock of the form blocks submissions, so the count is exact.
    const count = changes.settings ? (await this.access.reread(tx, ctx, opened)).response_count : 0;
    if (after.settings.anonymous !== before.settings.anonymous && count > 0)
      throw FormErrors.anonymityFixed.with();
    const published = await this.published(tx, ctx, before);
    const unpublishedChanges = published !== undefined && !isDeepStrictEqual(published, after.draft);
    await this.rows.update(tx, ctx, before.id, {
      ...changes,
      unpublished_changes: unpublishedChanges,
      draft_rev: before.draft_rev + 1,
      search_text: searchTextOf(after),
      published_search_text: unpublishedChanges ? searchTextOf({ ...after, draft: published }) : null,
    });
    await this.events.record(tx, ctx, 'updated', before.id, { fields: Object.keys(changes) });
    if (isClosedByQuota(before, after.settings, count))
      await this.events.appendClosed(tx, ctx.tenantId, before.id, 'quota_reached', {
        actor_id: ctx.userId,
      });
  }

  /** The current version; undefined before the first publication. */
  private async published(tx: Tx, ctx: RequestContext, form: Form): Promise<Definition | undefined> {
    const { id, current_version: current } = form;
    return current === null
      ? undefined
      : (await this.forms.version(ctx.tenantId, id, current, tx))?.definition;
  }

  /** The draft for editors, the current version for others, or the given version. */
  private async definition(
    ctx: RequestContext,
    { id, role, current_version: current }: OpenForm,
    version: number | undefined,
  ): Promise<Definition> {
    const wanted = version ?? (includes(role, 'editor') ? null : current);
    if (wanted === null) return this.forms.draft(ctx.tenantId, id);
    const found = await this.forms.version(ctx.tenantId, id, wanted);
    if (!found) throw FORMS.notFound.with();
    return found.definition;
  }
}
