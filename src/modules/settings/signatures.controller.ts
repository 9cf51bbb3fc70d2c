import { Body, Controller, Delete, Get, Post, Put, Query } from '@nestjs/common';
import { ApiBody, ApiCreatedResponse, ApiOkResponse } from '@nestjs/swagger';
import { Idempotency, type IdempotencyKey } from '../../platform/concurrency/idempotency.js';
import { Ctx, type RequestContext } from '../../platform/context/request-context.js';
import {
  ApiIdempotency,
  BODY_ERRORS,
  IDEMPOTENCY_ERRORS,
  LOCATION_HEADER,
  Operation,
} from '../../platform/http/api-docs.js';
import { Errors } from '../../platform/http/errors.js';
import { Id } from '../../platform/http/id.pipe.js';
import { type Checked, CheckedBody } from '../../platform/http/input.pipe.js';
import type { JsonReply } from '../../platform/http/json-reply.js';
import { PageQuery } from '../../platform/paging/page.dto.js';
import { CreateSignature, UpdateSignature } from './settings.dto.js';
import { SettingsErrors } from './settings.errors.js';
import { DeletedSignatureEnvelope, SignatureEnvelope, SignatureListEnvelope } from './settings.response.js';
import { SignaturesService } from './signatures.service.js';

const NOT_FOUND = [SettingsErrors.signatureNotFound, Errors.invalidId];

@Controller('settings/signatures')
export class SignaturesController {
  constructor(private readonly signatures: SignaturesService) {}

  @Operation({
    tag: 'settings',
    id: 'listSignatures',
    summary: 'List your signatures',
    errors: [Errors.validationFailed, Errors.invalidCursor],
  })
  @ApiOkResponse({ type: SignatureListEnvelope, description: 'A page of signatures, oldest first.' })
  @Get()
  list(@Ctx() ctx: RequestContext, @Query() query: PageQuery): Promise<SignatureListEnvelope> {
    return this.signatures.list(ctx, query);
  }

  @Operation({
    tag: 'settings',
    id: 'createSignature',
    summary: 'Create a signature',
    errors: [
      SettingsErrors.tooManySignatures,
      Errors.validationFailed,
      ...BODY_ERRORS,
      ...IDEMPOTENCY_ERRORS,
    ],
  })
  @ApiIdempotency()
  @ApiCreatedResponse({
    type: SignatureEnvelope,
    description: 'The new signature.',
    headers: LOCATION_HEADER,
  })
  @Post()
  create(
    @Ctx() ctx: RequestContext,
    @Idempotency() key: IdempotencyKey | null,
    @Body() body: CreateSignature,
  ): Promise<JsonReply> {
    return this.signatures.create(ctx, key, body);
  }

  @Operation({ tag: 'settings', id: 'readSignature', summary: 'Read a signature', errors: NOT_FOUND })
  @ApiOkResponse({ type: SignatureEnvelope, description: 'The signature.' })
  @Get(':id')
  read(@Ctx() ctx: RequestContext, @Id() id: string): Promise<SignatureEnvelope> {
    return this.signatures.read(ctx, id);
  }

  @Operation({
    tag: 'settings',
    id: 'updateSignature',
    summary: 'Update a signature',
    description: 'Fields that are left out stay as they are.',
    errors: [...NOT_FOUND, Errors.validationFailed, ...BODY_ERRORS],
  })
  @ApiBody({ type: UpdateSignature })
  @ApiOkResponse({ type: SignatureEnvelope, description: 'The signature as it is now.' })
  @Put(':id')
  update(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @CheckedBody(UpdateSignature) body: Checked<UpdateSignature>,
  ): Promise<SignatureEnvelope> {
    return this.signatures.update(ctx, id, body);
  }

  @Operation({
    tag: 'settings',
    id: 'setDefaultSignature',
    summary: 'Make a signature the default',
    description: 'The one that was the default is so no longer.',
    errors: NOT_FOUND,
  })
  @ApiOkResponse({ type: SignatureEnvelope, description: 'The signature, now the default.' })
  @Put(':id/default')
  makeDefault(@Ctx() ctx: RequestContext, @Id() id: string): Promise<SignatureEnvelope> {
    return this.signatures.makeDefault(ctx, id);
  }

  @Operation({
    tag: 'settings',
    id: 'deleteSignature',
    summary: 'Delete a signature',
    description: 'When it was the default, there is none then.',
    errors: NOT_FOUND,
  })
  @ApiOkResponse({ type: DeletedSignatureEnvelope, description: 'The signature as it last was.' })
  @Delete(':id')
  delete(@Ctx() ctx: RequestContext, @Id() id: string): Promise<DeletedSignatureEnvelope> {
    return this.signatures.delete(ctx, id);
  }
}
