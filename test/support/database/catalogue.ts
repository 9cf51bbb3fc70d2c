import pg from 'pg';

const SCHEMAS = `('public', 'mail_service')`;

/** Everything that defines a database except its rows: one line for each object of the schemas of this project. */
const CATALOGUE = `
SELECT 'function ' || n.nspname || ' ' || pg_get_functiondef(p.oid) AS line
  FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
 WHERE n.nspname IN ${SCHEMAS} AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
UNION ALL
SELECT 'view ' || n.nspname || '.' || c.relname || ' ' || pg_get_viewdef(c.oid)
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname IN ${SCHEMAS} AND c.relkind = 'v'
UNION ALL
SELECT 'column ' || n.nspname || '.' || c.relname || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
       || CASE WHEN a.attnotnull THEN ' not null ' ELSE ' ' END || coalesce(pg_get_expr(e.adbin, e.adrelid), '')
       || ' ' || a.attstorage::text || a.attcompression::text || a.attgenerated::text
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
  LEFT JOIN pg_attrdef e ON e.adrelid = a.attrelid AND e.adnum = a.attnum
 WHERE n.nspname IN ${SCHEMAS} AND a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'v', 'c')
UNION ALL
SELECT 'relation ' || c.relkind::text || ' ' || n.nspname || '.' || c.relname || ' ' || c.relpersistence::text
       || coalesce(array_to_string(c.reloptions, ' '), '')
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname IN ${SCHEMAS}
UNION ALL
SELECT 'index ' || indexdef FROM pg_indexes WHERE schemaname IN ${SCHEMAS}
UNION ALL
SELECT 'constraint ' || conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(k.oid)
  FROM pg_constraint k JOIN pg_namespace n ON n.oid = k.connamespace WHERE n.nspname IN ${SCHEMAS} AND conrelid <> 0
UNION ALL
SELECT 'trigger ' || pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
UNION ALL
SELECT 'type ' || n.nspname || '.' || t.typname || ' ' || t.typtype::text || coalesce((
         SELECT string_agg(enumlabel, ',' ORDER BY enumsortorder) FROM pg_enum WHERE enumtypid = t.oid), '')
  FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
 WHERE n.nspname IN ${SCHEMAS} AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = t.oid AND d.deptype = 'e')
UNION ALL
SELECT 'statistics ' || pg_get_statisticsobjdef(oid) FROM pg_statistic_ext
UNION ALL
SELECT 'extension ' || extname FROM pg_extension
ORDER BY 1`;

/** @returns the definition of the database, in an order that does not depend on the order of its creation */
export async function catalogueOf(databaseUrl: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return (await client.query<{ line: string }>(CATALOGUE)).rows.map(({ line }) => line);
  } finally {
    await client.end();
  }
}
