import { Controller, Headers, Query, Req } from '@nestjs/common';
import {
  ApiBody,
  ApiConsumes,
  ApiExtraModels,
  ApiProduces,
  ApiResponse,
  getSchemaPath,
} from '@nestjs/swagger';
import type { Request } from 'express';
import { Form, UploadForm } from '../../../platform/blobs/uploads/upload-form.js';
import { UPLOAD_ERRORS } from '../../../platform/blobs/file-errors.dto.js';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { FILE_NAME } from '../../../platform/http/api-docs.js';
import { mediaTypeOf, StreamedBody } from '../../../platform/http/body/body.guard.js';
import { BodyLimit } from '../../../platform/http/body/body-limits.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Errors } from '../../../platform/http/errors.js';
import { Id } from '../../../platform/http/id.pipe.js';
import { jsonObject, validated } from '../../../platform/http/input.pipe.js';
import type { BodyReply } from '../../../platform/http/replies/body-reply.js';
import { PageQuery } from '../../../platform/paging/page.dto.js';
import { QUOTAS } from '../../../platform/quotas/quotas.js';
import { ContactErrors } from '../contacts.resource.js';
import { ExportService } from './export.service.js';
import { ImportUndo } from './import-undo.js';
import { ImportsService, MAX_IMPORT_BYTES, MAX_IMPORT_VALUES } from './imports.service.js';
import {
  ExportQuery,
  ExportResponse,
  ImportContacts,
  ImportedEnvelope,
  ImportEnvelope,
  ImportList,
  ImportOptions,
  PhoneErrors,
  UndoEnvelope,
} from './phone.dto.js';

const VCARD_TYPES = ['text/vcard', 'text/x-vcard', 'text/directory'] as const;
const FORM = 'multipart/form-data';

@Controller('contact/phone-sync')
export class PhoneController {
  constructor(
    private readonly importer: ImportsService,
    private readonly undoer: ImportUndo,
    private readonly exporter: ExportService,
  ) {}

  @Endpoint('POST import', {
    tag: 'contacts',
    id: 'importPhoneContacts',
    summary: 'Import contacts from a device',
    description:
      'The body is vCard 2.1, 3.0 or 4.0, a form with such a file, or JSON, with at most 10,000 contacts and 20 MiB. The options are query parameters, in JSON members of the body. Contacts are written in batches. If the request fails, repeat it: the repeated import finds the contacts that were already imported. A card that cannot be imported is listed in `errors`; the others are imported. A value beyond a limit is cut or left out and listed there as `value_too_large`; its contact is imported. A card without END:VCARD is imported and listed as `unfinished_card`. A card with the uid of another person of the file, without a common name, address or number, is imported under a uid of its own and listed as `uid_not_unique`. Photos are encoded again; a photo that cannot be decoded is omitted.',
    response: [ImportedEnvelope, 'The import.'],
    errors: [
      ContactErrors.bookNotFound,
      Errors.forbidden,
      Errors.invalidJson,
      Errors.bodyTooLarge,
      Errors.unsupportedMediaType,
      ...UPLOAD_ERRORS,
      ContactErrors.bookFull,
      PhoneErrors.noCard,
      PhoneErrors.tooManyCards,
    ],
  })
  @ApiConsumes('text/vcard', FORM, 'application/json')
  @ApiBody({ required: true, type: ImportContacts })
  @StreamedBody(...VCARD_TYPES, FORM)
  @BodyLimit(MAX_IMPORT_BYTES, MAX_IMPORT_VALUES)
  import(
    @Ctx() ctx: RequestContext,
    @Query() query: ImportOptions,
    @Form() form: UploadForm,
    @Req() request: Request,
  ): Promise<ImportedEnvelope> {
    const type = mediaTypeOf(request);
    if (type === FORM || (VCARD_TYPES as readonly string[]).includes(type))
      return this.importer.file(ctx, query, form, type === FORM);
    const { contacts, ...options } = jsonObject(request.body);
    return this.importer.json(ctx, validated(ImportOptions, { ...request.query, ...options }), contacts);
  }

  @Endpoint('GET imports', {
    tag: 'contacts',
    id: 'listContactImports',
    summary: 'List your imports',
    description: `The imports of the last 90 days, at most ${QUOTAS.user.contact_imports}, newest first.`,
    response: [ImportList, 'A page of imports.'],
  })
  list(@Ctx() ctx: RequestContext, @Query() query: PageQuery): Promise<ImportList> {
    return this.undoer.list(ctx, query);
  }

  @Endpoint('GET imports/:id', {
    tag: 'contacts',
    id: 'readContactImport',
    summary: 'Read an import',
    description: 'Imports are kept for 90 days, with the number of their contacts by result.',
    response: [ImportEnvelope, 'The import.'],
    errors: [PhoneErrors.importNotFound],
  })
  read(@Ctx() ctx: RequestContext, @Id() id: string): Promise<ImportEnvelope> {
    return this.undoer.read(ctx, id);
  }

  @Endpoint('POST imports/:id/undo', {
    tag: 'contacts',
    id: 'undoContactImport',
    summary: 'Undo an import',
    description:
      'Removes the contacts that the import created and restores the cards that it changed. Contacts that changed after the import stay as they are.',
    response: [UndoEnvelope, 'The import, and the number of its contacts by result.'],
    errors: [PhoneErrors.importNotFound, ContactErrors.bookNotFound, Errors.forbidden],
  })
  undo(@Ctx() ctx: RequestContext, @Id() id: string): Promise<UndoEnvelope> {
    return this.undoer.undo(ctx, id);
  }

  @Endpoint('GET export', {
    tag: 'contacts',
    id: 'exportPhoneContacts',
    work: 'long',
    summary: 'Export the contacts of an address book',
    description:
      'vCard, or with `Accept: application/json` the contacts as JSON. With `device_id`, without the contacts whose last change is an import from this device.',
    errors: [ContactErrors.bookNotFound],
  })
  @ApiProduces('text/vcard', 'application/json')
  @ApiExtraModels(ExportResponse)
  @ApiResponse({
    status: 200,
    description: 'The contacts, in the order of their last change. A vCard has a file name.',
    headers: FILE_NAME,
    content: {
      'text/vcard': { schema: { type: 'string', format: 'binary' } },
      'application/json': { schema: { $ref: getSchemaPath(ExportResponse) } },
    },
  })
  export(
    @Ctx() ctx: RequestContext,
    @Query() query: ExportQuery,
    @Headers('accept') accept: string | undefined,
  ): Promise<BodyReply> {
    return this.exporter.export(ctx, query, /^application\/json\b/i.test(accept ?? ''));
  }
}
