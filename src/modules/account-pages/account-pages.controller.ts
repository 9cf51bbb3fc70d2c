import { applyDecorators, Controller, Param, Req } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiParam, ApiResponse, ApiTags, getSchemaPath } from '@nestjs/swagger';
import type { Request } from 'express';
import { Public } from '../../platform/context/access.decorators.js';
import { ApiPage, errorExamples, RETRY_AFTER } from '../../platform/http/api-docs.js';
import { BytesBody } from '../../platform/http/body/body.guard.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { ErrorResponse } from '../../platform/http/error.response.js';
import { Errors } from '../../platform/http/errors.js';
import type { BodyReply } from '../../platform/http/replies/body-reply.js';
import { PUBLIC_FORM_LIMIT, RateLimited } from '../../platform/rate-limits/rate-limit.guard.js';
import { InvitationPages } from './invitation-pages.js';
import { pageRequest } from './page-kit.js';
import { PasskeyPages } from './passkey-pages.js';
import { RecoveryPages } from './recovery-pages.js';

const FORM = 'application/x-www-form-urlencoded';
const FORM_ERRORS = [Errors.badRequest, Errors.unsupportedMediaType, Errors.bodyTooLarge, Errors.overloaded];
const HTML = { 'text/html': { schema: { type: 'string' } } };

const LIMITED = {
  'application/json': {
    schema: { $ref: getSchemaPath(ErrorResponse) },
    examples: errorExamples([Errors.tooManyRequests]),
  },
};

const ApiToken = () =>
  ApiParam({
    name: 'token',
    description: 'The token of the link.',
    schema: { type: 'string', example: 'AZqLPTvVcY6rvKsUuSEd0Q' },
  });

/** Documents a page and its other statuses. */
const PageDocs = (...statuses: (404 | 422 | 429)[]) =>
  applyDecorators(
    ApiPage(),
    ...statuses.map((status) =>
      ApiResponse({
        status,
        description: STATUSES[status],
        content: status === 429 ? { ...HTML, ...LIMITED } : HTML,
        ...(status === 429 && { headers: RETRY_AFTER }),
      }),
    ),
  );

const STATUSES = {
  404: 'The page for an invalid link, or for a function that is not available.',
  422: 'The page with the error of a field.',
  429: 'Too many attempts: a page, or an error for a network with very many.',
};

/** Documents and parses a form with these fields. */
const FormFields = (...names: string[]) =>
  applyDecorators(
    ApiConsumes(FORM),
    ApiBody({
      required: false,
      schema: {
        type: 'object',
        properties: Object.fromEntries(names.map((name) => [name, { type: 'string', example: '' }])),
      },
    }),
    BytesBody({ types: [FORM], limit: 16_384 }),
    RateLimited(PUBLIC_FORM_LIMIT),
  );

const formOf = (request: Request) => pageRequest(request, request.body as Buffer);

/** Pages for browsers, in four languages. The token in the path is the credential; reading a page changes nothing. */
@ApiTags('account')
@Controller('account')
export class AccountPagesController {
  constructor(
    private readonly invitations: InvitationPages,
    private readonly recovery: RecoveryPages,
    private readonly passkeys: PasskeyPages,
  ) {}

  @Endpoint('GET invitations/:token', {
    id: 'showInvitation',
    summary: 'Page of an invitation',
    description:
      'An HTML page with the name of the workspace and the form that accepts the invitation. A link that is used, expired or withdrawn shows an error page with status 404.',
    errors: [Errors.badRequest],
  })
  @ApiToken()
  @PageDocs(404)
  @Public()
  showInvitation(@Req() request: Request, @Param('token') token: string): Promise<BodyReply> {
    return this.invitations.show(pageRequest(request), token);
  }

  @Endpoint('POST invitations/:token', {
    id: 'acceptInvitation',
    summary: 'Accept an invitation',
    description:
      'A new account gets a name and a password; an existing account proves its password and second factor.',
    status: 200,
    errors: FORM_ERRORS,
  })
  @ApiToken()
  @PageDocs(404, 422, 429)
  @FormFields('name', 'new_password', 'password', 'code')
  @Public()
  acceptInvitation(@Req() request: Request, @Param('token') token: string): Promise<BodyReply> {
    return this.invitations.accept(formOf(request), token);
  }

  @Endpoint('GET password', {
    id: 'showForgottenPassword',
    summary: 'Page for a forgotten password',
    description:
      'An HTML page with a form for an e-mail address. Status 404 where the service sends no mail.',
  })
  @PageDocs(404)
  @Public()
  showForgotten(@Req() request: Request): BodyReply {
    return this.recovery.showRequest(pageRequest(request), 'forgot');
  }

