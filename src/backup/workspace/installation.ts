import type { INestApplicationContext } from '@nestjs/common';
import type pg from 'pg';
import { Config } from '../../config/config.js';
import { Cells } from '../../platform/cells/cells.js';
import type { Database } from '../../platform/database/database.js';
import { Db } from '../../platform/database/db.js';
import { openSession } from '../../platform/database/long-session.js';
import { schema } from '../../schema.js';
import { workspaceTableNames } from '../../platform/cells/move/moved-table.js';
import { APPLICATION_NAME } from '../database/snapshots.js';
import { LEFT_OUT } from './transferred-tables.js';

/** The services of an installation for exports and imports of workspaces. */
export class Installation {
  readonly config: Config;
  readonly db: Db;
  readonly cells: Cells;

  /** @param databaseUrl of the directory */
  constructor(
    readonly app: INestApplicationContext,
    readonly databaseUrl: string,
  ) {
    this.config = app.get(Config);
    this.db = app.get(Db);
    this.cells = app.get(Cells);
  }

  /** Opens a connection without time limits. */
  open = (database: Database): Promise<pg.Client> => openSession(database, APPLICATION_NAME);

  /** Whether the mail service is the embedded one. */
  get hasEmbeddedMail(): boolean {
    return this.config.MAIL_SERVICE_URL === undefined || this.config.MAIL_SERVICE_EMBEDDED;
  }

  /** Names of the tables of workspaces that an export has. */
  get workspaceTables(): string[] {
    return workspaceTableNames(this.db.dataSource, schema).filter((name) => !(name in LEFT_OUT));
  }
}
