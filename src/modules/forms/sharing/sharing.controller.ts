import { Controller } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Errors } from '../../../platform/http/errors.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../../platform/http/input.pipe.js';
import { ShareLinkController } from '../../../platform/resources/share-link.controller.js';
import { FormErrors } from '../forms.errors.js';
import { FORMS } from '../forms.resource.js';
import { SetFormAccess, ShareForm } from './sharing.dto.js';
import { SharingErrors } from './sharing.errors.js';
import { FormAccessListEnvelope } from './sharing.response.js';
import { FormSharingService } from './sharing.service.js';

const REVOKE_ERRORS = [FORMS.notFound, Errors.forbidden];
const LINK_ERRORS = [...REVOKE_ERRORS, FormErrors.archived];

@ApiTags('forms')
@Controller('forms/:id')
export class FormSharingController extends ShareLinkController(FormSharingService, {
  name: 'form',
  terms: ShareForm,
  envelope: FORMS.envelopes.item,
  example: { role: 'respond' },
  descriptions: {
    share:
      'The link opens the form to signed-in members of the workspace. Only this response contains it. An existing link gets the new role and expiry; its token stays and is not shown again.',
    revoke: 'The link stops working at once. Without a link nothing changes.',
  },
  errors: {
    share: LINK_ERRORS,
    regenerate: [...LINK_ERRORS, SharingErrors.notShared],
    revoke: REVOKE_ERRORS,
  },
}) {
  constructor(private readonly sharing: FormSharingService) {
    super(sharing);
  }

  @Endpoint('GET access', {
    id: 'listFormAccess',
    summary: 'List the members and groups with a role',
    description: 'For owners and editors.',
    errors: [FORMS.notFound, Errors.forbidden],
    response: [FormAccessListEnvelope, 'All of them, at most 500.'],
  })
  list(@Ctx() ctx: RequestContext, @Id() id: string) {
    return this.sharing.list(ctx, id);
  }

  @Endpoint('PUT access', {
    id: 'setFormAccess',
    summary: 'Set the members and groups with a role',
    description:
      'Replaces the whole list. Respondents submit, viewers read responses, editors change the form. Only for the owner.',
    errors: [FORMS.notFound, Errors.forbidden, SharingErrors.unknownUser],
    response: [FormAccessListEnvelope, 'The new list.'],
    example: { access: [{ user_id: '01890a5d-ac96-774b-bcce-b302099a8057', role: 'respondent' }] },
  })
  set(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @CheckedBody(SetFormAccess) body: Checked<SetFormAccess>,
  ) {
    return this.sharing.set(ctx, id, body);
  }
}
