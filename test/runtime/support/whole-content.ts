import pg from 'pg';

/** Everything of a cluster that survives an upgrade, as values to compare. */
export type WholeContent = Record<string, unknown>;

const CLUSTER: Record<string, string> = {
  databases: `SELECT datname, pg_get_userbyid(datdba) AS owner, pg_encoding_to_char(encoding) AS encoding, datlocprovider, datcollate, datctype,
                     datlocale, (SELECT array_agg(entry::text ORDER BY entry::text) FROM unnest(datacl) AS entry) AS privileges, datconnlimit, shobj_description(oid, 'pg_database') AS comment FROM pg_database WHERE datname <> 'template0' ORDER BY datname`,
  roles: `SELECT rolname, rolsuper, rolinherit, rolcreaterole, rolcreatedb, rolcanlogin, rolreplication, rolbypassrls, rolconnlimit, rolpassword,
                 rolvaliduntil::text FROM pg_authid WHERE rolname !~ '^pg_' ORDER BY rolname`,
  memberships: `SELECT roleid::regrole::text AS role, member::regrole::text AS member, grantor::regrole::text AS grantor, admin_option, inherit_option, set_option
                  FROM pg_auth_members ORDER BY role, member`,
  settings: `SELECT datname, rolname, setconfig FROM pg_db_role_setting LEFT JOIN pg_database AS database ON database.oid = setdatabase
               LEFT JOIN pg_roles AS role ON role.oid = setrole ORDER BY datname, rolname`,
  parameters: 'SELECT parname, paracl::text FROM pg_parameter_acl ORDER BY parname',
};

const USER = `nspname !~ '^pg_' AND nspname <> 'information_schema'`;
const CONTENT: Record<string, string> = {
  relations: `SELECT format('%I.%I', nspname, relname) AS name, relkind, relpersistence, pg_get_userbyid(relowner) AS owner, relacl::text AS acl, reloptions,
                     obj_description(class.oid, 'pg_class') AS comment
                FROM pg_class AS class JOIN pg_namespace AS namespace ON namespace.oid = relnamespace WHERE ${USER} ORDER BY name, relkind`,
  columns: `SELECT attrelid::regclass::text AS relation, attname, format_type(atttypid, atttypmod) AS type, attnotnull, attidentity, attgenerated,
                   pg_get_expr(adbin, adrelid) AS value, attcollation::regcollation::text AS collation
              FROM pg_attribute JOIN pg_class AS class ON class.oid = attrelid JOIN pg_namespace AS namespace ON namespace.oid = relnamespace
              LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
             WHERE ${USER} AND attnum > 0 AND NOT attisdropped ORDER BY relation, attname`,
  // PostgreSQL 18 has a constraint for each column that is not null.
  constraints: `SELECT conrelid::regclass::text AS relation, conname, pg_get_constraintdef(constraints.oid) AS definition, convalidated FROM pg_constraint AS constraints
                  JOIN pg_namespace AS namespace ON namespace.oid = connamespace WHERE ${USER} AND contype <> 'n' ORDER BY relation, conname`,
  indexes: `SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition, indisvalid FROM pg_index
              JOIN pg_class AS class ON class.oid = indexrelid JOIN pg_namespace AS namespace ON namespace.oid = relnamespace WHERE ${USER} ORDER BY name`,
  triggers: `SELECT tgrelid::regclass::text AS relation, tgname, tgenabled, pg_get_triggerdef(oid) AS definition FROM pg_trigger WHERE NOT tgisinternal
              ORDER BY relation, tgname`,
  functions: `SELECT functions.oid::regprocedure::text AS name, CASE WHEN prokind <> 'a' THEN pg_get_functiondef(functions.oid) END AS definition, proacl::text AS acl
                FROM pg_proc AS functions JOIN pg_namespace AS namespace ON namespace.oid = pronamespace WHERE ${USER} ORDER BY name`,
  statistics: 'SELECT pg_get_statisticsobjdef(oid) AS definition FROM pg_statistic_ext ORDER BY definition',
  extensions: `SELECT extname, extnamespace::regnamespace::text AS schema FROM pg_extension ORDER BY extname`,
  privileges: `SELECT defaclnamespace::regnamespace::text AS schema, defaclobjtype, defaclacl::text FROM pg_default_acl ORDER BY 1, 2`,
  sequences: `SELECT schemaname, sequencename, last_value, increment_by, start_value, cycle FROM pg_sequences ORDER BY schemaname, sequencename`,
};

/** Reads definitions, and number and checksum of the rows of each table. @param url gives the connection string of a database */
export async function readWholeContent(url: (database: string) => string): Promise<WholeContent> {
  const content: WholeContent = {};
  const databases = await inDatabase(url('postgres'), async (client) => {
    for (const [name, sql] of Object.entries(CLUSTER)) content[name] = (await client.query(sql)).rows;
    return (content['databases'] as { datname: string }[]).map(({ datname }) => datname);
  });
  for (const name of databases) content[`database ${name}`] = await inDatabase(url(name), readDatabase);
  return content;
}

async function readDatabase(client: pg.Client): Promise<WholeContent> {
  const content: WholeContent = {};
  for (const [name, sql] of Object.entries(CONTENT)) content[name] = (await client.query(sql)).rows;
  const tables = (content['relations'] as { name: string; relkind: string }[]).filter(
    ({ relkind }) => relkind === 'r',
  );
  for (const { name } of tables) {
    const { rows } = await client.query(
      `SELECT count(*) AS rows, md5(string_agg(row::text, chr(10) ORDER BY row::text COLLATE "C")) AS checksum FROM ${name} AS row`,
    );
    content[`rows of ${name}`] = rows[0];
  }
  return content;
}

async function inDatabase<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(
      `SET TimeZone = 'UTC'; SET DateStyle = ISO; SET IntervalStyle = postgres; SET extra_float_digits = 3; SET search_path = ''`,
    );
    return await work(client);
  } finally {
    await client.end();
  }
}
