import { Injectable } from '@nestjs/common';
import type { Db } from '../../platform/database/db.js';
import {
  type ErasedMember,
  PersonalData,
  PersonalDataSource,
} from '../../platform/personal-data/personal-data.js';
import { PersonalExportsService } from './personal-exports.service.js';

/** The stored export of a user. It is not part of a new export. */
@Injectable()
export class ExportPersonalData extends PersonalDataSource {
  constructor(
    data: PersonalData,
    private readonly exports: PersonalExportsService,
  ) {
    super(data, { name: 'exports' });
  }

  override async erase(member: ErasedMember, db: Db): Promise<void> {
    await db.tx((tx) => this.exports.remove(tx, member));
  }
}
