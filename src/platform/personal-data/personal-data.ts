import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Statement } from '../database/statement.js';
import type { PersonalArchive } from './personal-archive.js';

/** A member of a workspace, whose personal data are exported. */
export interface DataOwner {
  readonly tenantId: string;
  readonly userId: string;
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
}

/** The personal data of one domain. A domain with more than rows and stored files overrides `export`. */
export abstract class PersonalDataSource implements OnModuleInit {
  readonly name: string;

  constructor(
    private readonly registry: PersonalData,
    private readonly parts: PersonalDataParts,
  ) {
    this.name = parts.name;
  }

  onModuleInit(): void {
    this.registry.register(this);
  }

  /** Writes all data of the owner. May run again from the start: a previous process may have died. */
  async export({ tenantId, userId }: DataOwner, archive: PersonalArchive): Promise<void> {
    const { rows = {}, accountRows = {}, files } = this.parts;
    for (const [path, statement] of Object.entries(rows))
      await archive.rows(path, statement, [tenantId, userId]);
    for (const [path, statement] of Object.entries(accountRows))
      await archive.rows(path, statement, [userId]);
    if (files) await archive.storedFiles(files, [tenantId, userId]);
  }
}
