// All that is tried in the browser, with one count at the end.
import { mail } from './mail.mjs';
import { runSuites } from './support/steps.mjs';
import { page } from './swagger-ui.mjs';

process.exitCode = await runSuites([page, mail]);
