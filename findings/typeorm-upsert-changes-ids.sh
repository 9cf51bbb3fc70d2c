#!/usr/bin/env bash
# `upsert` of TypeORM 1.1.1 on a unique column other than the key replaces the primary key of the row that it finds: DO UPDATE SET has each column of
# the object, `id` included, so that the note with the path "a" changes from id 1 to id 2. Ids that clients make (UUIDs) are new at each call, so
# references without a foreign key, links and cursors lose their target without an error. The columns with a meaning for TypeORM do not follow either:
# the version stays, though `update` and `save` count it, and a row that was deleted softly stays deleted, so that the upsert succeeds and the row
# cannot be found.
# One would expect that the id stays, the version grows, and a row that was written is there.
# Remedy: `createQueryBuilder().insert().values(…).orUpdate(['title', …], ['path'])` with a list of columns, and own SQL for version and deletion.
set -euo pipefail
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund --legacy-peer-deps typeorm@1.1.1 reflect-metadata@0.2.2 pg@8.23.1 @electric-sql/pglite@0.5.14 \
  @electric-sql/pglite-socket@0.2.17 >/dev/null
cat >run.cjs <<'JS'
require('reflect-metadata');
const { DataSource, EntitySchema } = require('typeorm');
const Note = new EntitySchema({
  name: 'note',
  columns: {
    id: { type: 'int', primary: true },
    path: { type: 'text', unique: true },
    title: { type: 'text' },
    version: { type: 'int', version: true },
    deletedAt: { type: 'timestamptz', deleteDate: true, nullable: true },
  },
});
const runWithDatabase = async (run) => {
  const { PGlite } = await import('@electric-sql/pglite');
  const { PGLiteSocketServer } = await import('@electric-sql/pglite-socket');
  const database = await PGlite.create();
  const server = new PGLiteSocketServer({ db: database, host: '127.0.0.1', port: 0 });
  await server.start();
  const port = Number(server.getServerConn().split(':').pop());
  const options = { type: 'postgres', host: '127.0.0.1', port, username: 'postgres', database: 'postgres', extra: { max: 1 } };
  const source = await new DataSource({ ...options, entities: [Note], synchronize: true }).initialize();
  await run(source.getRepository('note'));
  await source.destroy();
  await server.stop();
  await database.close();
};
runWithDatabase(async (notes) => {
  const print = async (name) => {
    const [{ id, title, version }] = await notes.find({ withDeleted: true });
    console.log(`${name}: id ${id}, title ${title}, version ${version}, found ${await notes.countBy({ path: 'a' })}`);
  };
  await notes.insert({ id: 1, path: 'a', title: 'One' });
  await print('inserted');
  await notes.upsert({ id: 2, path: 'a', title: 'Two' }, ['path']);
  await print('upserted');
  await notes.update({ path: 'a' }, { title: 'Three' });
  await print('updated');
  await notes.softDelete({ path: 'a' });
  await notes.upsert({ id: 3, path: 'a', title: 'Four' }, ['path']);
  await print('upserted after soft deletion');
});
JS
output=$(node run.cjs)
echo "typeorm $(node -p "JSON.parse(fs.readFileSync('node_modules/typeorm/package.json')).version")"
echo "$output"
expected='inserted: id 1, title One, version 1, found 1
upserted: id 2, title Two, version 1, found 1
updated: id 2, title Three, version 2, found 1
upserted after soft deletion: id 3, title Four, version 3, found 0'
[ "$output" = "$expected" ] || { echo 'The behaviour has changed.' >&2; exit 1; }
