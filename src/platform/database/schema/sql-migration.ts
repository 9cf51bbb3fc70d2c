import { readFileSync } from 'node:fs';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import type { MigrationClass } from './schema-part.js';

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
