/** An object of a dump. */
export interface DumpEntry {
  /** Name, kind and schema, in the words of pg_dump; empty for the settings at the beginning. */
  name: string;
  sql: string;
}

/** A dump by `pg_dump --create`. */
export interface WholeDump {
  /** Statements for the maintenance database. */
  database: DumpEntry[];
  /** Statements for the database itself. */
  content: DumpEntry[];
}

const HEADER = /^--\n-- Name: (.*)\n--\n/m;
/** Names with unusual characters need another encoding of the client first. */
const CONNECT = /^(?:\\encoding .*\n)?\\connect .*\n/m;
const CREATE_DATABASE = /^CREATE DATABASE .*;\n/m;

/** Divides a dump at the comments before each object. Settings, which have none, are the first entry. */
export function splitDump(text: string): DumpEntry[] {
  // Texts between the headers, each after the name of its header.
  const [settings = '', ...parts] = text.split(new RegExp(HEADER, 'gm'));
  const entries: DumpEntry[] = [{ name: '', sql: settings }];
  for (let at = 0; at < parts.length; at += 2) entries.push({ name: parts[at]!, sql: parts[at + 1]! });
  return entries;
}

/** Divides a dump with the creation of its database, which must be a message of its own. */
export function splitWholeDump(text: string): WholeDump {
  const connect = CONNECT.exec(text);
  if (!connect) throw new Error('The dump does not create its database.');
  const database = splitDump(text.slice(0, connect.index)).flatMap(({ name, sql }) =>
    splitAfter(CREATE_DATABASE, sql).map((part) => ({ name, sql: part })),
  );
  const content = splitDump(text.slice(connect.index + connect[0].length));
  return { database, content: content.map(withoutConnect) };
}

/** pg_dump connects again after it has changed the settings of the database. A connection that exists does not need them. */
const withoutConnect = ({ name, sql }: DumpEntry): DumpEntry => ({
  name,
  sql: isOfDatabase(name) ? sql.replace(CONNECT, '') : sql,
});

/** Whether an object is the database itself, or its settings, comment and privileges. */
export const isOfDatabase = (name: string): boolean =>
  /; Type: DATABASE\b|^DATABASE .*; Type: (?:ACL|COMMENT);/.test(name);

export const createsDatabase = (sql: string): boolean => CREATE_DATABASE.test(sql);

function splitAfter(pattern: RegExp, sql: string): string[] {
  const found = pattern.exec(sql);
  if (!found) return [sql];
  const end = found.index + found[0].length;
  return [sql.slice(0, end), sql.slice(end)];
}
