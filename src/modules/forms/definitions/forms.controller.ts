import { Body, Controller, Query } from '@nestjs/common';
import { Idempotency, type IdempotencyKey } from '../../../platform/concurrency/idempotency.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Requires } from '../../../platform/context/permission.guard.js';
import { BodyLimit, DEFAULT_LIMITS } from '../../../platform/http/body/body-limits.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { type ErrorKind, Errors } from '../../../platform/http/errors.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../../platform/http/input.pipe.js';
import {
  CreateOperation,
  DeleteOperation,
  ListOperation,
  ReadOperation,
  UpdateOperation,
} from '../../../platform/resources/operations.js';
import { QuotaErrors } from '../../../platform/quotas/quotas.dto.js';
import { formConflict, FormErrors, FORMS } from '../forms.resource.js';
import { FormStatesService } from './form-states.service.js';
import {
  CreateForm,
  EXAMPLE_DEFINITION,
  ListForms,
  PublishForm,
  ReadForm,
  ReplaceForm,
  SetAccepting,
  UpdateForm,
} from './forms.dto.js';
import { FormsService } from './forms.service.js';

/** A definition of 512 KiB has fewer values. */
const FORM_VALUES = 60_000;
const CHANGE_ERRORS: ErrorKind[] = [Errors.forbidden, FormErrors.archived, formConflict];
const DRAFT_ERRORS = [...CHANGE_ERRORS, FormErrors.anonymityFixed, FormErrors.invalidDefinition];

@Controller(FORMS.options.path)
export class FormsController {
  constructor(
    private readonly forms: FormsService,
    private readonly states: FormStatesService,
  ) {}

  @ListOperation(FORMS, {
    description:
      'Your forms and those shared with you or your groups, newest first, without their definitions.',
  })
  list(@Ctx() ctx: RequestContext, @Query() query: ListForms) {
    return this.forms.list(ctx, query);
  }

  @CreateOperation(FORMS, {
    description: 'The form is a draft: only its owner sees it until it is shared.',
    body: CreateForm,
    example: { title: 'Summer party', definition: EXAMPLE_DEFINITION },
    errors: [QuotaErrors.exceeded, FormErrors.invalidDefinition, FormErrors.unknownPreset],
  })
  @Requires('forms.create')
  @BodyLimit(DEFAULT_LIMITS.bytes, FORM_VALUES)
  create(@Ctx() ctx: RequestContext, @Idempotency() key: IdempotencyKey | null, @Body() body: CreateForm) {
    return this.forms.create(ctx, key, body);
  }

  @ReadOperation(FORMS, {
    description:
      'Owners and editors read the draft, viewers and respondents the published version: before the first publication they get 404. Respondents do not see the quota.',
    errors: [Errors.validationFailed],
  })
  read(@Ctx() ctx: RequestContext, @Id() id: string, @Query() query: ReadForm) {
    return this.forms.read(ctx, id, query);
  }

  @UpdateOperation(FORMS, {
    description:
      'Title, description and settings apply at once, the definition at the next publication. With `draft_rev`, a change since then is a conflict.',
    body: UpdateForm,
    example: { title: 'Summer party 2027', settings: { max_responses: 200 } },
    methods: ['PATCH'],
    errors: DRAFT_ERRORS,
  })
  @BodyLimit(DEFAULT_LIMITS.bytes, FORM_VALUES)
  update(@Ctx() ctx: RequestContext, @Id() id: string, @CheckedBody(UpdateForm) body: Checked<UpdateForm>) {
    return this.forms.update(ctx, id, body);
  }

  @Endpoint('PUT :id', {
    tag: 'forms',
    id: 'replaceForm',
    summary: 'Replace the draft and the settings of a form',
    description: 'Missing settings get their defaults. A missing title or description stays.',
    errors: [FORMS.notFound, ...DRAFT_ERRORS],
    response: [FORMS.envelopes.item, 'The form as it is now.'],
    example: { definition: EXAMPLE_DEFINITION },
  })
  @BodyLimit(DEFAULT_LIMITS.bytes, FORM_VALUES)
  replace(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @CheckedBody(ReplaceForm) body: Checked<ReplaceForm>,
  ) {
    return this.forms.replace(ctx, id, body);
  }

  @DeleteOperation(FORMS, {
    description:
      'Share link, access and shared reports end at once. The responses are deleted after 30 days. Only for the owner.',
    errors: [Errors.forbidden],
  })
  delete(@Ctx() ctx: RequestContext, @Id() id: string) {
    return this.forms.delete(ctx, id);
  }

  @Endpoint('POST :id/publish', {
    tag: 'forms',
    id: 'publishForm',
    summary: 'Publish the draft',
    description: 'Makes the draft the next version. Versions never change. Each response names its version.',
    errors: [
      FORMS.notFound,
      ...CHANGE_ERRORS,
      FormErrors.invalidDefinition,
      FormErrors.noChanges,
      QuotaErrors.exceeded,
    ],
    response: [FORMS.envelopes.item, 'The published form.'],
    example: { accepting: true },
    optionalBody: true,
  })
  publish(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @CheckedBody(PublishForm) body: Checked<PublishForm>,
  ) {
    return this.states.publish(ctx, id, body);
  }

  @Endpoint('POST :id/archive', {
    tag: 'forms',
    id: 'archiveForm',
    summary: 'Archive a form',
    description: 'An archived form cannot be changed and accepts no responses.',
    errors: [FORMS.notFound, Errors.forbidden],
    response: [FORMS.envelopes.item, 'The archived form.'],
  })
  archive(@Ctx() ctx: RequestContext, @Id() id: string) {
    return this.states.archive(ctx, id);
  }

  @Endpoint('POST :id/unarchive', {
    tag: 'forms',
    id: 'unarchiveForm',
    summary: 'Restore an archived form',
    description: 'The form returns to its previous state and does not accept responses yet.',
    errors: [FORMS.notFound, Errors.forbidden],
    response: [FORMS.envelopes.item, 'The restored form.'],
  })
  unarchive(@Ctx() ctx: RequestContext, @Id() id: string) {
    return this.states.unarchive(ctx, id);
  }

  @Endpoint('POST :id/accepting', {
    tag: 'forms',
    id: 'setFormAccepting',
    summary: 'Open or close a form for responses',
    description: 'Once a request that closes the form has returned, no response is stored.',
    errors: [FORMS.notFound, Errors.forbidden, FormErrors.notPublished],
    response: [FORMS.envelopes.item, 'The form as it is now.'],
    example: { accepting: false },
  })
  setAccepting(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @CheckedBody(SetAccepting) body: Checked<SetAccepting>,
  ) {
    return this.states.setAccepting(ctx, id, body);
  }
}
