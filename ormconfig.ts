/**
 * For the TypeORM command line, after `npm run build`: `npx typeorm migration:show -d ormconfig.ts`. Needs DATABASE_URL.
 * Reads the build, since decorators and `.sql` files are there. `npm run workspace -- migrate` applies migrations: the
 * command line of TypeORM would leave out functions and views.
 */
const built = async <Module>(file: string): Promise<Module> =>
  (await import(new URL(`dist/${file}`, import.meta.url).href)) as Module;

const { Config } = await built<typeof import('./src/config/config.js')>('config/config.js');
const { createDataSource } = await built<typeof import('./src/platform/database/data-source.js')>(
  'platform/database/data-source.js',
);
const { schema } = await built<typeof import('./src/schema.js')>('schema.js');

const config = Config.load();

export default createDataSource(config, config.DATABASE_URL ?? 'postgresql://localhost/workspace', schema);
