import type pg from 'pg';

/** Statements for the roles of a cluster with their attributes. Those of PostgreSQL itself begin with pg_. */
const ROLES = `
SELECT CASE WHEN rolname = current_user THEN '' ELSE format('CREATE ROLE %I;', rolname) END
       || format('ALTER ROLE %I WITH %s %s %s %s %s %s %s CONNECTION LIMIT %s', rolname,
            CASE WHEN rolsuper THEN 'SUPERUSER' ELSE 'NOSUPERUSER' END,
            CASE WHEN rolinherit THEN 'INHERIT' ELSE 'NOINHERIT' END,
            CASE WHEN rolcreaterole THEN 'CREATEROLE' ELSE 'NOCREATEROLE' END,
            CASE WHEN rolcreatedb THEN 'CREATEDB' ELSE 'NOCREATEDB' END,
            CASE WHEN rolcanlogin THEN 'LOGIN' ELSE 'NOLOGIN' END,
            CASE WHEN rolreplication THEN 'REPLICATION' ELSE 'NOREPLICATION' END,
            CASE WHEN rolbypassrls THEN 'BYPASSRLS' ELSE 'NOBYPASSRLS' END, rolconnlimit)
       || coalesce(' PASSWORD ' || quote_literal(rolpassword), '')
       || coalesce(' VALID UNTIL ' || quote_literal(rolvaliduntil), '') AS statement
  FROM pg_authid WHERE rolname !~ '^pg_' ORDER BY oid`;

/** In the order in which they were granted: a grantor got its right before. */
const MEMBERSHIPS = `
SELECT format('GRANT %I TO %I WITH ADMIN %s, INHERIT %s, SET %s GRANTED BY %I', role.rolname, member.rolname,
              admin_option::text, inherit_option::text, set_option::text, grantor.rolname) AS statement
  FROM pg_auth_members AS membership
  JOIN pg_authid AS role ON role.oid = roleid
  JOIN pg_authid AS member ON member.oid = membership.member
  JOIN pg_authid AS grantor ON grantor.oid = membership.grantor
 WHERE member.rolname !~ '^pg_' ORDER BY membership.oid`;

const PARAMETERS = `
SELECT format('GRANT %s ON PARAMETER %I TO %s%s', privilege_type, parname,
              CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END,
              CASE WHEN is_grantable THEN ' WITH GRANT OPTION' ELSE '' END) AS statement
  FROM pg_parameter_acl, aclexplode(paracl) WHERE grantee <> 10`;

/** Settings of roles; pg_dump copies those of databases, and of roles in databases. */
const SETTINGS = `
SELECT split_part(entry, '=', 1) AS name, substr(entry, strpos(entry, '=') + 1) AS value,
       CASE setrole WHEN 0 THEN 'ALTER ROLE ALL' ELSE format('ALTER ROLE %I', rolname) END AS target
  FROM pg_db_role_setting
  LEFT JOIN pg_authid AS role ON role.oid = setrole, unnest(setconfig) AS entry
 WHERE setdatabase = 0`;

/** Copies what belongs to the cluster and to none of its databases. */
export async function copyRoles(source: pg.Client, target: pg.Client): Promise<void> {
  for (const sql of [ROLES, MEMBERSHIPS, PARAMETERS]) {
    const { rows } = await source.query<{ statement: string }>(sql);
    for (const { statement } of rows) await target.query(statement);
  }
  const { rows } = await source.query<{ name: string; value: string; target: string }>(SETTINGS);
  for (const setting of rows) {
    try {
      await target.query('BEGIN');
      // A value is a list or one text, which only PostgreSQL knows of each setting.
      await target.query('SELECT set_config($1, $2, true)', [setting.name, setting.value]);
      await target.query(`${setting.target} SET ${setting.name} FROM CURRENT; COMMIT`);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new Error(`${setting.target} SET ${setting.name}: ${reason}`, { cause });
    }
  }
}
