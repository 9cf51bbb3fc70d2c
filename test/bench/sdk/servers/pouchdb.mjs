// The reference server of PouchDB, with LevelDB. Requests need no sign-in. Environment: PORT, DIRECTORY (of the data), MODULES.
import { createRequire } from 'node:module';
import path from 'node:path';

const { PORT, DIRECTORY, MODULES } = process.env;
// It writes its configuration and its log into the working directory.
process.chdir(DIRECTORY);
const require = createRequire(path.join(MODULES, 'package.json'));
const PouchDB = require('pouchdb').defaults({ prefix: `${DIRECTORY}${path.sep}` });
const application = require('express')();
application.use(require('express-pouchdb')(PouchDB, { mode: 'minimumForPouchDB', inMemoryConfig: true }));
application.listen(Number(PORT), '127.0.0.1');
