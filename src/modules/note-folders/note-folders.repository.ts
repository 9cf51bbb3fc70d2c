import { Injectable } from '@nestjs/common';
import type { RequestContext, MemberKey } from '../../platform/context/request-context.js';
import { Db } from '../../platform/database/db.js';
import type { Reader, Tx } from '../../platform/database/tx.js';
import { IsNull } from 'typeorm';
import { ContentCounts } from '../../platform/references/related-items.js';
import { Tree } from '../../platform/resources/folders.js';
import { OwnerFeed } from '../../platform/sync/owner-feed.js';
import { NoteFolder } from './note-folders.schema.js';
import { NOTE_FOLDERS, type NoteFolderResponse } from './note-folders.dto.js';

/** Note folders and their change feed. */
@Injectable()
export class NoteFoldersRepository extends OwnerFeed<NoteFolder> {
  constructor(
    db: Db,
    private readonly counts: ContentCounts,
  ) {
    super(db, NoteFolder, NOTE_FOLDERS);
  }

  /** @param parent undefined: folders of any parent; null: of the top level */
  async list(
    ctx: RequestContext,
    parent: string | null | undefined,
    after: readonly [number, string] | undefined,
    limit: number,
  ): Promise<NoteFolder[]> {
    const where = this.whereOwn(ctx, parent === undefined ? {} : { parent_id: parent ?? IsNull() });
    return this.rows(this.db).page(where, ['position', 'id'], after, limit);
  }

  /** All folders of a user. Lock the counter first to change them. */
  async tree(tx: Tx, ctx: MemberKey): Promise<Tree> {
    return new Tree(await this.rows(tx).all(this.whereOwn(ctx), ['id', 'parent_id', 'position']));
  }

  async present(reader: Reader, ctx: RequestContext, folders: NoteFolder[]): Promise<NoteFolderResponse[]> {
    const ids = folders.map((folder) => folder.id);
    const counts = await this.counts.countContent(reader, ctx, 'note_folder', ids);
    return folders.map((folder) => ({
      id: folder.id,
      name: folder.name,
      parent_id: folder.parent_id,
      position: folder.position,
      color: folder.color,
      note_count: counts.get(folder.id) ?? 0,
      revision: folder.revision,
      created_at: folder.created_at.toISOString(),
      updated_at: folder.updated_at.toISOString(),
      updated_device: folder.device_id,
    }));
  }
}
