import { cloneDatabase, inDatabase } from './database.ts';

/** Cells in one database: each is the schema of a role, which has no rights on the other schemas. */
const ROLES = ['cell_1', 'cell_2'];
/** The server of a run listens on loopback and ends with the run. */
const PASSWORD = 'cell';

export interface CellSchema {
  /** Signs in as the role of the schema. */
  url: string;
  schema: string;
}

const schemasOf = (databaseUrl: string): CellSchema[] =>
  ROLES.map((role) => {
    const url = new URL(databaseUrl);
    url.username = role;
    url.password = PASSWORD;
    return { url: url.toString(), schema: role };
  });

/** Creates the roles, and their empty schemas in an empty database. */
export async function createCellSchemas(databaseUrl: string): Promise<CellSchema[]> {
  const sql = (text: string) => inDatabase(databaseUrl, text);
  await sql('CREATE SCHEMA ext; CREATE EXTENSION btree_gin SCHEMA ext; CREATE EXTENSION pg_trgm SCHEMA ext');
  for (const role of ROLES) {
    await sql(`CREATE ROLE ${role} LOGIN PASSWORD '${PASSWORD}'; GRANT USAGE ON SCHEMA ext TO ${role}`);
    await sql(`CREATE SCHEMA ${role} AUTHORIZATION ${role}`);
  }
  return schemasOf(databaseUrl);
}

/** Copies the migrated schemas (`TEST_CELL_SCHEMAS`) into a database of its own, for a test file. */
export async function cloneCellSchemas(): Promise<{ cells: CellSchema[]; drop: () => Promise<unknown> }> {
  const { url, drop } = await cloneDatabase({ template: process.env['TEST_CELL_SCHEMAS'] as string });
  return { cells: schemasOf(url), drop };
}
