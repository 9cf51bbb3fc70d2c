import { Controller } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Idempotency, type IdempotencyKey } from '../../../platform/concurrency/idempotency.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Errors } from '../../../platform/http/errors.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../../platform/http/input.pipe.js';
import { ShareLinkController } from '../../../platform/resources/share-link.controller.js';
import { TenantErrors } from '../../tenants/index.js';
import { NoteEnvelope } from '../note.response.js';
import { NoteErrors } from '../notes.errors.js';
import { InviteToNote, ShareNote } from './notes-sharing.dto.js';
import { NotesSharingService } from './notes-sharing.service.js';

const SHARING_ERRORS = [NoteErrors.notFound, Errors.forbidden, NoteErrors.deleted];

@ApiTags('notes')
@Controller('notes/:id')
export class NotesSharingController extends ShareLinkController(NotesSharingService, {
  name: 'note',
  terms: ShareNote,
  envelope: NoteEnvelope,
  etag: 'note',
  descriptions: {
    share:
      'The link (`share_token`) opens the note to signed-in members of the workspace. An existing link gets the new role and expiry; its token stays. Only for the owner.',
    revoke: 'A note without a link is returned unchanged.',
  },
  errors: {
    share: [...SHARING_ERRORS, TenantErrors.restrictedByPolicy],
    regenerate: [...SHARING_ERRORS, NoteErrors.notShared, TenantErrors.restrictedByPolicy],
    revoke: SHARING_ERRORS,
  },
}) {
  constructor(private readonly sharing: NotesSharingService) {
    super(sharing);
  }

  @Endpoint('PUT invited', {
    id: 'inviteToNote',
    summary: 'Set the invited members',
    description:
      'Replaces the whole list. Added members can read the note; missing members lose access. Only for the owner; an invited member leaves by sending the list without their own entry. Only active members can be added.',
    response: [NoteEnvelope, 'The note with its list; for a member that leaves, the note before that.'],
    etag: 'note',
    errors: [...SHARING_ERRORS, NoteErrors.unknownUser],
  })
  invite(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @Idempotency() key: IdempotencyKey | null,
    @CheckedBody(InviteToNote) body: Checked<InviteToNote>,
  ) {
    return this.sharing.invite(ctx, id, key, body);
  }
}
