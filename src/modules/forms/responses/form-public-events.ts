import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { FACTS, PublicEvents, publicEvents } from '../../../platform/events/public-events.js';
import { ApiError } from '../../../platform/http/errors.js';
import { FormAccess, type OpenForm } from '../form-access.js';
import { formSummary } from '../form.presenter.js';
import { FormResponse } from '../form.response.js';
import { FormResponseItem } from './responses.dto.js';
import { ResponsesService } from './responses.service.js';

const FORM_EVENTS = publicEvents(
  {
    kind: 'form',
    object: FormResponse,
    facts: {
      form_id: FACTS.id,
      actor_id: FACTS.user,
      reason: { type: 'string', enum: ['window_ended', 'quota_reached'], example: 'quota_reached' },
    },
    filters: ['form_id'],
  },
  {
    'form.published': 'A version of a form was published.',
    'form.closed': 'A form no longer accepts responses, for `reason`.',
  },
);

const RESPONSE_EVENTS = publicEvents(
  {
    kind: 'response',
    object: FormResponseItem,
    facts: { form_id: FACTS.id, response_id: FACTS.id },
    filters: ['form_id'],
  },
  {
    'form.response_submitted': 'A response was submitted. `response` is null if it was deleted meanwhile.',
    'form.response_changed': 'A respondent changed a response.',
    'form.response_deleted': 'A response was deleted. `response` is null.',
  },
);

/** The events of forms that programs of others receive: those who see the results of a form. */
@Injectable()
export class FormPublicEvents implements OnModuleInit {
  constructor(
    private readonly events: PublicEvents,
    private readonly access: FormAccess,
    private readonly responses: ResponsesService,
  ) {}

  onModuleInit(): void {
    this.events.registerFilter('form_id', async (ctx, id) => (await this.open(ctx, id)) !== undefined);
    this.events.register(FORM_EVENTS, {
      one: async (ctx, facts) => {
        const form = await this.open(ctx, facts['form_id'] as string);
        return form && formSummary(form);
      },
    });
    this.events.register(RESPONSE_EVENTS, {
      one: async (ctx, facts) =>
        (await this.open(ctx, facts['form_id'] as string))
          ? this.responses.readShown(ctx, facts['form_id'] as string, facts['response_id'] as string)
          : undefined,
    });
  }

  private async open(ctx: RequestContext, id: string): Promise<OpenForm | undefined> {
    try {
      return await this.access.open(ctx, id, 'viewer');
    } catch (error) {
      if (error instanceof ApiError) return undefined;
      throw error;
    }
  }
}
