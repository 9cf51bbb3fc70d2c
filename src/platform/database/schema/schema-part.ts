import { readFileSync } from 'node:fs';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import type { HomeName } from '../statement.js';
import type { SqlFile } from './stored-sql.js';

export type EntityClass = new () => object;
export type MigrationClass = new () => MigrationInterface;

/** How the tables of a module keep their sizes. Each of its tables, and no other one, is in one of the lists (`test/contract/table-growth`). */
export interface TableGrowth {
  /** Tables by the job that deletes rows whose times have passed. */
  trimmedBy?: Readonly<Record<string, readonly string[]>>;
  /** Tables by the job that deletes rows by their parent, feed position or state, not by their age alone. */
  cleanedBy?: Readonly<Record<string, readonly string[]>>;
  /** Tables whose rows are deleted by writes and deliveries, by the explanation. */
  trimmedOnUse?: Readonly<Record<string, readonly string[]>>;
  /** Tables whose rows follow the content that users keep, and are deleted with it. */
  content?: readonly string[];
  /** Tables with at most a fixed number of rows for each account, member, workspace or job. */
  bounded?: readonly string[];
  /** Tables whose rows are never deleted, by the reason. */
  permanent?: Readonly<Record<string, readonly string[]>>;
}

/** The part of the database that one module owns. */
export interface SchemaPart {
  /** The module: only its statements and functions use its tables, views and functions. */
  owner: string;
  /** Tables, views and functions that the SQL of other modules may use. */
  publishes?: string[];
  /** Its tables, by their homes. */
  entities: { [home in HomeName]?: EntityClass[] };
  growth?: TableGrowth;
  /** Hand-written steps that create and change the tables, their indexes, triggers and data. */
  migrations: MigrationClass[];
  /** Its functions and views, in dependency order; they may use those of earlier parts. Default: none. */
  sql?: SqlFile[];
}

/** A whole database. */
export abstract class Schema {
  abstract parts: SchemaPart[];
  abstract entities: EntityClass[];
  abstract migrations: MigrationClass[];
  abstract sql: SqlFile[];
}

const homes = new WeakMap<EntityClass, HomeName>();

/** Where the rows of an entity are; undefined: no schema has it. */
export const homeOf = (entity: EntityClass): HomeName | undefined => homes.get(entity);

/** @param parts each after the parts whose functions and views it uses */
export function wholeSchema(parts: SchemaPart[]): Schema {
  for (const { entities } of parts)
    for (const [home, list] of Object.entries(entities))
      for (const entity of list) homes.set(entity, home as HomeName);
  return {
    parts,
    entities: parts.flatMap(({ entities }) => Object.values(entities).flat()),
    migrations: parts.flatMap(({ migrations }) => migrations),
    sql: parts.flatMap(({ sql = [] }) => sql),
  };
}

/**
 * A migration whose text is a `.sql` file beside its domain. Forward only; never edited once it has landed.
 * @param name what it does, followed by a 13-digit number above those of all earlier migrations, also of other domains
 * @param file location of the SQL text
 */
export function sqlMigration(name: string, file: URL): MigrationClass {
  if (!/\d{13}$/.test(name)) throw new Error(`migration ${name} must end with a 13-digit number`);
  return class implements MigrationInterface {
    readonly name = name;

    async up(runner: QueryRunner): Promise<void> {
      await runner.query(readFileSync(file, 'utf8'));
    }

    async down(): Promise<void> {
      throw new Error(`${name} goes forward only: restore a backup to go back`);
    }
  };
}

/**
 * The migrations in the folder `migrations` beside the file of a schema.
 * @param schema `import.meta.url` of that file
 * @param files names of the files, without `.sql`, by the names of the migrations
 */
export const sqlMigrations = (schema: string, files: Readonly<Record<string, string>>): MigrationClass[] =>
  Object.entries(files).map(([name, file]) => sqlMigration(name, new URL(`migrations/${file}.sql`, schema)));
