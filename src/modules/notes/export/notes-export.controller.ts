import { Controller, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { DOCX_TYPE } from '../../../platform/docx/docx-converter.js';
import { DocxErrors } from '../../../platform/docx/docx.errors.js';
import { ApiFile } from '../../../platform/http/api-docs.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Id } from '../../../platform/http/id.pipe.js';
import type { BodyReply } from '../../../platform/http/replies/body-reply.js';
import { FileRequestParam, type FileRequest } from '../../../platform/http/replies/file-reply.js';
import { ShareTokenQuery } from '../notes.dto.js';
import { NoteErrors } from '../notes.errors.js';
import { NotesExportService } from './notes-export.service.js';

@ApiTags('notes')
@Controller('notes/:id')
export class NotesExportController {
  constructor(private readonly exports: NotesExportService) {}

  @Endpoint('GET export.docx', {
    id: 'exportNoteDocx',
    summary: 'Download a note as a Word document',
    description:
      'Editable: headings, lists, check boxes and tables are those of Word. Equal notes give equal bytes. Notes in the trash can be exported too.',
    errors: [NoteErrors.notFound, DocxErrors.failed, DocxErrors.unavailable],
  })
  @ApiFile(DOCX_TYPE, 'The document.')
  docx(
    @Ctx() ctx: RequestContext,
    @Id() id: string,
    @Query() query: ShareTokenQuery,
    @FileRequestParam() request: FileRequest,
  ): Promise<BodyReply> {
    return this.exports.asDocx(ctx, id, query.share_token, request);
  }
}
