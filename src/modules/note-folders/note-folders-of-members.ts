import { Injectable, type OnModuleInit } from '@nestjs/common';
import { rowsOf } from '../../platform/database/rows.js';
import type { Reader, Tx } from '../../platform/database/tx.js';
import { IsNull } from 'typeorm';
import { type ContentTransfer, MemberContent, type OwnedContent } from '../tenants/index.js';
import { NoteFolder } from './note-folder.entity.js';
import { NoteFoldersRepository } from './note-folders.repository.js';

/** The note folders of a member, for a transfer to another member. */
@Injectable()
export class NoteFoldersOfMembers implements OwnedContent, OnModuleInit {
  readonly kind = 'note_folders';
  readonly order = 30;

  constructor(
    private readonly contents: MemberContent,
    private readonly folders: NoteFoldersRepository,
  ) {}

  onModuleInit(): void {
    this.contents.register(this);
  }

  async count(reader: Reader, { tenantId, userId }: { tenantId: string; userId: string }): Promise<number> {
    return rowsOf(reader, NoteFolder).count({ tenantId, ownerId: userId, goneAt: IsNull() });
  }

  /** The feed counters of both members lock their trees. */
  async lock(): Promise<string[]> {
    return [];
  }

  /** The tree keeps its shape; its top level follows that of the new owner. */
  async transfer(tx: Tx, { ctx, from, to }: ContentTransfer): Promise<number> {
    const { tenantId } = ctx;
    const tree = await this.folders.tree(tx, { tenantId, userId: from });
    const top = tree.children(null);
    const ids = top.flatMap((id) => tree.below(id));
    const first = (await this.folders.tree(tx, { tenantId, userId: to })).lastPosition(null);
    const position = () =>
      'CASE WHEN parent_id IS NULL THEN :first + array_position(:ids::uuid[], id) ELSE position END';
    await this.folders.transfer(tx, { tenantId, from, to }, ids, { position, deviceId: null }, { first });
    return ids.length;
  }
}
