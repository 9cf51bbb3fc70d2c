import {
  isOfDatabase,
  splitDump,
  splitWholeDump,
} from '../../../src/platform/database/embedded/upgrade/dump-entries.js';

const header = (name: string) => `--\n-- Name: ${name}\n--\n`;
const TABLE = 'notes; Type: TABLE; Schema: public; Owner: postgres';
const FUNCTION = 'title(text); Type: FUNCTION; Schema: public; Owner: postgres';
const OF_DATABASE = 'Cell "A"; Type: DATABASE; Schema: -; Owner: postgres';
const PROPERTIES = 'Cell "A"; Type: DATABASE PROPERTIES; Schema: -; Owner: postgres';
const CONNECT = `\\encoding UTF8\n\\connect -reuse-previous=on "dbname='Cell \\"A\\"'"\n`;

describe('the entries of a dump', () => {
  it('are the objects with their names; the settings come first', () => {
    const text = `SET a = 1;\n\n${header(TABLE)}\nCREATE TABLE notes ();\n\n${header(FUNCTION)}\nCREATE FUNCTION ...;\n`;
    expect(splitDump(text)).toEqual([
      { name: '', sql: 'SET a = 1;\n\n' },
      { name: TABLE, sql: '\nCREATE TABLE notes ();\n\n' },
      { name: FUNCTION, sql: '\nCREATE FUNCTION ...;\n' },
    ]);
    expect(splitDump('SET a = 1;\n')).toEqual([{ name: '', sql: 'SET a = 1;\n' }]);
  });

  it('keep lines of functions that look like commands of psql', () => {
    const body = 'CREATE FUNCTION f() AS $$\n\\connect other\n-- Name: x\n--\n$$;\n';
    expect(splitDump(header(FUNCTION) + body)).toEqual([
      { name: '', sql: '' },
      { name: FUNCTION, sql: body },
    ]);
    const whole = `${header(OF_DATABASE)}CREATE DATABASE a;\n\n\\connect a\n\n${header(FUNCTION)}${body}`;
    expect(splitWholeDump(whole).content.at(-1)).toEqual({ name: FUNCTION, sql: body });
  });

  it('create the database alone, and change its settings without another connection', () => {
    const create = `CREATE DATABASE "Cell ""A""" WITH TEMPLATE = template0;\n`;
    const owner = `\n\nALTER DATABASE "Cell ""A""" OWNER TO postgres;\n\n`;
    const settings = `\nALTER DATABASE "Cell ""A""" SET work_mem TO '7MB';\n\n\n`;
    const text =
      `SET a = 1;\n${header(OF_DATABASE)}\n${create}${owner}${CONNECT}SET b = 2;\n` +
      `${header(PROPERTIES)}${settings}${CONNECT}SET c = 3;\n${header(TABLE)}CREATE TABLE notes ();\n`;
    expect(splitWholeDump(text)).toEqual({
      database: [
        { name: '', sql: 'SET a = 1;\n' },
        { name: OF_DATABASE, sql: `\n${create}` },
        { name: OF_DATABASE, sql: owner },
      ],
      content: [
        { name: '', sql: 'SET b = 2;\n' },
        { name: PROPERTIES, sql: `${settings}SET c = 3;\n` },
        { name: TABLE, sql: 'CREATE TABLE notes ();\n' },
      ],
    });
    expect(() => splitWholeDump(header(TABLE))).toThrow('does not create its database');
  });

  it('of the database have its kind', () => {
    expect([OF_DATABASE, PROPERTIES, TABLE].map(isOfDatabase)).toEqual([true, true, false]);
  });
});
