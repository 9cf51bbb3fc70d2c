import { Controller, Injectable, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Ctx, type RequestContext } from '../../../platform/context/request-context.js';
import { DOCX_TYPE, DocxConverter, DocxErrors } from '../../../platform/docx/docx-converter.js';
import { ApiFile } from '../../../platform/http/api-docs.js';
import { Endpoint } from '../../../platform/http/endpoint.js';
import { Id } from '../../../platform/http/id.pipe.js';
import type { BodyReply } from '../../../platform/http/replies/body-reply.js';
import { fileReply, type FileRequest, FileRequestParam } from '../../../platform/http/replies/file-reply.js';
import { NoteErrors, ShareTokenQuery } from '../notes.dto.js';
import { NotesRepository } from '../notes.repository.js';

/** Fields of a note that a document shows. */
interface Exported {
  title: string;
  content: string;
  owner: { name: string | null; email: string | null };
  created_at: string;
  updated_at: string;
}

/** Notes as files. */
@Injectable()
export class NotesExportService {
  constructor(
    private readonly notes: NotesRepository,
    private readonly docx: DocxConverter,
  ) {}

  /**
   * Any reader of a note can export it, from the trash too.
   *
   * @param link token of a share link
   * @throws ApiError 404 `not_found`, 503 `docx_converter_unavailable`, 502 `docx_conversion_failed`
   */
  async asDocx(
    ctx: RequestContext,
    id: string,
    link: string | undefined,
    request: FileRequest,
  ): Promise<BodyReply> {
    const found = await this.notes.read(ctx, id, link);
    if (!found) throw NoteErrors.notFound.with();
    const note = JSON.parse(found.note) as Exported;
    const bytes = request.wantsBytes ? await this.docx.convert(sourceOf(note), request.signal) : null;
    return fileReply(bytes, {
      contentType: DOCX_TYPE,
      title: note.title,
      extension: '.docx',
      otherwise: 'note',
    });
  }
}

const sourceOf = ({ title, content, owner, created_at, updated_at }: Exported) => ({
  html: content,
  title,
  author: owner.name ?? owner.email ?? '',
  created: created_at,
  modified: updated_at,
});

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
