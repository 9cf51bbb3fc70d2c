import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Db } from '../database/db.js';
import { either } from '../database/statement.js';
import { Dependencies } from './dependencies.js';

/** The name of the dependency. */
export const DATABASE_STORAGE = 'database_storage';

/** Allocates about 2 MiB on the disk of the database. The table lives only as long as the statement. */
const allocate = either.statement<never>(
  'health.allocate',
  `CREATE TEMPORARY TABLE storage_probe ON COMMIT DROP AS
     SELECT repeat(md5(n::text), 200) AS filler FROM generate_series(1, 1000) AS n`,
);

/** Reports a full disk of the database as a dependency. While it is full, each check tries to allocate space. */
@Injectable()
export class DatabaseStorage implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly dependencies: Dependencies,
  ) {}

  onModuleInit(): void {
    this.dependencies.register(DATABASE_STORAGE, async (state) => {
      if (state === 'full') await this.db.query(allocate, []);
    });
  }
}
