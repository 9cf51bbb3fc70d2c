import type { MigrationInterface } from 'typeorm';
import type { HomeName } from '../statement.js';
import type { SqlFile } from './stored-sql.js';

export type EntityClass = new () => object;
export type MigrationClass = new () => MigrationInterface;

/** The part of the database that one module owns. */
export interface SchemaPart {
  /** The module: only its statements and functions use its tables, views and functions. */
  owner: string;
  /** Tables, views and functions that the SQL of other modules may use. */
  publishes?: string[];
  /** Its tables, by their homes. */
  entities: { [home in HomeName]?: EntityClass[] };
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
