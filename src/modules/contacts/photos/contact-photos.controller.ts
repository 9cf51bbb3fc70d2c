import { applyDecorators, Controller, Headers, Req } from '@nestjs/common';
import { ApiBody, ApiConsumes } from '@nestjs/swagger';
import type { Request } from 'express';
import { BlobErrors } from '../../../platform/blobs/file-errors.dto.js';
import { Expected, type ExpectedRevision } from '../../../platform/concurrency/expected-revision.js';
import { Revisioned } from '../../../platform/concurrency/revision.interceptor.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { ApiCachedFile } from '../../../platform/http/api-docs.js';
import { BytesBody } from '../../../platform/http/body/body.guard.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Errors } from '../../../platform/http/errors.js';
import { Id } from '../../../platform/http/id.pipe.js';
import type { BodyReply } from '../../../platform/http/replies/body-reply.js';
import { versionsNamed } from '../../../platform/http/entity-tags.js';
import { ImageErrors } from '../../../platform/images/images.js';
import { MAX_PHOTO_BYTES, PHOTO_TYPE } from '../contact-photos.js';
import { ContactErrors, CONTACTS, ExternalId } from '../contacts.resource.js';
import { ContactPhotosService } from './contact-photos.service.js';

const PHOTO = ':addressbook_id/contacts/:external_id/photo';
const TYPES = [PHOTO_TYPE, 'image/png', 'image/webp', 'image/gif'] as const;

const READ = 'A JPEG of at most 720 pixels per side. With its ETag as `If-None-Match`: 304 when unchanged.';
const SET =
  'Our addition. The body is a PNG, JPEG, GIF or WebP image of at most 8 MiB. The server encodes it again: a JPEG of at most 720 pixels per side, without metadata.';
const NOW = 'The contact as it is now.';
const REVISION = { optional: true, idInPath: false } as const;
const SET_ERRORS = [
  CONTACTS.conflict!,
  ImageErrors.invalid,
  ImageErrors.unavailable,
  BlobErrors.unavailable,
  Errors.bodyTooLarge,
  Errors.unsupportedMediaType,
];

/** The body of the request is an image. */
const ImageBody = () =>
  applyDecorators(
    ApiConsumes(...TYPES),
    ApiBody({ required: true, schema: { type: 'string', format: 'binary' } }),
    BytesBody({ types: TYPES, limit: MAX_PHOTO_BYTES }),
  );

@Controller(CONTACTS.options.path)
export class ContactPhotosController {
  constructor(private readonly photos: ContactPhotosService) {}

  @Endpoint(`GET ${PHOTO}`, {
    tag: 'contacts',
    id: 'readContactPhoto',
    summary: 'Read the photo of a contact',
    description: `Our addition. ${READ}`,
    errors: [ContactErrors.noPhoto, ContactErrors.bookNotFound, BlobErrors.unavailable],
  })
  @ApiCachedFile(PHOTO_TYPE, 'The photo.')
  read(
    @Ctx() ctx: RequestContext,
    @Id('addressbook_id') bookId: string,
    @ExternalId() externalId: string,
    @Headers('if-none-match') ifNoneMatch: string | undefined,
  ): Promise<BodyReply> {
    return this.photos.read(ctx, bookId, externalId, versionsNamed(ifNoneMatch));
  }

  @Endpoint(`PUT ${PHOTO}`, {
    tag: 'contacts',
    id: 'setContactPhoto',
    summary: 'Set the photo of a contact',
    description: SET,
    response: [CONTACTS.envelopes.item, NOW],
    etag: CONTACTS.kind,
    errors: [CONTACTS.notFound, ContactErrors.bookNotFound, Errors.forbidden, ...SET_ERRORS],
  })
  @ImageBody()
  @Revisioned(CONTACTS.kind, REVISION)
  set(
    @Ctx() ctx: RequestContext,
    @Id('addressbook_id') bookId: string,
    @ExternalId() externalId: string,
    @Expected() expected: ExpectedRevision,
    @Req() request: Request,
  ) {
    return this.photos.write(ctx, bookId, externalId, expected, request.body as Buffer);
  }

  @Endpoint(`DELETE ${PHOTO}`, {
    tag: 'contacts',
    id: 'removeContactPhoto',
    summary: 'Remove the photo of a contact',
    description: 'Our addition.',
    response: [CONTACTS.envelopes.item, NOW],
    etag: CONTACTS.kind,
    errors: [
      ContactErrors.noPhoto,
      CONTACTS.notFound,
      ContactErrors.bookNotFound,
      Errors.forbidden,
      CONTACTS.conflict!,
    ],
  })
  @Revisioned(CONTACTS.kind, REVISION)
  remove(
    @Ctx() ctx: RequestContext,
    @Id('addressbook_id') bookId: string,
    @ExternalId() externalId: string,
    @Expected() expected: ExpectedRevision,
  ) {
    return this.photos.write(ctx, bookId, externalId, expected);
  }
}

@Controller('contact/self/photo')
export class SelfPhotoController {
  constructor(private readonly photos: ContactPhotosService) {}

  @Endpoint('GET', {
    tag: 'contacts',
    id: 'readSelfPhoto',
    summary: 'Read your own photo',
    description: `Our addition. ${READ}`,
    errors: [ContactErrors.noPhoto, BlobErrors.unavailable],
  })
  @ApiCachedFile(PHOTO_TYPE, 'The photo.')
  read(
    @Ctx() ctx: RequestContext,
    @Headers('if-none-match') ifNoneMatch: string | undefined,
  ): Promise<BodyReply> {
    return this.photos.readOwn(ctx, versionsNamed(ifNoneMatch));
  }

  @Endpoint('PUT', {
    tag: 'contacts',
    id: 'setSelfPhoto',
    summary: 'Set your own photo',
    description: `${SET} All members of the workspace see it.`,
    response: [CONTACTS.envelopes.item, NOW],
    etag: CONTACTS.kind,
    errors: [ContactErrors.fieldLocked, ...SET_ERRORS],
  })
  @ImageBody()
  @Revisioned(CONTACTS.kind, REVISION)
  set(@Ctx() ctx: RequestContext, @Expected() expected: ExpectedRevision, @Req() request: Request) {
    return this.photos.writeOwn(ctx, expected, request.body as Buffer);
  }

  @Endpoint('DELETE', {
    tag: 'contacts',
    id: 'removeSelfPhoto',
    summary: 'Remove your own photo',
    description: 'Our addition.',
    response: [CONTACTS.envelopes.item, NOW],
    etag: CONTACTS.kind,
    errors: [ContactErrors.noPhoto, ContactErrors.fieldLocked, CONTACTS.conflict!],
  })
  @Revisioned(CONTACTS.kind, REVISION)
  remove(@Ctx() ctx: RequestContext, @Expected() expected: ExpectedRevision) {
    return this.photos.writeOwn(ctx, expected);
  }
}
