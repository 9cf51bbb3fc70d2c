import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Db } from '../database/db.js';
import type { Statement } from '../database/statement.js';
import type { PersonalArchive } from './personal-archive.js';

/** A member of a workspace, whose personal data are exported. */
export interface DataOwner {
  readonly tenantId: string;
  readonly userId: string;
}

/** A former member of a workspace, whose personal data are erased. */
export interface ErasedMember extends DataOwner {
  /** The address in the workspace. */
  readonly email: string;
}

/**
 * Statements that delete or anonymise the data of a former member. Each list is one transaction and may run again. Content that
 * other users can read stays; it names the user by id only.
 */
interface ErasureParts {
  /** They run in the workspace, with the parameters workspace and user. */
  rows?: readonly Statement<never>[];
  /** They run in the workspace, with the parameters workspace and e-mail address. */
  rowsByAddress?: readonly Statement<never>[];
  /** They run in the directory, with the parameters workspace and account. */
  directoryRows?: readonly Statement<never>[];
  /** They run in the directory, with the parameter account, after the erasure in the last workspace. */
  accountRows?: readonly Statement<never>[];
}

/** The data of one domain. Paths are names of files in the folder of the domain. */
export interface PersonalDataParts {
  /** Folder in the archive, e.g. `tasks`. */
  name: string;
  /** JSON files of rows in the workspace: statements made by `personalRows` with the parameters workspace and user. */
  rows?: Record<string, Statement<never>>;
  /** JSON files of rows of the account: statements made by `personalRows` with the parameter user. */
  accountRows?: Record<string, Statement<never>>;
  /** Stored files: statements made by `personalRows` with the columns `id`, `blob_id`, `name` and `size`. */
  files?: Statement<never>;
  erasure?: ErasureParts;
  /** The data are erased last, because the erasure of other sources needs them. */
  isErasedLast?: boolean;
}

/** The domains that hold personal data. Each registers a source at start. */
@Injectable()
export class PersonalData {
  private registered: PersonalDataSource[] = [];

  register(source: PersonalDataSource): void {
    if (this.registered.some(({ name }) => name === source.name))
      throw new Error(`personal data named ${source.name} are already registered`);
    this.registered = [...this.registered, source];
  }

  /** All sources, by name. */
  get sources(): readonly PersonalDataSource[] {
    return this.registered.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** All sources, in the order of an erasure. */
  get erasureOrder(): readonly PersonalDataSource[] {
    return this.sources.toSorted((a, b) => Number(a.isErasedLast) - Number(b.isErasedLast));
  }
}

/** The personal data of one domain. A domain with more than rows and stored files overrides `export`. */
export abstract class PersonalDataSource implements OnModuleInit {
  readonly name: string;
  readonly isErasedLast: boolean;

  constructor(
    private readonly registry: PersonalData,
    private readonly parts: PersonalDataParts,
  ) {
    this.name = parts.name;
    this.isErasedLast = parts.isErasedLast ?? false;
  }

  onModuleInit(): void {
    this.registry.register(this);
  }

  /** Writes all data of the owner. May be repeated from the start, after the end of a process. */
  async export({ tenantId, userId }: DataOwner, archive: PersonalArchive): Promise<void> {
    const { rows = {}, accountRows = {}, files } = this.parts;
    for (const [path, statement] of Object.entries(rows))
      await archive.rows(path, statement, [tenantId, userId]);
    for (const [path, statement] of Object.entries(accountRows))
      await archive.rows(path, statement, [userId]);
    if (files) await archive.storedFiles(files, [tenantId, userId]);
  }

  /** Erases the data in the workspace. Idempotent: another process repeats the step if this one ends in between. */
  async erase({ tenantId, userId, email }: ErasedMember, db: Db): Promise<void> {
    const { rows, rowsByAddress, directoryRows } = this.parts.erasure ?? {};
    await runAll(db, rows, [tenantId, userId]);
    await runAll(db, rowsByAddress, [tenantId, email]);
    await runAll(db, directoryRows, [tenantId, userId]);
  }

  /** Erases the data of the account. Idempotent. */
  async eraseAccount(accountId: string, db: Db): Promise<void> {
    await runAll(db, this.parts.erasure?.accountRows, [accountId]);
  }
}

async function runAll(
  db: Db,
  statements: readonly Statement<never>[] | undefined,
  values: readonly unknown[],
): Promise<void> {
  if (!statements?.length) return;
  await db.tx(async (tx) => {
    // There may be rows of many years.
    await tx.allowLongStatements();
    for (const statement of statements) await tx.query(statement, values);
  });
}