  @Endpoint('POST password', {
    id: 'requestPassword',
    summary: 'Request a link for a new password',
    description: 'The response is the same whether the address has an account or not.',
    status: 200,
    errors: FORM_ERRORS,
  })
  @PageDocs(404, 422, 429)
  @FormFields('email')
  @Public()
  requestPassword(@Req() request: Request): Promise<BodyReply> {
    return this.recovery.request(formOf(request), 'forgot');
  }

  @Endpoint('GET password/:token', {
    id: 'showNewPassword',
    summary: 'Page for a new password',
    description:
      'An HTML page with a form for the new password. A link that is used or expired shows an error page with status 404.',
    errors: [Errors.badRequest],
  })
  @ApiToken()
  @PageDocs(404)
  @Public()
  showPassword(@Req() request: Request, @Param('token') token: string): Promise<BodyReply> {
    return this.recovery.showPassword(pageRequest(request), token);
  }

  @Endpoint('POST password/:token', {
    id: 'setForgottenPassword',
    summary: 'Set a new password by a link',
    description:
      'The link is valid once, for one hour. Ends all sessions and application passwords. The second factor stays.',
    status: 200,
    errors: FORM_ERRORS,
  })
  @ApiToken()
  @PageDocs(404, 422, 429)
  @FormFields('new_password')
  @Public()
  setPassword(@Req() request: Request, @Param('token') token: string): Promise<BodyReply> {
    return this.recovery.setPassword(formOf(request), token);
  }

  @Endpoint('GET email/:token', {
    id: 'showEmailConfirmation',
    summary: 'Page that confirms a new e-mail address',
    description:
      'An HTML page with the new address and a button. Opening the page changes nothing: the button confirms the address.',
    errors: [Errors.badRequest],
  })
  @ApiToken()
  @PageDocs(404)
  @Public()
  showEmail(@Req() request: Request, @Param('token') token: string): Promise<BodyReply> {
    return this.recovery.showEmail(pageRequest(request), token);
  }

  @Endpoint('POST email/:token', {
    id: 'confirmEmail',
    summary: 'Confirm a new e-mail address',
    description: 'The old address gets a notice.',
    status: 200,
    errors: FORM_ERRORS,
  })
  @ApiToken()
  @PageDocs(404, 429)
  @FormFields()
  @Public()
  confirmEmail(@Req() request: Request, @Param('token') token: string): Promise<BodyReply> {
    return this.recovery.confirmEmail(formOf(request), token);
  }

  @Endpoint('GET passkeys/:token', {
    id: 'showPasskeys',
    summary: 'Page of your passkeys',
    description: 'The link is from `POST /settings/security/passkeys/page`.',
    errors: [Errors.badRequest],
  })
  @ApiToken()
  @PageDocs(404)
  @Public()
  showPasskeys(@Req() request: Request, @Param('token') token: string): Promise<BodyReply> {
    return this.passkeys.show(pageRequest(request), token);
  }

  @Endpoint('POST passkeys/:token', {
    id: 'changePasskeys',
    summary: 'Add, rename or remove a passkey on its page',
    description:
      'Submits one form of the page: `step` selects the change. The response is the page with the result.',
    status: 200,
    errors: FORM_ERRORS,
  })
  @ApiToken()
  @PageDocs(404, 422, 429)
  @FormFields('step', 'passkey_id', 'name', 'credential')
  @Public()
  changePasskeys(@Req() request: Request, @Param('token') token: string): Promise<BodyReply> {
    return this.passkeys.change(formOf(request), token);
  }

  @Endpoint('GET join', {
    id: 'showJoin',
    summary: 'Page to join a workspace by its verified domain',
    description:
      'An HTML page with a form for an e-mail address. Status 404 where the service sends no mail.',
  })
  @PageDocs(404)
  @Public()
  showJoin(@Req() request: Request): BodyReply {
    return this.recovery.showRequest(pageRequest(request), 'self_join');
  }

  @Endpoint('POST join', {
    id: 'requestJoin',
    summary: 'Request a link to join a workspace by its verified domain',
    description:
      'Sends a link when the policy of the workspace allows it. The response is the same for any address.',
    status: 200,
    errors: FORM_ERRORS,
  })
  @PageDocs(404, 422, 429)
  @FormFields('email')
  @Public()
  requestJoin(@Req() request: Request): Promise<BodyReply> {
    return this.recovery.request(formOf(request), 'self_join');
  }
}
