import { Injectable } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { ItemSearchRepository, type SearchRow } from '../../../platform/search/item-search.repository.js';
import { NOTE_SEARCH } from './note-search.tables.js';

export interface NoteSearchRow extends SearchRow {
  /** JSON of the note without its content. */
  shown: string;
}

/** Search in the notes of one user. */
@Injectable()
export class NotesSearchRepository extends ItemSearchRepository<NoteSearchRow> {
  constructor(db: Db) {
    super(db, NOTE_SEARCH);
  }
}
