import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import type { Definition } from '../../../lib/forms/index.js';
import { type IdempotencyKey, IdempotentWrites } from '../../../platform/concurrency/idempotency.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import type { JsonReply } from '../../../platform/http/json-reply.js';
import type { EnvelopeOf } from '../../../platform/resources/resource.js';
import { FormAccess, type OpenForm } from '../form-access.js';
import { FormEvents } from '../changes/form-events.js';
import { DEFAULT_SETTINGS, type FormSettingsInput, mergedSettings } from '../input/form-settings.dto.js';
import { formResponse } from '../form.presenter.js';
import { FormWritesRepository, searchTextOf } from '../changes/form-writes.repository.js';
import { FORMS } from '../forms.resource.js';

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
