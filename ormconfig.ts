import { Config } from './src/config/config.js';
import { createDataSource } from './src/platform/database/data-source.js';
import { schema } from './src/schema.js';

/** For the `typeorm` command line, e.g. `typeorm migration:show -d ormconfig.ts`. Needs DATABASE_URL. */
const config = Config.load();

export default createDataSource(config, config.DATABASE_URL ?? 'postgresql://localhost/workspace', schema);
