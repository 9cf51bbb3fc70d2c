import type { MigrationInterface } from 'typeorm';
import type { HomeName } from './statement.js';
import type { SqlFile } from './stored-sql.js';

export type EntityClass = new () => object;
export type MigrationClass = new () => MigrationInterface;

/** The part of the database that one module owns. */
export interface SchemaPart {
  /** The module: only its statements and functions touch its tables, views and functions. */
  owner: string;
  /** Tables, views and functions that the SQL of other modules may use. */
  publishes?: string[];
  /** Its tables, by the home that each has. */
  entities: { [home in HomeName]?: EntityClass[] };
  /** Hand-written steps that create and change the tables, their indexes, triggers and data. */
  migrations: MigrationClass[];
  /** Its functions and views, in dependency order; they may use those of earlier parts. Default: none. */
  sql?: SqlFile[];
}

/** A whole database. */
export interface Schema {
  parts: SchemaPart[];
  entities: EntityClass[];
  migrations: MigrationClass[];
  sql: SqlFile[];
}

/** @param parts each after the parts whose functions and views it uses */
export const wholeSchema = (parts: SchemaPart[]): Schema => ({
  parts,
  entities: parts.flatMap(({ entities }) => Object.values(entities).flat()),
  migrations: parts.flatMap(({ migrations }) => migrations),
  sql: parts.flatMap(({ sql = [] }) => sql),
});
