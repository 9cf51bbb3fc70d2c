import { Injectable } from '@nestjs/common';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { DOCX_TYPE, DocxConverter } from '../../../platform/docx/docx-converter.js';
import type { BodyReply } from '../../../platform/http/replies/body-reply.js';
import { fileReply, type FileRequest } from '../../../platform/http/replies/file-reply.js';
import { NoteErrors } from '../notes.errors.js';
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
