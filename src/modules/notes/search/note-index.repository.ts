import { Injectable } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { ItemIndexRepository } from '../../../platform/search/item-index.repository.js';
import { NOTE_SEARCH } from './note-search.tables.js';

/** The search index of notes. */
@Injectable()
export class NoteIndexRepository extends ItemIndexRepository {
  constructor(db: Db) {
    super(db, NOTE_SEARCH);
  }
}
